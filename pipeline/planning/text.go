package planning

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/topicqueue"
)

// Limits of a model's text in a plan, in bytes.
const (
	maxTitle    = 200
	maxOverview = 1_000
	maxQuery    = 300
	maxReason   = 300 // reason of a fallback
)

// paragraphs applies topicqueue.OneLine to each paragraph of a text.
func paragraphs(s string) string {
	var out []string
	for p := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n\n") {
		if p = topicqueue.OneLine(p); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n\n")
}

// cleanTitle converts a model's text to a heading: one line without marks, numbering or surrounding quotation marks.
func cleanTitle(s string) string {
	s = strings.TrimLeft(topicqueue.OneLine(s), "#*_- \t")
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }); i > 0 && i < 3 {
		// "3. Title", "3) Title", but not "3.1 times" or "3D printing"
		if rest := strings.TrimLeft(s[i:], ".):"); rest != s[i:] && strings.HasPrefix(rest, " ") {
			s = rest
		}
	}
	s = strings.TrimRight(strings.TrimSpace(s), "*_ ")
	for _, pair := range []string{`""`, "“”", "«»", "「」", "《》"} {
		open, size := utf8.DecodeRuneInString(pair)
		last := pair[size:]
		inner, ok := strings.CutPrefix(s, string(open))
		if inner, both := strings.CutSuffix(inner, last); ok && both && !strings.Contains(inner, last) {
			s = inner
		}
	}
	return topicqueue.Clip(strings.TrimSpace(s), maxTitle)
}
