package researching_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/researching"
	"nightdesk/pipeline/tools"
)

// The extractive form on a real knowledge base: verbatim sentences on the topic, each at its place in the document.
func TestCorpus(t *testing.T) {
	t.Parallel()
	base := corpus(t, "harbour")
	b := newBench(t)
	b.run.Options.Tools = []string{"rag_hybrid", "rag_naive", "query_item"}
	r := researching.Researcher{Emit: b.r.Emit, Now: b.r.Now, Runner: &tools.Runner{Pages: b, Tools: tools.Set{
		tools.NewRAGHybrid(base, 5), tools.NewRAGNaive(base, 5), tools.NewQueryItem(base, 5)}}}
	res, err := r.Research(t.Context(), b.run, "How do the tides change at the harbour?", b.start, b.queue)
	if err != nil || res.Claims < 3 {
		t.Fatalf("%+v, %v", res, err)
	}
	quotes := map[string]bool{}
	for i, tr := range b.queue.traces() {
		if want := fmt.Sprintf("CIT-3-%02d", i+1); tr.CitationID != want {
			t.Errorf("trace %d is %s", i, tr.CitationID)
		}
		text, err := base.Text(t.Context(), tr.Source.Document)
		if err != nil {
			t.Fatal(err)
		}
		if _, stored := b.pages[strings.TrimSuffix(strings.TrimPrefix(tr.RawAnswer, "pages/"), ".txt")]; !stored || b.pages[tr.Source.Hash] != tr.Source.Text {
			t.Errorf("%s: answer or source is not stored", tr.CitationID)
		}
		for _, c := range tr.Claims {
			at := tr.Source.Offset + c.Start
			if text[at:at+len(c.Quote)] != c.Quote {
				t.Errorf("%s is not at its place: %q", c.ID, c.Quote)
			}
			if quotes[c.Quote] || strings.Contains(c.Quote, "cake") || strings.Contains(c.Quote, "breakfast") {
				t.Errorf("%s is off the topic or said twice: %q", c.ID, c.Quote)
			}
			quotes[c.Quote] = true
		}
	}
}

// corpus is a knowledge base of the documents that the tests of planning have, too.
func corpus(t *testing.T, name string) *knowledge.Base {
	t.Helper()
	base, err := knowledge.Create(filepath.Join(t.TempDir(), name+".sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = base.Close() })
	if _, err := base.Ingest(t.Context(), []string{filepath.Join("..", "planning", "testdata", name)}, func(int, int, string) {}); err != nil {
		t.Fatal(err)
	}
	return base
}
