package support

import (
	"strings"
	"unicode/utf8"
)

// maxSentence is the maximum number of bytes of a sentence that are checked.
const maxSentence = 4000

// plain returns the text shown by Markdown, without emphasis, escapes, code marks and link targets, cut to maxSentence
// bytes.
func plain(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxSentence {
		s = strings.ToValidUTF8(s[:maxSentence], "")
	}
	var b strings.Builder
	code := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '`':
			code = !code
		case code:
			b.WriteByte(c)
		case c == '\\' && i+1 < len(s) && s[i+1] < utf8.RuneSelf && !inName(s[i+1]):
			i++
			b.WriteByte(s[i])
		case c == '*' || c == '[' && isLink(s[i:]):
		case c == '_' && !betweenNames(s, i):
		case c == ']' && strings.HasPrefix(s[i:], "]("):
			if n := strings.IndexByte(s[i:], ')'); n > 0 {
				i += n
			}
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(strings.TrimLeft(b.String(), "#>- \t"))
}

// betweenNames reports whether the byte at i has characters of names on both sides.
func betweenNames(s string, i int) bool {
	return i > 0 && i+1 < len(s) && inName(s[i-1]) && inName(s[i+1])
}

func inName(b byte) bool {
	digit, letter := b >= '0' && b <= '9', b|0x20 >= 'a' && b|0x20 <= 'z'
	return b == '_' || digit || letter || b >= utf8.RuneSelf
}

// isLink reports whether the [ at the start of s begins a link.
func isLink(s string) bool {
	end := strings.IndexByte(s[:min(len(s), 300)], ']')
	return end > 0 && strings.HasPrefix(s[end:], "](")
}
