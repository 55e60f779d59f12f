package researching_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/researching"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

func TestModes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		mode       string
		sufficient func(k int) bool
		iterations int // checkpointed
		decides    int
		calls      int
	}{
		{"fixed does all, never sufficient", "fixed", func(int) bool { return false }, 3, 3, 3},
		{"fixed does all, always sufficient", "fixed", func(int) bool { return true }, 3, 3, 3},
		{"flexible, never sufficient", "flexible", func(int) bool { return false }, 3, 3, 3},
		{"flexible stops when sufficient", "flexible", func(k int) bool { return k >= 3 }, 2, 3, 2},
		{"flexible does not stop without claims", "flexible", func(int) bool { return true }, 1, 2, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.run.Options.IterationMode = tt.mode
			plan := b.decide
			b.decide = func(k int, req llm.Request) any {
				a := plan(k, req).(prompts.DecideAnswer)
				a.IsSufficient = tt.sufficient(k)
				return a
			}
			res, err := b.research()
			if err != nil {
				t.Fatal(err)
			}
			if res.Iterations != tt.iterations || len(b.queue.checkpoints) != tt.iterations || res.Claims != tt.calls || res.Traces != tt.calls {
				t.Errorf("result %+v with %d checkpoints, want %d iterations and %d claims", res, len(b.queue.checkpoints), tt.iterations, tt.calls)
			}
			if n := len(b.questions("decide")); n != tt.decides {
				t.Errorf("%d decide questions, want %d", n, tt.decides)
			}
			if len(b.called) != tt.calls {
				t.Errorf("calls %q, want %d", b.called, tt.calls)
			}
		})
	}
}

