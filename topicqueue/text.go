package topicqueue

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes a line of foreign text: valid UTF-8, no control signs, white space folded.
func OneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return strings.Join(strings.Fields(s), " ")
}

// Clip cuts s to at most limit bytes on a rune boundary and says so by an ellipsis, for which limit has room.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.TrimRightFunc(s[:cut], unicode.IsSpace) + "…"
}
