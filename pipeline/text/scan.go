package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word of a text.
type token struct {
	text string // as written; for wide text, a run of characters
	at   int    // byte offset
	wide bool
}

// scan finds the words of text. A word is a run of letters and digits, and includes . _ / : ' - between them.
func scan(text string, found func(token)) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case Wide(r):
			start := i
			for i < len(text) {
				if r, size = utf8.DecodeRuneInString(text[i:]); !Wide(r) {
					break
				}
				i += size
			}
			found(token{text: text[start:i], at: start, wide: true})
		case wordRune(r):
			start := i
			i = wordEnd(text, i)
			found(token{text: text[start:i], at: start})
		default:
			i += size
		}
	}
}

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z'
		return letter || r >= '0' && r <= '9' || r == '_'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)) && !Wide(r)
}

func wordEnd(text string, i int) int {
	start := i
	for i < len(text) {
		r, size := utf8.DecodeRuneInString(text[i:])
		if wordRune(r) {
			i += size
			continue
		}
		if !strings.ContainsRune(".'’-/:,", r) {
			break
		}
		if strings.HasPrefix(text[i:], "::") {
			size = 2
		} else if r == ':' {
			break
		}
		next, _ := utf8.DecodeRuneInString(text[i+size:])
		decimal := digit(text[i-1]) && unicode.IsDigit(next)
		if i+size >= len(text) || !wordRune(next) || r == ',' && !decimal {
			break
		}
		i += size
	}
	if i-start == 1 { // C++, C#
		if strings.HasPrefix(text[i:], "++") {
			i += 2
		} else if strings.HasPrefix(text[i:], "#") {
			i++
		}
	}
	return i
}

func digit(b byte) bool { return b >= '0' && b <= '9' }
