package support

import (
	"strings"
	"unicode/utf8"
)

// maxSentence bounds what is checked of a sentence, in bytes: what is longer is no sentence.
const maxSentence = 4000

// plain returns the text that Markdown shows, without emphasis, escapes, code marks and the targets of links, at most
// maxSentence bytes of it.
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
		case c == '_' && !(i > 0 && i+1 < len(s) && inName(s[i-1]) && inName(s[i+1])):
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

func inName(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= utf8.RuneSelf
}

// isLink reports that [ begins the text of a link.
func isLink(s string) bool {
	end := strings.IndexByte(s[:min(len(s), 300)], ']')
	return end > 0 && strings.HasPrefix(s[end:], "](")
}
