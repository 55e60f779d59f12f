package researching

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of what a model or a tool may put into a line that is shown again, in bytes.
const (
	maxLine    = 200   // a title, a query or a message within a sentence
	maxThought = 2_000 // one thought_status
	maxClaim   = 1_000 // the text of a claim, and its quote
	maxSummary = 8_000 // 500 words are about 3,500 bytes; more is not a summary
)

// clip cuts s to at most limit bytes on a rune boundary and says so by an ellipsis.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len("…")
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return strings.TrimRightFunc(s[:cut], unicode.IsSpace) + "…"
}

// oneLine makes a line of what a model or a tool wrote: valid UTF-8, no control signs, white space folded.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// foldedText is the form by which equal statements are recognised.
func foldedText(s string) string {
	s = string(fold(strings.ToLower(s)).bytes)
	return strings.TrimRight(s, ".!?。！？ ")
}
