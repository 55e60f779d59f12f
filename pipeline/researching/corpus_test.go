package researching_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/researching"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// TestCorpus: on a real knowledge base without a model, the answers to the topic are found, each claim has its position
// in the document, and unrelated documents are not cited.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		base, topic string
		queries     []string
		want        []string // what stands in claims
		never       string   // a document
	}{
		{"harbour", "How do the tides change at the harbour?", nil, []string{"rises and falls twice a day"}, "cafe.md"},
		{"harbour", "When are spring tides, and how high?", nil, []string{"return every fourteen days, a day or two after the new", "6.1 metres"}, "cafe.md"},
		{"island", "What are the duties of the keeper of a lighthouse?", []string{"The keeping of lighthouses › Duties"},
			[]string{"trims the lamp", "smoking flame", "winds the clockwork", "The log names every ship"}, "dairy.md"},
	} {
		t.Run(tt.topic, func(t *testing.T) {
			t.Parallel()
			base := corpus(t, tt.base)
			b := newBench(t)
			b.r.Model = nil
			b.run.Topic, b.run.Options.Tools = tt.topic, []string{"rag_hybrid", "rag_naive", "query_item"}
			b.start.Block = topicqueue.Block{ID: "block_3", Title: tt.topic, Queries: append([]string{tt.topic}, tt.queries...)}
			r := researching.Researcher{Emit: b.r.Emit, Now: b.r.Now, Runner: &tools.Runner{Pages: b, Tools: tools.Set{
				tools.NewRAGHybrid(base, 5), tools.NewRAGNaive(base, 5), tools.NewQueryItem(base, 5)}}}
			res, err := r.Research(t.Context(), b.run, tt.topic, b.start, b.queue)
			if err != nil || res.Claims == 0 {
				t.Fatalf("%+v, %v", res, err)
			}
			quotes := map[string]bool{}
			var said strings.Builder
			for i, tr := range b.queue.traces() {
				if want := fmt.Sprintf("CIT-3-%02d", i+1); tr.CitationID != want || tr.Source.Document == tt.never {
					t.Errorf("trace %d is %s of %s", i, tr.CitationID, tr.Source.Document)
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
					if text[at:at+len(c.Quote)] != c.Quote || quotes[c.Quote] {
						t.Errorf("%s is not at its place, or said twice: %q", c.ID, c.Quote)
					}
					quotes[c.Quote] = true
					said.WriteString(c.Quote + "\n")
				}
			}
			for _, want := range tt.want {
				if !strings.Contains(said.String(), want) {
					t.Errorf("nothing on %q:\n%s", want, said.String())
				}
			}
		})
	}
}

// corpus returns a knowledge base of the documents that the planning tests also use.
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
