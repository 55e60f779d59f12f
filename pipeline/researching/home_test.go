package researching_test

import (
	"strings"
	"testing"

	"nightdesk/pipeline/researching"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// A block that was planned from a section reads that section as a whole, leaves to other blocks what they are called
// after, and takes nothing from sources that only share a word with it.
func TestHome(t *testing.T) {
	t.Parallel()
	base := corpus(t, "island")
	b := newBench(t)
	b.run.Options.Tools = []string{"rag_hybrid", "query_item"}
	b.start.Block = topicqueue.Block{ID: "block_1", Title: "Duties", Queries: []string{"The keeping of lighthouses › Duties", "Duties lighthouse"}}
	b.queue.view.Blocks = []topicqueue.BlockTitle{{ID: "block_1", Title: "Duties"}, {ID: "block_2", Title: "Writing the log"}}
	b.start.View = b.queue.view
	r := researching.Researcher{Emit: b.r.Emit, Now: b.r.Now, Runner: &tools.Runner{Pages: b, Tools: tools.Set{
		tools.NewRAGHybrid(base, 5), tools.NewQueryItem(base, 5)}}}
	if _, err := r.Research(t.Context(), b.run, "What are the duties of the keeper of a lighthouse?", b.start, b.queue); err != nil {
		t.Fatal(err)
	}
	if first := b.queue.checkpoints[0].Queries[0]; first != "query_item: The keeping of lighthouses › Duties" {
		t.Errorf("first asked %q", first)
	}
	var said []string
	for _, tr := range b.queue.traces() {
		for _, c := range tr.Claims {
			said = append(said, c.Quote)
			if tr.Source.Text[c.Start:c.End] != c.Quote {
				t.Errorf("%s is not at its place", c.ID)
			}
		}
		if tr.Source.Document == "dairy.md" {
			t.Errorf("the dairy is cited: %+v", tr.Claims)
		}
	}
	all := strings.Join(said, " ")
	for _, want := range []string{"trims the lamp", "smoking flame", "winds the clockwork"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing on %q: %s", want, all)
		}
	}
	if strings.Contains(all, "The log names every ship") {
		t.Errorf("what belongs to another block: %s", all)
	}
}
