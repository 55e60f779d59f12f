package support

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// folded is a text in the form in which quotations are looked for: lower case, white space, quotation marks and dashes
// alike, without emphasis and hyphenation at line ends.
type folded struct {
	text string
	at   []int32 // where each byte comes from
}

func foldText(s string) folded {
	f := folded{at: make([]int32, 0, len(s))}
	var b strings.Builder
	b.Grow(len(s))
	space := true // no white space at the beginning
	put := func(r rune, from int) {
		before := b.Len()
		b.WriteRune(r)
		for range b.Len() - before {
			f.at = append(f.at, int32(from))
		}
		space = r == ' '
	}
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch r = plainRune(r); {
		case r == '-' && i > 0 && hyphenated(s, i+size):
			i += len(s[i:]) - len(strings.TrimLeft(s[i+size:], " \t\r\n"))
			continue
		case unicode.IsSpace(r):
			if !space {
				put(' ', i)
			}
		case r == '*' || r == '`' || r == '\\' || r == 0xAD || r == 0x200B || r == 0xFEFF:
		case r == '…':
			put('.', i)
			put('.', i)
			put('.', i)
		default:
			put(unicode.ToLower(r), i)
		}
		i += size
	}
	f.text = b.String()
	return f
}

// hyphenated reports that a word which a line's end has parted goes on after byte i.
func hyphenated(s string, i int) bool {
	rest := strings.TrimLeft(s[i:min(len(s), i+40)], " \t\r")
	if !strings.HasPrefix(rest, "\n") {
		return false
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " \t\r\n"))
	return unicode.IsLower(r)
}

// plainRune returns the ASCII character that stands for r, if there is one.
func plainRune(r rune) rune {
	switch r {
	case '“', '”', '„', '‟', '«', '»', '「', '」', '『', '』', '＂':
		return '"'
	case '‘', '’', '‚', '‛', '′', '＇':
		return '\''
	case '‐', '‑', '‒', '–', '—', '−', '－':
		return '-'
	}
	if r >= 0xFF01 && r <= 0xFF5E {
		return r - 0xFEE0
	}
	return r
}

// find returns where needle, which is folded, stands as whole words; -1 when it does not. from: where to begin.
func (f folded) find(needle string, from int) int {
	if needle == "" {
		return -1
	}
	for tries := 0; from <= len(f.text) && tries < 200; tries++ {
		i := strings.Index(f.text[from:], needle)
		if i < 0 {
			return -1
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(f.text[:i])
		after, _ := utf8.DecodeRuneInString(f.text[i+len(needle):])
		first, _ := utf8.DecodeRuneInString(needle)
		last, _ := utf8.DecodeLastRuneInString(needle)
		if !(wordRune(before) && wordRune(first)) && !(wordRune(after) && wordRune(last)) && !f.inNumber(i, i+len(needle)) {
			return i
		}
		from = i + 1
	}
	return -1
}

// inNumber reports figures that are part of a longer number: 17 of 17.9.
func (f folded) inNumber(start, end int) bool {
	digit := func(i int) bool { return i >= 0 && i < len(f.text) && f.text[i] >= '0' && f.text[i] <= '9' }
	mark := func(i int) bool { return i >= 0 && i < len(f.text) && (f.text[i] == '.' || f.text[i] == ',') }
	return digit(start) && mark(start-1) && digit(start-2) || digit(end-1) && mark(end) && digit(end+1)
}

// original returns the bytes of the text that a folded span comes from.
func (f folded) original(start, end, length int) (int, int) {
	if start >= len(f.at) {
		return length, length
	}
	from := int(f.at[start])
	if end >= len(f.at) {
		return from, length
	}
	return from, int(f.at[end])
}

// wordRune reports a letter or digit of a script that writes with spaces.
func wordRune(r rune) bool {
	return r == '_' || unicode.IsDigit(r) || unicode.IsLetter(r) && !wide(r)
}

func wide(r rune) bool {
	return r >= 0x2E80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// plain returns the text that Markdown shows: without emphasis, escapes, code marks and the targets of links.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !strings.ContainsAny(s, "*`\\[]_#>|~") {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	code := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '`':
			code = !code
		case code:
			b.WriteByte(c)
		case c == '\\' && i+1 < len(s) && s[i+1] < utf8.RuneSelf && !wordRune(rune(s[i+1])):
			i++
			b.WriteByte(s[i])
		case c == '*' || c == '[' && isLink(s[i:]):
		case c == '_' && !(i > 0 && i+1 < len(s) && wordRune(rune(s[i-1])) && wordRune(rune(s[i+1]))):
		case c == ']' && strings.HasPrefix(s[i:], "]("):
			if n := strings.IndexByte(s[i:min(len(s), i+2000)], ')'); n > 0 {
				i += n
			}
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(strings.TrimLeft(b.String(), "#>- \t"))
}

// isLink reports that [ begins the text of a link.
func isLink(s string) bool {
	end := strings.IndexByte(s[:min(len(s), 300)], ']')
	return end > 0 && strings.HasPrefix(s[end:], "](")
}
