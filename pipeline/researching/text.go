package researching

import (
	"strings"

	"nightdesk/pipeline/text"
)

// Limits of what a model or a tool may put into a line that is shown again, in bytes.
const (
	maxLine    = 200   // a title, a query or a message within a sentence
	maxThought = 2_000 // one thought_status
	maxClaim   = 1_000 // the text of a claim, and its quote
	maxSummary = 8_000 // 500 words are about 3,500 bytes; more is not a summary
)

// foldedText is the form by which equal statements are recognised.
func foldedText(s string) string {
	s = text.Fold(strings.ToLower(s)).String()
	return strings.TrimRight(s, ".!?。！？ ")
}
