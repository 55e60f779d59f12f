package planning_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/planning"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

var _ planning.SectionFinder = (*knowledge.Base)(nil)

// harbour is a knowledge base of three small documents.
func harbour(t *testing.T) *knowledge.Base { return corpus(t, "harbour") }

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

func TestStructure(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		topic string
		n     int
		want  []string // titles that must be there
		never string   // words that must not
	}{
		{"several sections", "How do the tides change at the harbour?", 4, []string{"Neap tides"}, "cake|breakfast|see also|café"},
		{"a question on one section", "When are spring tides?", 4, []string{"Spring tides"}, "cake|breakfast"},
		{"another document", "passing the lock", 2, []string{"Passing the lock"}, "cake|breakfast"},
		{"heading that says nothing", "what the lock is for", 3, []string{"The lock"}, "description"},
		{"quick", "How do the tides change at the harbour?", 1, []string{"How do the tides change at the harbour?"}, ""},
		{"nothing on the topic", "medieval chess openings", 3, []string{"Medieval chess openings"}, "tide|lock|cake"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := harbour(t)
			for _, finder := range []planning.SectionFinder{base, nil} {
				run := topicqueue.Run{ID: "r", Topic: tt.topic, Options: topicqueue.Options{
					DecomposeMode: "manual", SubTopics: tt.n, Tools: []string{"rag_hybrid"}}}
				p := planning.Planner{Sections: finder, Runner: &tools.Runner{Tools: tools.Set{tools.NewRAGHybrid(base, 8)}, Pages: noPages{}}}
				plan, err := p.Plan(t.Context(), run)
				if err != nil {
					t.Fatal(err)
				}
				all := titles(plan)
				for _, want := range tt.want {
					if !slices.Contains(strings.Split(all, "|"), want) {
						t.Errorf("%v: sub-topics %q without %q", finder != nil, all, want)
					}
				}
				for never := range strings.SplitSeq(tt.never, "|") {
					if never != "" && strings.Contains(strings.ToLower(all), never) {
						t.Errorf("%v: sub-topics %q have %q", finder != nil, all, never)
					}
				}
				if len(plan.SubTopics) > tt.n || len(plan.Fallbacks) > 0 {
					t.Errorf("%v: %d sub-topics, fallbacks %q", finder != nil, len(plan.SubTopics), plan.Fallbacks)
				}
				if tt.name == "quick" && plan.SubTopics[0].Overview == "" {
					t.Errorf("%v: no overview", finder != nil)
				}
				for i, s := range plan.SubTopics {
					if len(s.Queries) == 0 && i == 0 {
						t.Errorf("%q has no starter query", s.Title)
					}
					for _, other := range plan.SubTopics[:i] {
						if topicqueue.Duplicate(s.Title, other.Title) {
							t.Errorf("%q and %q are alike", s.Title, other.Title)
						}
					}
				}
			}
		})
	}
}

// A document that is about the topic gives the sub-topics, in its own order and under its own headings; those that only
// share words with the topic give none. Each sub-topic begins with the place that it was taken from.
func TestStructureOfOneDocument(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, topic string
		n           int
		want        string
	}{
		{"its own order", "How is a lighthouse kept?", 5,
			"The keeping of lighthouses|Trimming the lamp|Winding the clockwork|Writing the log|Fog"},
		{"parts of the section that the topic names", "duties at the lighthouse", 3,
			"Duties: Trimming the lamp|Duties: Winding the clockwork|Duties: Writing the log"},
		{"shared words are not enough", "The keeper of the royal chess library", 4, "The keeper of the royal chess library"},
		{"what nobody has heard of", "breeding of axolotls", 4, "Breeding of axolotls"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			base := corpus(t, "island")
			p := planning.Planner{Sections: base, Runner: &tools.Runner{Tools: tools.Set{tools.NewRAGHybrid(base, 8)}, Pages: noPages{}}}
			plan, err := p.Plan(t.Context(), topicqueue.Run{ID: "r", Topic: tt.topic, Options: topicqueue.Options{
				DecomposeMode: "manual", SubTopics: tt.n, Tools: []string{"rag_hybrid"}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := titles(plan); got != tt.want {
				t.Errorf("sub-topics %q, want %q", got, tt.want)
			}
			for _, s := range plan.SubTopics {
				if len(plan.SubTopics) == 1 {
					break
				}
				if !topicqueue.IsPlace(s.Queries[0]) {
					t.Errorf("%q begins with %q and not with a place", s.Title, s.Queries[0])
					continue
				}
				if found, err := base.Item(t.Context(), s.Queries[0], 3); err != nil || len(found) == 0 {
					t.Errorf("%q leads nowhere: %v", s.Queries[0], err)
				}
			}
		})
	}
}

// The overview of a sub-topic is verbatim.
func TestStructureOverview(t *testing.T) {
	t.Parallel()
	base := harbour(t)
	run := topicqueue.Run{ID: "r", Topic: "spring tides and neap tides", Options: topicqueue.Options{SubTopics: 2, Tools: []string{"rag_hybrid"}}}
	p := planning.Planner{Sections: base, Runner: &tools.Runner{Tools: tools.Set{tools.NewRAGHybrid(base, 8)}, Pages: noPages{}}}
	plan, err := p.Plan(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	text, err := base.Text(t.Context(), "tides.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range plan.SubTopics {
		first, _, _ := strings.Cut(s.Overview, ". ")
		if s.Overview == "" || !strings.Contains(strings.Join(strings.Fields(text), " "), strings.TrimSuffix(first, ".")) {
			t.Errorf("overview of %q: %q", s.Title, s.Overview)
		}
	}
	if len(plan.Traces) == 0 || plan.Traces[0].CitationID != "PLAN-01" {
		t.Errorf("traces %+v", plan.Traces)
	}
}

type brokenBase struct{ err error }

func (b brokenBase) Sections(context.Context, string, int) ([]knowledge.SectionHit, error) {
	return nil, b.err
}

func (b brokenBase) Rarity(context.Context, string) (float64, bool, error) { return 0, false, b.err }

func (b brokenBase) Outline(context.Context, string) (string, []knowledge.Part, error) {
	return "", nil, b.err
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
