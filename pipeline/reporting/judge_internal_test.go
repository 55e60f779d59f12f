package reporting

import (
	"slices"
	"testing"

	"nightdesk/pipeline/judging"
)

// cites is a group of n statements that cite these sources.
func cites(n int, sources ...string) group {
	g := make(group, n)
	for i := range g {
		g[i] = &decision{asked: judging.Sentence{Sources: sources}}
	}
	return g
}

// Short groups share a call, those that cite the same sources first, and a section that is too long for one has two:
// no sentence is left out.
func TestTogether(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		groups []group
		calls  []int
		with   string // sources of the first call
	}{
		"short sections":     {[]group{cites(15, "a"), cites(15, "b"), cites(15, "c")}, []int{30, 15}, "ab"},
		"one call":           {[]group{cites(judging.MostSentences)}, []int{judging.MostSentences}, ""},
		"two calls":          {[]group{cites(5), cites(61), cites(3)}, []int{38, 31}, ""},
		"nothing":            {nil, nil, ""},
		"no open statements": {[]group{cites(0), cites(4)}, []int{4}, ""},
		"an introduction of two paragraphs": {
			[]group{cites(3, "b", "c"), cites(3, "a"), cites(36, "a"), cites(36, "b", "c")}, []int{39, 39}, "bc",
		},
	} {
		var got []int
		with := map[string]bool{}
		for i, c := range together(tt.groups) {
			got = append(got, len(c))
			for _, d := range c {
				for _, id := range d.asked.Sources {
					with[id] = with[id] || i == 0
				}
			}
		}
		if !slices.Equal(got, tt.calls) {
			t.Errorf("%s: calls %v, want %v", name, got, tt.calls)
		}
		for id, first := range with {
			if slices.Contains([]byte(tt.with), id[0]) != first {
				t.Errorf("%s: source %s in the first call: %v", name, id, first)
			}
		}
	}
}
