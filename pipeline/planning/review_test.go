package planning_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/planning"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// ended returns a block with this many claims of this many bytes.
func ended(n int, title string, claims, size int) planning.BlockEvidence {
	e := planning.BlockEvidence{Block: topicqueue.Block{
		ID: topicqueue.BlockID(n), Title: title, Overview: "About " + title + ".", Queries: []string{title + " when"}, Status: topicqueue.BlockCompleted,
	}}
	cite := topicqueue.BlockCitationID(n, 1)
	t := topicqueue.ToolTrace{CitationID: cite, Query: title + " how"}
	for i := range claims {
		t.Claims = append(t.Claims, topicqueue.Claim{CitationID: cite, Text: fmt.Sprintf("%d %s", i+1, strings.Repeat("x", size))})
	}
	if claims > 0 {
		e.Traces = append(e.Traces, t)
	}
	return e
}

// review asks the desk's model about two blocks with evidence and a failed one.
func (d *desk) review(change func(*planning.Reviewer, *topicqueue.Run, *planning.Evidence)) (topicqueue.Review, error) {
	run := d.run
	run.Options.QueueMaxLength = 6
	e := planning.Evidence{Topic: "How do tides work?", Room: -1, Blocks: []planning.BlockEvidence{
		ended(1, "Spring tides", 2, 20), ended(2, "Neap tides", 1, 20), ended(3, "Tidal range", 0, 0),
	}}
	e.Blocks[2].Block.Status, e.Blocks[2].Block.Reason = topicqueue.BlockFailed, "no source was found"
	r := &planning.Reviewer{Model: d, Draft: true}
	if change != nil {
		change(r, &run, &e)
	}
	return r.Review(d.t.Context(), run, e)
}

func gapsNamed(titles ...string) prompts.ReviewAnswer {
	var a prompts.ReviewAnswer
	for _, title := range titles {
		a.Gaps = append(a.Gaps, prompts.ReviewGap{Title: title, Overview: "Find out.", Queries: []string{title}, Parent: "block_2", Reason: "It is open."})
	}
	return a
}

