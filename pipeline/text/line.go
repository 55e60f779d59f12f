package text

import (
	"strings"
	"unicode/utf8"
)

// Line returns s on one line: each run of white space becomes one space, and both ends are trimmed. It changes nothing
// else. For untrusted text, which may contain invisible characters, use topicqueue.OneLine.
func Line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Clip cuts s to at most n characters, with an ellipsis at the end if it cuts. n is at least 1.
func Clip(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	end := 0
	for range n - 1 {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return strings.TrimRight(s[:end], " ") + "…"
}

// Start returns the longest prefix of s of at most n bytes that does not split a character.
func Start(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
