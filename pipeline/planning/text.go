package planning

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/topicqueue"
)

// Limits of what a model may put into a plan, in bytes.
const (
	maxTitle    = 200
	maxOverview = 1_000
	maxQuery    = 300
	maxReason   = 300 // of a fallback
)

// paragraphs is topicqueue.OneLine for a text of several paragraphs; they stay apart.
func paragraphs(s string) string {
	var out []string
	for p := range strings.SplitSeq(strings.ReplaceAll(s, "\r\n", "\n"), "\n\n") {
		if p = topicqueue.OneLine(p); p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "\n\n")
}

// cleanTitle makes a heading of what a model wrote: one line without marks, numbering or quotation marks around it.
func cleanTitle(s string) string {
	s = strings.TrimLeft(topicqueue.OneLine(s), "#*_- \t")
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }); i > 0 && i < 3 {
		// "3. Title", "3) Title"; not "3.1 times" and not "3D printing"
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