func TestReview(t *testing.T) {
	t.Parallel()
	gap := func(title, parent string, queries ...string) topicqueue.SubTopic {
		return topicqueue.SubTopic{Title: title, Overview: "Find out.", Queries: queries, Parent: parent, Why: "It is open."}
	}
	both := []string{"block_1", "block_2"}
	for _, tc := range []struct {
		name   string
		answer any
		change func(*planning.Reviewer, *topicqueue.Run, *planning.Evidence)
		want   topicqueue.Review
		asked  int
	}{
		{"nothing is missing", prompts.ReviewAnswer{}, nil, topicqueue.Review{Blocks: both}, 1},
		{"a gap", gapsNamed("Tidal bores"), nil, topicqueue.Review{Gaps: []topicqueue.SubTopic{gap("Tidal bores", "block_2", "Tidal bores")}, Blocks: both}, 1},
		{"what is there, in whatever form, is no gap", gapsNamed("Neap  tides", "", "tides, spring", "Tidal bores", "The tidal bores"), nil,
			topicqueue.Review{Gaps: []topicqueue.SubTopic{gap("Tidal bores", "block_2", "Tidal bores")}, Blocks: both}, 1},
		{"more than three", gapsNamed("Bores", "Amphidromes", "Harbours", "Eclipses"), nil, topicqueue.Review{Gaps: []topicqueue.SubTopic{
			gap("Bores", "block_2", "Bores"), gap("Amphidromes", "block_2", "Amphidromes"), gap("Harbours", "block_2", "Harbours")}, Blocks: both,
			Open: []string{"Eclipses: It is open."}}, 1},
		{"no block may be added, and none is", gapsNamed("Bores"),
			func(_ *planning.Reviewer, _ *topicqueue.Run, e *planning.Evidence) { e.Closed = true },
			topicqueue.Review{Blocks: both, Open: []string{"Bores: It is open."}}, 1},
		{"the queue has room for one", gapsNamed("Bores", "Amphidromes"), func(_ *planning.Reviewer, run *topicqueue.Run, _ *planning.Evidence) { run.Options.QueueMaxLength = 4 },
			topicqueue.Review{Gaps: []topicqueue.SubTopic{gap("Bores", "block_2", "Bores")}, Blocks: both,
				Open: []string{"Amphidromes: It is open."}}, 1},
		{"time for one", gapsNamed("Bores", "Amphidromes"), func(_ *planning.Reviewer, _ *topicqueue.Run, e *planning.Evidence) { e.Room = 1 },
			topicqueue.Review{Gaps: []topicqueue.SubTopic{gap("Bores", "block_2", "Bores")}, Blocks: both,
				Open: []string{"Amphidromes: It is open."}}, 1},
		{"an unknown parent, queries that were asked", prompts.ReviewAnswer{Gaps: []prompts.ReviewGap{{
			Title: "1. Bores", Overview: "Find out.", Queries: []string{"Spring tides how", "when neap tides", "Bores", "bores?"}, Parent: "block_9", Reason: "It is open.",
		}}}, nil, topicqueue.Review{Gaps: []topicqueue.SubTopic{gap("Bores", "", "Bores")}, Blocks: both}, 1},
		{"a full queue is compared", prompts.ReviewAnswer{Open: []string{"Who pays?"}},
			func(_ *planning.Reviewer, run *topicqueue.Run, _ *planning.Evidence) { run.Options.QueueMaxLength = 3 },
			topicqueue.Review{Blocks: both, Open: []string{"Who pays?"}}, 1},
		{"no time", nil, func(_ *planning.Reviewer, _ *topicqueue.Run, e *planning.Evidence) { e.Room = 0 },
			topicqueue.Review{NotDone: "the remaining time is too short for a block"}, 0},
		{"gap blocks without a claim", nil, func(_ *planning.Reviewer, _ *topicqueue.Run, e *planning.Evidence) {
			e.Closed = true
			e.Last = topicqueue.Review{Gaps: []topicqueue.SubTopic{gap("Tidal range", "")}, Blocks: both, Open: []string{"Who pays?"}}
		}, topicqueue.Review{Blocks: both, Open: []string{"Who pays?"}}, 0},
		{"gap blocks with claims", prompts.ReviewAnswer{}, func(_ *planning.Reviewer, _ *topicqueue.Run, e *planning.Evidence) {
			e.Closed = true
			e.Last = topicqueue.Review{Gaps: []topicqueue.SubTopic{gap("Tidal range", "")}, Blocks: both[:1], Open: []string{"Who pays?"}}
		}, topicqueue.Review{Blocks: both}, 1},
		{"what stays open", prompts.ReviewAnswer{Open: []string{" Who  pays? ", ""}}, nil,
			topicqueue.Review{Blocks: both, Open: []string{"Who pays?"}}, 1},
		{"no model", nil, func(r *planning.Reviewer, _ *topicqueue.Run, _ *planning.Evidence) { r.Model = nil }, topicqueue.Review{}, 0},
		{"the model is away", llm.ErrUnavailable, nil, topicqueue.Review{NotDone: "the model server is unavailable"}, 1},
		{"no usable answer", "no JSON", nil, topicqueue.Review{NotDone: "…"}, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.answers["review"] = func(llm.Request) any { return tc.answer }
			got, err := d.review(tc.change)
			if err != nil {
				t.Fatal(err)
			}
			if tc.want.NotDone != "" && tc.asked > 0 && got.NotDone != "" {
				got.NotDone = tc.want.NotDone // whatever the model server said
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if len(d.asked) != tc.asked {
				t.Errorf("%d questions, want %d", len(d.asked), tc.asked)
			}
			for _, req := range d.asked {
				if req.Role != llm.Planner || req.Position.Stage != "reviewing" || !strings.HasPrefix(req.Position.Step, "review") {
					t.Errorf("asked as %s at %+v", req.Role, req.Position)
				}
			}
		})
	}
}

