package planning_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/planning"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

var _ planning.SectionFinder = (*knowledge.Base)(nil)

func corpus(t *testing.T, name string) *knowledge.Base {
	t.Helper()
	base, err := knowledge.Create(filepath.Join(t.TempDir(), name+".sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = base.Close() })
	if _, err := base.Ingest(t.Context(), []string{filepath.Join("testdata", name)}, func(int, int, string) {}); err != nil {
		t.Fatal(err)
	}
	return base
}

// Without a model the first sub-topic is the topic itself with the best section. The others are documents and sections
// that answer it nearly as well.
func TestFromSources(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, base, topic string
		n                 int
		want              string
	}{
		{"one section answers", "harbour", "When are spring tides?", 4, "When are spring tides?"},
		{"two sections answer", "harbour", "What is the range at spring tides and at neap tides?", 4,
			"What is the range at spring tides and at neap tides?|Tides at the harbour: Spring tides"},
		{"two documents are named", "boats", "When is a sailing boat better, and when a rowing boat?", 3,
			"When is a sailing boat better, and when a rowing boat?|Sailing boat"},
		{"quick", "harbour", "How do the tides change at the harbour?", 1, "How do the tides change at the harbour?"},
		{"nothing on the topic", "harbour", "medieval chess", 3, "Medieval chess"},
		{"a question with two halves", "island", "how is the lamp trimmed, and what is in the log?", 2,
			"How is the lamp trimmed, and what is in the log?|The keeping of lighthouses: Writing the log"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := corpus(t, tt.base)
			run := topicqueue.Run{ID: "r", Topic: tt.topic, Options: topicqueue.Options{
				DecomposeMode: "manual", SubTopics: tt.n, Tools: []string{"rag_hybrid"}}}
			p := planning.Planner{Sections: base, Runner: &tools.Runner{Tools: tools.Set{tools.NewRAGHybrid(base, 8)}, Pages: noPages{}}}
			plan, err := p.Plan(t.Context(), run)
			if err != nil {
				t.Fatal(err)
			}
			if got := titles(plan); got != tt.want {
				t.Errorf("sub-topics %q, want %q", got, tt.want)
			}
			if len(plan.Fallbacks) > 0 || len(plan.Traces) > 0 {
				t.Errorf("fallbacks %q, %d traces", plan.Fallbacks, len(plan.Traces))
			}
			for _, s := range plan.SubTopics {
				if len(s.Queries) != 1 || !strings.HasPrefix(s.Queries[0], tt.topic) && s.Queries[0] != s.Title {
					t.Errorf("%q asks %q", s.Title, s.Queries)
				}
			}
		})
	}
}

type brokenBase struct{ err error }

func (b brokenBase) Sections(context.Context, string, int) ([]knowledge.SectionHit, error) {
	return nil, b.err
}

func (b brokenBase) Titles(context.Context, string, int) ([]knowledge.DocumentHit, error) {
	return nil, b.err
}

func TestBrokenBase(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk is gone")
	d := newDesk(t)
	d.p.Sections = brokenBase{broken}
	d.answers["decompose"] = func(llm.Request) any { return "no json" }
	if _, err := d.plan(); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if !strings.HasSuffix(d.steps(), "start_research_planner") {
		t.Errorf("events %q", d.steps())
	}
}
