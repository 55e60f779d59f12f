package verification_test

import (
	"fmt"
	"strings"
	"testing"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/lineartest"
	"nightdesk/topicqueue/scaletest"
)

// TestManySources: sources that are hard to tell apart cost a report no more than their number allows.
func TestManySources(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	most := scaletest.Of(1000, 4000)
	for name, kind := range map[string]struct{ source, cites string }{ // %d: a number
		"title":           {"https://ok.example/%d|Alpha", "Alpha"},
		"document":        {"handbook.pdf, p. %d", "See handbook.pdf there, p. 99999"},
		"name of files":   {"d%d/readme.md", "Look at x/readme.md there"},
		"digits":          {"https://ok.example/1%d", "https://ok.example/1"},
		"cut at a slash":  {"https://ok.example/a%d", "https://ok.example/a/"},
		"hosts":           {"https://ok.example%d.org/", "https://ok.example"},
		"one page":        {"https://ok.example/a?utm_source=%d", "https://ok.example/a?utm"},
		"references":      {"https://ok.example/a?ref=%d", "https://ok.example/a?ref=x"},
		"same parameters": {"https://ok.example/a?p=1&r=%d", "https://ok.example/a?p=1&p=1"},
		"all cited":       {"https://ok.example/%d", "https://ok.example/%d"},
	} {
		report := func(n int) string {
			var b strings.Builder
			b.WriteString("x [1]\n\n## Sources\n")
			for i := range n {
				line := fmt.Sprintf("[%d] %s\n", i+1, kind.cites)
				b.WriteString(strings.ReplaceAll(line, "%d", fmt.Sprint(i)))
			}
			return b.String()
		}
		lineartest.Check(t, name, report(most/16), report(most), func(text string) {
			var sources []citation.Source
			for i := range strings.Count(text, "\n") {
				place, title, _ := strings.Cut(strings.ReplaceAll(kind.source, "%d", fmt.Sprint(i)), "|")
				s := citation.Source{Key: place, Title: title}
				if strings.Contains(place, "://") {
					s = citation.Source{URL: place, Title: title}
				}
				sources = append(sources, s)
			}
			verification.Verify(citation.RegistryOf(sources), text, false)
		})
	}
}

// A byte that no text has may follow in an address.
func TestOddByte(t *testing.T) {
	t.Parallel()
	r := citation.RegistryOf([]citation.Source{{URL: "https://ok.example/a/b%FFc"}, {URL: "https://ok.example/a%FFb"}})
	if got, level, ok := r.MatchURL("https://OK.example/a/"); !ok || level != citation.MatchPrefix || r.At(got).URL != "https://ok.example/a/b%FFc" {
		t.Errorf("%v %s %v", got, level, ok)
	}
}
