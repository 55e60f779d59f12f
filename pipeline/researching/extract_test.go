package researching_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// A small library: what a search for a word of the left side finds.
var library = map[string]string{
	"spring": "A spring tide is a tide of large range that happens at new moon and at full moon. " +
		"Spring tides occur twice in each lunar month, a day or two after these phases of the moon. " +
		"The harbour office opens at nine. Click here.",
	"moon": "The moon raises the tides of the ocean because its pull is stronger on the near side of the Earth. " +
		"During spring tides the pull of the moon is added to the pull of the sun.",
	"highest": "The highest spring tides of the year are measured near the equinoxes.",
	"table 2": "Table 2 lists the range of spring tides in metres for twelve harbours.",
	"cheese": "Cheddar is a hard cheese that is made from cow's milk. Brie is a soft cheese that ripens from the outside. " +
		"A cheese cellar must be cool and damp.",
}

func (b *bench) extractive() *bench {
	b.r.Model = nil
	search := func(query string) tools.Result {
		var texts []string
		for _, word := range []string{"spring", "moon", "highest", "table 2", "cheese"} {
			if strings.Contains(strings.ToLower(query), word) {
				texts = append(texts, library[word])
			}
		}
		return found(append(texts, library["cheese"])...) // a search always finds something beside the point
	}
	b.tools["rag_hybrid"], b.tools["query_item"] = search, search
	return b
}

func TestExtractive(t *testing.T) {
	t.Parallel()
	b := newBench(t).extractive()
	b.run.Topic = "How do spring tides work, and what does Table 2 say?"
	b.run.Options.Tools = []string{"rag_hybrid", "query_item"}
	b.r.MaxActions = 2
	res, err := b.research()
	if err != nil || res.Iterations != 3 || res.Claims < 4 || len(res.Fallbacks) != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	if len(b.asked) != 0 {
		t.Fatalf("a model was asked: %+v", b.asked)
	}
	for _, tr := range b.queue.traces() {
		if strings.Contains(tr.Source.Text, "cheese") {
			t.Errorf("a source off the topic has claims: %+v", tr.Claims)
		}
		for _, c := range tr.Claims {
			if c.Text != c.Quote || tr.Source.Text[c.Start:c.End] != c.Quote || strings.Contains(c.Text, "Click here") {
				t.Errorf("claim %+v", c)
			}
		}
	}
	first := b.queue.checkpoints[0].Queries
	if !slices.Equal(first, []string{"spring tides cause", "spring tides moon phase"}) {
		t.Errorf("first queries %q are not the starters", first)
	}
	var all []string
	for _, cp := range b.queue.checkpoints {
		all = append(all, cp.Queries...)
	}
	if !slices.Contains(all, "query_item: Table 2") || !slices.Contains(all, "Spring tides") {
		t.Errorf("queries %q", all)
	}
	seen := map[string]bool{}
	for _, q := range all {
		if key := topicqueue.CanonicalQuery(q); seen[key] {
			t.Errorf("%q was issued twice", q)
		} else {
			seen[key] = true
		}
	}
}

func TestExtractiveFlexible(t *testing.T) {
	t.Parallel()
	b := newBench(t).extractive()
	b.run.Options.MaxIterations = 20
	b.run.Options.IterationMode = topicqueue.IterationFlexible
	res, err := b.research()
	if err != nil || res.Claims == 0 || res.Iterations > 6 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// A corpus that has nothing on the topic is no error: the caller judges a block without claims.
func TestExtractiveNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t).extractive()
	b.tools["rag_hybrid"] = func(string) tools.Result { return found(library["cheese"]) }
	res, err := b.research()
	if err != nil || res.Claims != 0 || res.Iterations != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// The knowledge base is asked early, the web and papers in turn, everything late; of what is enabled.
func TestExtractivePhases(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tools []string
		asked [][]string // by iteration; rag_hybrid stands without a name in the run's queries
	}{
		"base alone":    {[]string{"rag_hybrid"}, [][]string{{""}, {""}, {""}, {""}, {""}, {""}}},
		"base and web":  {[]string{"rag_hybrid", "web_search"}, [][]string{{""}, {""}, {"web_search"}, {"web_search"}, {"", "web_search"}, {"", "web_search"}}},
		"base and both": {[]string{"rag_hybrid", "web_search", "paper_search"}, [][]string{{""}, {""}, {"paper_search"}, {"web_search"}, {"", "web_search", "paper_search"}, {"", "web_search", "paper_search"}}},
		"no base, one":  {[]string{"paper_search"}, [][]string{{"paper_search"}, {"paper_search"}, {"paper_search"}, {"paper_search"}, {"paper_search"}, {"paper_search"}}},
		"no base, both": {[]string{"web_search", "paper_search"}, [][]string{{"web_search", "paper_search"}, {"web_search", "paper_search"}, {"paper_search"}, {"web_search"}, {"web_search", "paper_search"}, {"web_search", "paper_search"}}},
	} {
		b := newBench(t).extractive()
		b.run.Options.MaxIterations, b.run.Options.Tools = 6, tc.tools
		for _, tool := range tc.tools {
			b.tools[tool] = b.tools["rag_hybrid"]
		}
		if _, err := b.research(); err != nil {
			t.Fatal(err)
		}
		for i, cp := range b.queue.checkpoints {
			for _, q := range cp.Queries {
				tool, _, ok := strings.Cut(q, ": ")
				if !ok {
					tool = ""
				}
				if !slices.Contains(tc.asked[i], tool) {
					t.Errorf("%s: iteration %d asked %q", name, i+1, q)
				}
			}
			for _, tool := range tc.asked[i] {
				if len(cp.Queries) >= len(tc.asked[i]) && !slices.ContainsFunc(cp.Queries, func(q string) bool {
					return strings.HasPrefix(q, tool+": ") || tool == "" && !strings.Contains(q, ": ")
				}) {
					t.Errorf("%s: iteration %d did not ask %q: %q", name, i+1, tool, cp.Queries)
				}
			}
		}
	}
}

// Options of the run come before what the worker is set to.
func TestActionsOfTheRun(t *testing.T) {
	t.Parallel()
	b := newBench(t).extractive()
	b.run.Options.MaxActions = 1
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	for i, cp := range b.queue.checkpoints {
		if len(cp.Queries) > 1 {
			t.Errorf("iteration %d asked %q", i+1, cp.Queries)
		}
	}
}

// A source that shares a word with the topic is not about it.
func TestExtractiveSharedWord(t *testing.T) {
	t.Parallel()
	b := newBench(t).extractive()
	b.run.Topic = "best hiking trails in the Alps"
	b.start.Block = topicqueue.Block{ID: "block_1", Title: "Best hiking trails in the Alps"}
	b.tools["rag_hybrid"] = func(string) tools.Result {
		return found("The function removes trailing blanks from a string and returns the result. Trailing blanks are ignored when two strings are compared.")
	}
	if res, err := b.research(); err != nil || res.Claims != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
}