func TestReview_ShowsEvidenceAndTrouble(t *testing.T) {
	t.Parallel()
	size := map[bool]int{}
	for _, draft := range []bool{true, false} {
		d := newDesk(t)
		d.answers["review"] = func(llm.Request) any { return prompts.ReviewAnswer{Draft: "Tides\nrise."} }
		got, err := d.review(func(r *planning.Reviewer, _ *topicqueue.Run, _ *planning.Evidence) { r.Draft = draft })
		if err != nil || got.Draft != "Tides rise." {
			t.Fatal(err)
		}
		user := d.asked[0].Prompt.User
		for _, want := range []string{"Block block_1", "2: 2 x", "Title: Neap tides",
			"Trouble: failed: no source was found", "At most 3 gaps"} {
			if !strings.Contains(user, want) {
				t.Errorf("the question lacks %q:\n%s", want, user)
			}
		}
		size[draft] = len(user)
	}
	if size[true] <= size[false] {
		t.Error("no draft is asked for")
	}
}

// TestReview_SmallWindow: a prompt that is too long is repeated with less of every block. All blocks stay.
func TestReview_SmallWindow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.answers["review"] = func(req llm.Request) any {
		if len(req.Prompt.User) > 8_000 {
			return fmt.Errorf("too long: %w", llm.ErrContextLength)
		}
		return gapsNamed("Bores")
	}
	review, err := d.review(func(_ *planning.Reviewer, run *topicqueue.Run, e *planning.Evidence) {
		run.Options.QueueMaxLength = 10
		e.Blocks = nil
		for n := range 5 {
			e.Blocks = append(e.Blocks, ended(n+1, fmt.Sprintf("Tide of port %d", n+1), 60, 200))
		}
	})
	if err != nil || len(review.Gaps) != 1 {
		t.Fatalf("%+v, %v", review, err)
	}
	last := len(d.asked[0].Prompt.User) + 1
	for i, req := range d.asked {
		user := req.Prompt.User
		if len(user) >= last || req.Position.Ordinal != i {
			t.Errorf("question %d at %d has %d bytes after %d", i+1, req.Position.Ordinal, len(user), last)
		}
		last = len(user)
		for n := range 5 {
			if first := fmt.Sprintf("\n%d: 1 x", 60*n+1); !strings.Contains(user, first) {
				t.Errorf("question %d lacks %q", i+1, first)
			}
		}
		left := fmt.Sprintf("(%d more, not shown)", 60-60>>i)
		if strings.Count(user, "x\n") != 5*(60>>i) || i > 0 && strings.Count(user, left) != 5 {
			t.Errorf("question %d shows %d of 300 claims and does not say %q", i+1, strings.Count(user, "x\n"), left)
		}
	}
}

// TestReview_Contradictions: a review refers to claims of any blocks by their numbers.
func TestReview_Contradictions(t *testing.T) {
	t.Parallel()
	block := func(n int, texts ...string) planning.BlockEvidence { // each claim of a source of its own
		b := ended(n, fmt.Sprintf("Block %d", n), 0, 0)
		for i, text := range texts {
			source := fmt.Sprintf("Paper %d.%d", n, i+1)
			cite := topicqueue.BlockCitationID(n, i+1)
			b.Traces = append(b.Traces, topicqueue.ToolTrace{CitationID: cite, Source: topicqueue.Source{ID: source,
				Title: source, URL: "https://" + cite + ".example", Date: "2025"},
				Claims: []topicqueue.Claim{{ID: cite + ".1", CitationID: cite, Text: text}}})
		}
		return b
	}
	blocks := []planning.BlockEvidence{
		block(1, "The harbour of Aberfoyle has 4 cranes.", "Five cranes stand on the quays of Aberfoyle.",
			"The quay of Aberfoyle is 900 m long."),
		block(2, "Aberfoyle harbour counts 6 cranes.", "The harbour master came in 1911."),
	}
	blocks[1].Traces[1].Source = blocks[1].Traces[0].Source
	d := newDesk(t)
	d.answers["review"] = func(llm.Request) any {
		return prompts.ReviewAnswer{Contradictions: []prompts.ReviewedPair{
			{A: 1, B: 2, Why: " Only one counts the\nmobile crane. "}, {A: 4, B: 1, Why: "Other years."},
			// within a block, between blocks
			{A: 2, B: 1, Why: "again"}, {A: 4, B: 5, Why: "one source"}, {A: 3, B: 3}, {A: 0, B: 1}, {A: 1, B: 6},
		}}
	}
	review, err := d.review(func(_ *planning.Reviewer, _ *topicqueue.Run, e *planning.Evidence) { e.Blocks = blocks })
	if err != nil {
		t.Fatal(err)
	}
	want := []topicqueue.Contradiction{
		{A: "CIT-1-01.1", B: "CIT-1-02.1", Why: "Only one counts the mobile crane."}, {A: "CIT-2-01.1", B: "CIT-1-01.1",
			Why: "Other years."},
	}
	if diff := cmp.Diff(want, review.Contradictions); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{"Source: Paper 1.2, https://CIT-1-02.example (2025)\n2: Five cranes",
		"4: Aberfoyle harbour counts",
		"\n5: The harbour master"} {
		if !strings.Contains(d.asked[0].Prompt.User, part) {
			t.Errorf("the question lacks %q:\n%s", part, d.asked[0].Prompt.User)
		}
	}
}

