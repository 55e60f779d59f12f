package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"nightdesk/pipeline/text"
)

// maxToken is the maximum size of a token in bytes. Longer words are data.
const maxToken = 80

// token is a word of a text as indexed, or a pair of characters of a script without spaces.
type token struct {
	start, end int // bytes
	word       string
	wide       bool
	last       bool // last character of a longer wide run; a separate token, so that single characters can be found
}

// each calls yield for every token of s. A run of wide characters gives its overlapping pairs and its last character.
// may: nil, or reports whether a word that begins with this byte is relevant.
func each(s string, may func(first byte) bool, yield func(token)) {
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case text.Wide(r):
			i = eachPair(s, i, yield)
		case inWord(r):
			start := i
			for i < len(s) {
				if r, size = utf8.DecodeRuneInString(s[i:]); !inWord(r) || text.Wide(r) {
					break
				}
				i += size
			}
			if i-start <= maxToken && (may == nil || may(s[start])) {
				yield(token{start: start, end: i, word: text.Stem(fold(s[start:i]))})
			}
		default:
			i += size
		}
	}
}

func eachPair(s string, i int, yield func(token)) int {
	start, before := i, -1
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !text.Wide(r) {
			break
		}
		if before >= 0 {
			yield(token{start: before, end: i + size, word: fold(s[before : i+size]), wide: true})
		}
		before = i
		i += size
	}
	yield(token{start: before, end: i, word: fold(s[before:i]), wide: true, last: before > start})
	return i
}

func inWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.Mn, r)
}

// fold lower-cases a word and removes its accents. It also removes ASCII punctuation introduced by the compatibility
// form, where the index would split words.
func fold(s string) string {
	plain := true
	for i := range len(s) {
		plain = plain && s[i] < utf8.RuneSelf
	}
	if plain {
		return strings.ToLower(s)
	}
	s = strings.Map(func(r rune) rune {
		accent, sign := unicode.Is(unicode.Mn, r) && !text.Wide(r), r < utf8.RuneSelf && !inWord(r)
		if accent || sign || unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(s))
	return norm.NFKC.String(s) // recomposes Hangul
}

// indexed returns the indexed form of a text: its tokens, separated by spaces.
func indexed(s string) string {
	var b strings.Builder
	each(s, nil, func(t token) {
		b.WriteString(t.word)
		b.WriteByte(' ')
	})
	return b.String()
}
