package support_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/lineartest"
	"nightdesk/topicqueue/scaletest"
)

// TestSpeed: time is linear in the length of a text made to be slow.
func TestSpeed(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	size := scaletest.Of(8_000, 128_000)
	for name, piece := range map[string]string{
		"digits": "1,", "capitals": "A B ", "quotes": "“a b c ", "negations": "not more ", "one word": "a", "brackets": "[",
		"years": "in 1999 ", "han": "不没万", "hyphens": "a-\n", "tables": "| a | 1 | 2 km |\n",
		"wide table": strings.Repeat("| 5 km ", 200) + "|\n", "clocks": "at 12:30 ", "shares": "half of a third of ",
		"values": "5 km and 6 km, ", "sentences": "It took 5 km and 1999 for 6 km. ", "hours": "2 hours and 1 minute ",
		"names": "Ann Rowe acquired Bo Lee. ", "bars": "|", "dots": "... ",
	} {
		text := func(size int) string { return strings.Repeat(piece, size/len(piece)+1) }
		lineartest.Check(t, name, text(size/16), text(size), func(s string) {
			c := support.New([]support.Source{{ID: "x", Text: s, About: s[:min(len(s), 3000)]}})
			c.Check(s, s, []string{"x"})
			c.Check("Ann Rowe has not acquired “Bo Lee and others” in 1999 for more than 5 km, 7 hours and 12%.", "", []string{"x"})
			c.Passages(s, []string{"x"}, nil, 1000)
			c.Prove(support.Judged{Judgement: support.JudgedSupported, Words: s}, []string{"x"})
		})
	}
}
