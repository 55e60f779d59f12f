package text

import (
	"strings"
	"unicode/utf8"
)

// Line returns s on one line: each run of white space is one space, and none is at the ends. It changes nothing else;
// topicqueue.OneLine is for foreign text, which may hold characters that nobody sees.
func Line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Clip cuts s to at most n characters, and ends what it cuts with an ellipsis. n is at least 1.
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

// Start returns the longest start of s of at most n bytes that does not split a character.
func Start(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