// TestSufficientWithoutActions: in fixed mode, the plan's queries are used even if the model is always satisfied and
// asks nothing.
func TestSufficientWithoutActions(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"fixed", "flexible"} {
		b := newBench(t)
		b.start.Block.Queries = starters
		b.run.Options.IterationMode = mode
		b.decide = func(int, llm.Request) any { return prompts.DecideAnswer{IsSufficient: true} }
		res, err := b.research()
		if err != nil || res.Claims == 0 {
			t.Fatalf("%s: %+v, %v", mode, res, err)
		}
		want := map[string]int{"fixed": 3, "flexible": 1}[mode]
		if res.Iterations != want {
			t.Errorf("%s: %d iterations, want %d", mode, res.Iterations, want)
		}
		if !slices.Contains(b.called, "rag_hybrid: spring tides cause") {
			t.Errorf("%s: starter queries were not asked: %q", mode, b.called)
		}
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.decide = func(k int, _ llm.Request) any {
		height := fmt.Sprintf("height %d", k)
		if k == 1 {
			height = "spring tides cause"
		}
		return act(ask("rag_hybrid", height), ask("rag_hybrid", fmt.Sprintf("time %d", k)))
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	var ids, toolIDs []string
	for _, tr := range b.queue.traces() {
		ids = append(ids, tr.CitationID)
		toolIDs = append(toolIDs, tr.ToolID)
		if tr.BlockID != "block_3" || tr.Summary != tr.Claims[0].Text || tr.Query == "" || tr.Source.Hash == "" || tr.RawAnswer == "" {
			t.Errorf("trace %+v", tr)
		}
		for i, c := range tr.Claims {
			if c.ID != fmt.Sprintf("%s.%d", tr.CitationID, i+1) || c.CitationID != tr.CitationID || c.SourceID != tr.Source.ID {
				t.Errorf("claim %+v of %s", c, tr.CitationID)
			}
			if tr.Source.Text[c.Start:c.End] != c.Quote {
				t.Errorf("claim %s: quote %q is not at [%d:%d]", c.ID, c.Quote, c.Start, c.End)
			}
		}
	}
	if want := "CIT-3-01 CIT-3-02 CIT-3-03 CIT-3-04 CIT-3-05 CIT-3-06"; strings.Join(ids, " ") != want {
		t.Errorf("citations %q, want %q", ids, want)
	}
	if want := "block_3/1.1 block_3/1.2 block_3/2.1 block_3/2.2 block_3/3.1 block_3/3.2"; strings.Join(toolIDs, " ") != want {
		t.Errorf("tool ids %q, want %q", toolIDs, want)
	}
	positions := map[llm.Position]bool{}
	for _, req := range b.asked {
		p := req.Position
		if positions[p] {
			t.Errorf("position %+v is used twice", p)
		}
		positions[p] = true
		if p.RunID != b.run.ID || p.Stage != "researching" || p.Block != "block_3" {
			t.Errorf("position %+v", p)
		}
	}
}

func TestContinue(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	whole, err := b.research()
	if err != nil {
		t.Fatal(err)
	}
	// A second attempt begins after the first checkpoint. The texts of its sources are no longer available.
	c := newBench(t)
	c.start.Block.Iterations = 1
	c.start.View.Queries = b.queue.checkpoints[0].Queries
	c.queue.view.Queries = c.start.View.Queries
	for _, tr := range b.queue.checkpoints[0].Traces {
		tr.Source.Text = ""
		c.start.Traces = append(c.start.Traces, tr)
	}
	rest, err := c.research()
	if err != nil {
		t.Fatal(err)
	}
	if rest.Iterations != whole.Iterations || rest.Claims != whole.Claims || rest.Traces != whole.Traces {
		t.Errorf("continued %+v, whole %+v", rest, whole)
	}
	for i, tr := range c.queue.traces() {
		if want := b.queue.traces()[i+1].CitationID; tr.CitationID != want {
			t.Errorf("trace %d after the continuation is %s, want %s", i, tr.CitationID, want)
		}
	}
	whole1 := b.queue.traces()[0].Claims[0].Text
	if req := c.questions("decide")[0]; req.Position.Iteration != 2 || !strings.Contains(req.Prompt.User, whole1) {
		t.Errorf("the first question is for iteration %d, without the earlier claim", req.Position.Iteration)
	}
	// A block that has used up its iterations is done.
	c.start.Block.Iterations = 3
	c.asked = nil
	if res, err := c.research(); err != nil || res.Iterations != 3 || res.Claims != 1 || len(c.asked) != 0 {
		t.Errorf("finished block: %+v, %v, %d questions", res, err, len(c.asked))
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	cause := errors.New("the run was cancelled")
	stages := map[string]func(b *bench, stop func()){
		"in decide": func(b *bench, stop func()) {
			b.decide = func(k int, _ llm.Request) any { stop(); return context.Canceled }
		},
		"in a tool": func(b *bench, stop func()) {
			old := b.tools["rag_hybrid"]
			b.tools["rag_hybrid"] = func(q string) tools.Result { stop(); return old(q) }
		},
		"in note": func(b *bench, stop func()) {
			b.note = func(llm.Request) any { stop(); return context.Canceled }
		},
	}
	for name, arrange := range stages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(t.Context())
			b := newBench(t)
			arrange(b, func() { cancel(cause) })
			res, err := b.researchWith(ctx)
			if !errors.Is(err, cause) {
				t.Fatalf("error %v, want the cause", err)
			}
			if len(b.queue.checkpoints) != 0 || res.Iterations != 0 {
				t.Fatalf("%d checkpoints after the cancel, %+v", len(b.queue.checkpoints), res)
			}
		})
	}
}

func TestLostLease(t *testing.T) {
	t.Parallel()
	lost := errors.New("lease lost")
	b := newBench(t)
	b.queue.err = lost
	if res, err := b.research(); !errors.Is(err, lost) || res.Iterations != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	b = newBench(t)
	b.r.Emit = func(context.Context, ...topicqueue.Event) error { return lost }
	if _, err := b.research(); !errors.Is(err, lost) || len(b.queue.checkpoints) != 0 {
		t.Fatalf("%d checkpoints, %v", len(b.queue.checkpoints), err)
	}
}

