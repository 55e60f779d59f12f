package extractive_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/extractive"
)

func TestUnspoken(t *testing.T) {
	t.Parallel()
	texts := []string{"The keeper of a lighthouse trims the lamp at dusk.", "A horn sounds in fog. The Coast Guard (CG) pays for it."}
	for query, want := range map[string]string{
		"How is a lighthouse kept in fog?":                "", // a verb says nothing on its own
		"Lighthouses and lightships in fog":               "lightships",
		"lamps, radar, Radar and sonar of lighthouses":    "radar|sonar",
		"lighthouse budget of the CG in 1911":             "budget|1911",
		"lighthouse foghorns, buoys, anchors, bells, oil": "foghorns|buoys|anchors|bells",
		"Important examples of lighthouses over time":     "",
		"灯塔如何工作":                                          "", // another language
		"Quantum chromodynamics":                          "",
		"":                                                "",
	} {
		if got := strings.Join(extractive.Unspoken(query, texts, 4), "|"); got != want {
			t.Errorf("Unspoken(%q) = %q, want %q", query, got, want)
		}
	}
	if got := extractive.Unspoken("大潮 雾角", []string{"大潮时水位最高。"}, 4); !slices.Equal(got, []string{"雾角"}) {
		t.Errorf("%q", got)
	}
	if got := extractive.Unspoken("lighthouse radar", texts, 0); len(got) != 0 {
		t.Errorf("%q with limit 0", got)
	}
}

// FuzzUnspoken: what is said to be missing stands in the query, each word once, and the query speaks of itself.
func FuzzUnspoken(f *testing.F) {
	f.Add("Lighthouses and sync.Mutex in fog", "A horn sounds in fog.")
	f.Add("大潮 雾角 radar", "大潮")
	f.Fuzz(func(t *testing.T, query, text string) {
		got := extractive.Unspoken(query, []string{text}, 4)
		if len(got) > 4 {
			t.Fatalf("%d words", len(got))
		}
		for i, w := range got {
			if !strings.Contains(query, w) || slices.Contains(got[:i], w) {
				t.Fatalf("%q of query %q", got, query)
			}
		}
		if self := extractive.Unspoken(query, []string{query}, 4); len(self) > 0 {
			t.Fatalf("%q does not speak of %q", query, self)
		}
	})
}