// A quote noted by several blocks is shown once. The claims keep their numbers.
func TestReview_OneQuoteOnce(t *testing.T) {
	t.Parallel()
	first, second := ended(1, "Spring tides", 2, 10), ended(2, "Neap tides", 2, 12)
	second.Traces = append(first.Traces[:1:1], second.Traces...)
	for _, trace := range first.Traces {
		for i := range trace.Claims {
			trace.Claims[i].Quote = trace.Claims[i].Text
		}
	}
	d := newDesk(t)
	d.answers["review"] = func(llm.Request) any { return prompts.ReviewAnswer{} }
	blocks := []planning.BlockEvidence{first, second}
	change := func(_ *planning.Reviewer, _ *topicqueue.Run, e *planning.Evidence) { e.Blocks = blocks }
	if _, err := d.review(change); err != nil {
		t.Fatal(err)
	}
	user := d.asked[0].Prompt.User
	if n := strings.Count(user, ": "+first.Traces[0].Claims[0].Text+"\n"); n != 1 {
		t.Errorf("%d times:\n%s", n, user)
	}
}

func TestReview_End(t *testing.T) {
	t.Parallel()
	cause := errors.New("the worker is stopping")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	d := newDesk(t)
	e := planning.Evidence{Room: -1, Blocks: []planning.BlockEvidence{ended(1, "Spring tides", 1, 10)}}
	run := d.run
	run.Options.QueueMaxLength = 6
	if got, err := (&planning.Reviewer{Model: d}).Review(ctx, run, e); !errors.Is(err, cause) || got.NotDone != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	took := func(status topicqueue.BlockStatus, d time.Duration) topicqueue.Block {
		return topicqueue.Block{Status: status, BeganAt: start, UpdatedAt: start.Add(d)}
	}
	blocks := []topicqueue.Block{
		took(topicqueue.BlockCompleted, 2*time.Minute), took(topicqueue.BlockCompleted, 9*time.Minute), took(topicqueue.BlockCompleted, 4*time.Minute),
		took(topicqueue.BlockFailed, time.Second), {Status: topicqueue.BlockFailed, UpdatedAt: start}, // never begun
	}
	for _, tc := range []struct {
		blocks   []topicqueue.Block
		left     time.Duration
		parallel int
		want     int
	}{
		{blocks, -1, 5, -1}, {blocks, 0, 5, 0}, {blocks, 4*time.Minute - 1, 5, 0}, {blocks, 4 * time.Minute, 5, 5}, {blocks, 9 * time.Minute, 1, 2},
		{blocks[3:], time.Minute, 5, -1},
	} {
		if got := planning.Room(tc.blocks, tc.left, tc.parallel); got != tc.want {
			t.Errorf("%d blocks, %s left, %d at once: %d, want %d", len(tc.blocks), tc.left, tc.parallel, got, tc.want)
		}
	}
}