func TestProposals(t *testing.T) {
	t.Parallel()
	propose := func(title string, score float64, add bool) prompts.NewSubTopic {
		return prompts.NewSubTopic{Title: title, Overview: "Why.", Score: score, ShouldAdd: add}
	}
	tests := []struct {
		name     string
		k        int
		proposal prompts.NewSubTopic
		want     bool
	}{
		{"good", 2, propose("Tidal power", 0.9, true), true},
		{"at the limit", 2, propose("Tidal power", 0.85, true), true},
		{"below the limit", 2, propose("Tidal power", 0.84, true), false},
		{"not on the scale", 2, propose("Tidal power", 90, true), false},
		{"not to be added", 2, propose("Tidal power", 0.95, false), false},
		{"without title", 2, propose(" \n", 0.95, true), false},
		{"before there is evidence", 1, propose("Tidal power", 0.95, true), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			plan := b.decide
			b.decide = func(k int, req llm.Request) any {
				a := plan(k, req).(prompts.DecideAnswer)
				if k == tt.k {
					a.NewSubTopics = []prompts.NewSubTopic{tt.proposal}
				}
				return a
			}
			if _, err := b.research(); err != nil {
				t.Fatal(err)
			}
			got := b.queue.checkpoints[tt.k-1].Proposals
			if (len(got) == 1) != tt.want {
				t.Fatalf("proposals %+v, want %v", got, tt.want)
			}
			if tt.want && (got[0].Title != "Tidal power" || got[0].Parent != "block_3" || got[0].Overview != "Why.") {
				t.Errorf("proposal %+v", got[0])
			}
		})
	}
}

// TestEndlessProposals: a model that proposes topics endlessly is told the outcomes, and the limit of the queue holds.
func TestEndlessProposals(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 6
	b.queue.max = 5
	plan := b.decide
	b.decide = func(k int, req llm.Request) any {
		a := plan(k, req).(prompts.DecideAnswer)
		for i := range 40 {
			a.NewSubTopics = append(a.NewSubTopics, prompts.NewSubTopic{Title: fmt.Sprintf("Harbour %d of region %d", i, k), Score: 0.99, ShouldAdd: true})
		}
		a.NewSubTopics[0].Title = "neap TIDES"
		return a
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	if n := len(b.queue.view.Blocks); n != 5 {
		t.Errorf("%d blocks, want 5", n)
	}
	for _, cp := range b.queue.checkpoints {
		if len(cp.Proposals) > 5 {
			t.Errorf("iteration %d put %d proposals before the queue", cp.Iteration, len(cp.Proposals))
		}
	}
	shown := b.questions("decide")[2].Prompt.User
	for _, want := range []string{"block_1 already covers it", "was added as block_4", "as many topics as it may have"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the model is not told %q", want)
		}
	}
}

// TestProposalAtTheEnd: a proposal made together with "sufficient" reaches the queue.
func TestProposalAtTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.IterationMode = "flexible"
	b.decide = func(k int, _ llm.Request) any {
		if k == 1 {
			return act(ask("rag_hybrid", "spring tides cause"))
		}
		return prompts.DecideAnswer{IsSufficient: true, NewSubTopics: []prompts.NewSubTopic{{Title: "Tidal power", Score: 0.9, ShouldAdd: true}}}
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	if len(b.queue.view.Blocks) != 4 || len(b.called) != 1 {
		t.Fatalf("blocks %v, calls %q", b.queue.view.Blocks, b.called)
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 2
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, e := range b.events {
		keys = append(keys, e.Key)
		var about topicqueue.About
		if err := json.Unmarshal(e.Metadata, &about); err != nil || about.Iteration != 1 && about.Iteration != 2 || e.Placement.Call != 0 ||
			(about.Title != "") != (e.Key == "block_3/1/thought") || (about.Tool != "") != (e.Status == topicqueue.StatusReference) {
			t.Errorf("event %s: %s, %v", e.Key, e.Metadata, err)
		}
		switch e.Status {
		case topicqueue.StatusThought:
			var p topicqueue.Thought
			if err := json.Unmarshal(e.Content, &p); err != nil || p.QuestionID != 3 || p.Thought != "more is needed" {
				t.Errorf("thought %s, %v", e.Content, err)
			}
		case topicqueue.StatusReference:
			var p topicqueue.Reference
			if err := json.Unmarshal(e.Content, &p); err != nil || p.QuestionID != 3 || len(p.References) != 1 {
				t.Errorf("reference %s, %v", e.Content, err)
			}
			for key, description := range p.References {
				if !strings.HasSuffix(key, ".md") || description != "Tides, Springs" {
					t.Errorf("reference %q: %q", key, description)
				}
			}
		}
	}
	if want := "block_3/1/thought block_3/1/reference/1 block_3/2/thought block_3/2/reference/1"; strings.Join(keys, " ") != want {
		t.Errorf("events %q, want %q", keys, want)
	}
}

var _ researching.Queue = (*memoryQueue)(nil)
