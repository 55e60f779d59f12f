package view

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columnsOf returns the width of a character in terminal columns: two for Chinese, Japanese and Korean characters and
// most emoji, zero for combining marks.
func columnsOf(r rune) int {
	switch {
	case r == '\ufe0f': // turns the preceding character into an emoji, which is wide
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Columns returns the width in columns of a text without control characters.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// Clip shortens a text to at most n columns on one line. Control characters, which could move the cursor or change the
// terminal, become spaces.
func Clip(s string, n int) string {
	var b strings.Builder
	used, cut := 0, 0 // cut: length in bytes that leaves room for the ellipsis
	for _, r := range s {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) {
			r = ' '
		}
		w := columnsOf(r)
		if used+w > n {
			if n < 1 {
				return ""
			}
			return b.String()[:cut] + "…"
		}
		b.WriteRune(r)
		if used += w; used < n {
			cut = b.Len()
		}
	}
	return b.String()
}

// Pad pads a text with spaces to n columns, or shortens it.
func Pad(s string, n int) string {
	s = Clip(s, n)
	return s + strings.Repeat(" ", max(0, n-Columns(s)))
}

// Wrap breaks a text between words into lines of at most n columns. A longer word gets its own line.
func Wrap(s string, n int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case Columns(line)+1+Columns(word) <= n:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Hanging returns texts behind a head, as lines of at most width columns. Lines after the first are indented.
func Hanging(width int, head string, texts ...string) (lines []string) {
	indent := Columns(head)
	for _, text := range texts {
		for _, line := range Wrap(text, max(30, width-1-indent)) {
			lines = append(lines, head+line)
			head = strings.Repeat(" ", indent)
		}
	}
	return lines
}

// DrawBar draws a progress bar of w columns.
func DrawBar(done, total, w int) string {
	inner := max(1, w-2)
	full := 0
	if total > 0 {
		full = min(inner, done*inner/total)
	}
	bar := strings.Repeat("=", full)
	if full < inner && full > 0 {
		bar = bar[:full-1] + ">"
	}
	return "[" + bar + strings.Repeat("-", inner-full) + "]"
}
