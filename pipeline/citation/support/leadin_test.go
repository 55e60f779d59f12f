package support_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/citation/support"
)

// TestNearlyVerbatim: a sentence of a source behind a few words that say nothing, and the first part of one, is never called
// unsupported.
func TestNearlyVerbatim(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"dev", "held", "articles", "articles2", "articles3", "articles4"} {
		sources, cases := plant(t, dir)
		corpus := support.New(sources)
		for _, c := range cases {
			if c.kind != "verbatim" || strings.ContainsAny(c.sentence, "|\n") || len(c.sentence) < 40 {
				continue
			}
			for _, lead := range []string{"According to the report, ", "In this case, "} {
				sentences := []string{lead + c.sentence}
				for _, mark := range []string{", ", "; ", " and "} {
					if i := strings.Index(c.sentence, mark); i > 30 {
						sentences = append(sentences, lead+c.sentence[:i]+".")
					}
				}
				for _, sentence := range sentences {
					if v := corpus.Check(sentence, c.cites()); v.Result == support.Unsupported {
						t.Errorf("%s (%s %q): %s", v.Result, v.Reason, v.Detail, sentence)
					}
				}
			}
		}
	}
}

// TestLeadIn: what stands before the comma must say nothing.
func TestLeadIn(t *testing.T) {
	t.Parallel()
	sources := []support.Source{{ID: "a", Text: "The bridge was closed for nine days. Critics deny that the tunnel leaks. Mayor Ruiz opened the hall."}}
	for sentence, want := range map[string]support.Result{
		"According to the report, the bridge was closed for nine days.":     support.Supported,
		"Moreover, the sources say, the bridge was closed for nine days.":   support.Supported,
		"According to the report, the bridge was closed for eight days.":    support.Unsupported,
		"According to the report, the bridge was not closed for nine days.": support.Unsupported,
	} {
		if v := support.Check(sentence, sources); v.Result != want {
			t.Errorf("%s: %s %s %q", sentence, v.Result, v.Reason, v.Detail)
		}
	}
}
