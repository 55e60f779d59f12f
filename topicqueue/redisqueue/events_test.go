package redisqueue_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// referenceOf returns an event that names a source.
func referenceOf(block, call int, key string) topicqueue.Event {
	e := topicqueue.NewEvent(fmt.Sprintf("block_%d/1/reference/%d", block, call), topicqueue.StatusReference,
		topicqueue.Reference{QuestionID: block, References: map[string]string{key: "x"}})
	e.Placement.Call = call
	return e
}

func thought(block, iteration int) topicqueue.Event {
	return topicqueue.NewEvent(fmt.Sprintf("block_%d/%d/thought", block, iteration), topicqueue.StatusThought, topicqueue.Thought{QuestionID: block, Thought: "hm"})
}

// TestPlacement: the scripts assign waves, lanes, steps and calls, whichever attempt sends the events.
func TestPlacement(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		run := newRun("placement", 2)
		planned(t, q, run, "One", "Two")
		b1 := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
		b2 := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_2", 1))
		checkpoint := func(b redisqueue.Begun, events ...topicqueue.Event) {
			t.Helper()
			if _, _, err := q.Checkpoint(ctx, b.Lease, topicqueue.Checkpoint{Iteration: 1, Events: events}, b.View, 8); err != nil {
				t.Fatal(err)
			}
		}
		emit := func(b redisqueue.Begun, e topicqueue.Event) {
			t.Helper()
			if err := q.Emit(ctx, b.Lease, e); err != nil {
				t.Fatal(err)
			}
		}
		emit(b1, thought(1, 1))
		emit(b2, thought(2, 1))
		checkpoint(b2, referenceOf(2, 0, "https://a.example/1"), referenceOf(2, 1, "https://A.example/2"), referenceOf(2, 2, "handbook.pdf"))
		checkpoint(b2, referenceOf(2, 0, "https://never.example")) // done before: its reply was lost
		must[[]redisqueue.Intent](t)(q.Yield(ctx, b1.Lease))
		b1 = must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 2))
		emit(b1, thought(1, 1)) // a replay repeats nothing
		checkpoint(b1, referenceOf(1, 0, "https://b.example"))
		must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b2.Lease, topicqueue.BlockCompleted, "", nil, ""))
		must[[]redisqueue.Intent](t)(q.EndBlock(ctx, b1.Lease, topicqueue.BlockFailed, "why", nil, ""))
		rep := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReport, 1))
		emit(rep, topicqueue.StepEvent(topicqueue.StepStartAuthor, ""))
		must[[]redisqueue.Intent](t)(q.Finish(ctx, rep.Lease, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: "the disk is full"}))
		events := must[[]topicqueue.Event](t)(q.Events(ctx, run.ID, 0, 0))
		eventtest.Check(t, events)
		var got []string
		for _, e := range events[9:] {
			p := e.Placement
			got = append(got, fmt.Sprintf("%d.%d.%d.%d/%d %s", p.Wave, p.Lane, p.Step, p.Call, e.Attempt, e.Status))
		}
		want := []string{
			"1.1.0.0/1 thought_status", "1.2.0.0/1 thought_status",
			"1.2.1.0/1 reference", "1.2.1.1/1 reference", "1.2.1.2/1 reference",
			"1.1.1.0/2 reference",
			"1.2.2.0/1 ir_question_done", "1.0.2.0/1 ir_progress",
			"1.1.2.0/2 ir_question_done", "1.1.3.0/2 pipeline_step", "1.0.3.0/2 ir_progress",
			"2.0.0.0/1 pipeline_step", "2.0.1.0/1 pipeline_step", "2.0.2.0/1 summary_statistics", "2.0.3.0/1 complete",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if !strings.HasSuffix(string(events[len(events)-2].Content), `,"website_num":2}`) {
			t.Errorf("statistics %s, want two hosts", events[len(events)-2].Content)
		}
	})
}

// TestPlanThatFails: if planning ends at any step, its stream is that of a failed planner.
func TestPlanThatFails(t *testing.T) {
	t.Parallel()
	steps := []string{topicqueue.StepStartQueryRewriter, topicqueue.StepEndQueryRewriter, topicqueue.StepStartSearchBackground,
		topicqueue.StepFailSearchBackground, topicqueue.StepStartResearchPlanner}
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		for n := range len(steps) + 1 {
			run := newRun(fmt.Sprint("plan ", n), 2)
			if _, err := q.Create(ctx, run); err != nil {
				t.Fatal(err)
			}
			b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPlan, 1))
			for _, step := range steps[:n] {
				if err := q.Emit(ctx, b.Lease, topicqueue.StepEvent(step, "")); err != nil {
					t.Fatal(err)
				}
			}
			must[[]redisqueue.Intent](t)(q.Finish(ctx, b.Lease, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: "no model"}))
			events := must[[]topicqueue.Event](t)(q.Events(ctx, run.ID, 0, 0))
			eventtest.Check(t, events)
			if want := 8; len(events) != want {
				t.Errorf("after %d steps: %d events, want %d", n, len(events), want)
			}
		}
	})
}

// TestGaps: a reader gets a gap for events that are no longer stored, and continues after it.
func TestGaps(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		run := newRun("gaps", 1)
		planned(t, q, run, "One")
		stream, all := "nightdesk:{"+run.ID+"}:events", must[[]topicqueue.Event](t)(q.Events(ctx, run.ID, 0, 0))
		last := all[len(all)-1].Seq
		gap := func(seq int64, want topicqueue.Gap) {
			t.Helper()
			events, err := q.Events(ctx, run.ID, seq, time.Minute)
			var g *topicqueue.Gap
			want.RunID = run.ID
			if !errors.As(err, &g) || *g != want || len(events) > 0 {
				t.Fatalf("after %d: %d events, %v; want %+v", seq, len(events), err, want)
			}
			if e := g.Event(created); e.Seq != want.To || e.Status != topicqueue.StatusGap || e.RunID != run.ID {
				t.Errorf("as a message: %+v", e)
			}
		}
		if err := rdb.XTrimMaxLen(ctx, stream, 3).Err(); err != nil {
			t.Fatal(err)
		}
		gap(0, topicqueue.Gap{From: 1, To: last - 3})
		if cut := must[[]topicqueue.Event](t)(q.AllEvents(ctx, run.ID, created)); len(cut) != 4 || cut[0].Status != topicqueue.StatusGap {
			t.Errorf("all events of a cut stream: %s", eventtest.Lines(cut))
		}
		gap(2, topicqueue.Gap{From: 3, To: last - 3})
		if diff := cmp.Diff(all[last-3:], must[[]topicqueue.Event](t)(q.Events(ctx, run.ID, last-3, 0))); diff != "" {
			t.Errorf("after the gap: %s", diff)
		}
		gap(last+5, topicqueue.Gap{From: last + 6, To: last})
		if err := rdb.Del(ctx, stream).Err(); err != nil {
			t.Fatal(err)
		}
		gap(1, topicqueue.Gap{From: 2, To: last})
		if events, err := q.Events(ctx, run.ID, last, 0); err != nil || len(events) > 0 {
			t.Errorf("after the last: %v, %v", events, err)
		}
		if _, err := q.Events(ctx, "research_none", 0, time.Minute); !errors.Is(err, redisqueue.ErrNotFound) {
			t.Errorf("events of no run: %v", err)
		}
	})
}

// TestRunawayStream: a stream is bounded, and its numbers continue.
func TestRunawayStream(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	ctx, rdb, patient := t.Context(), redistest.InProcess(t), redisqueue.DefaultTiming
	patient.Lease = time.Hour
	q := redisqueue.New(rdb, patient)
	run := newRun("runaway", 1)
	planned(t, q, run, "One")
	b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
	many := make([]topicqueue.Event, 500)
	for i := range many {
		many[i] = topicqueue.NewEvent("", topicqueue.StatusThought, topicqueue.Thought{QuestionID: 1, Thought: "again"})
	}
	for range 25 {
		if err := q.Emit(ctx, b.Lease, many...); err != nil {
			t.Fatal(err)
		}
	}
	var g *topicqueue.Gap
	if _, err := q.Events(ctx, run.ID, 0, 0); !errors.As(err, &g) {
		t.Fatalf("read from the begin: %v", err)
	}
	kept := rdb.XLen(ctx, "nightdesk:{"+run.ID+"}:events").Val()
	if seq := rdb.HGet(ctx, "nightdesk:{"+run.ID+"}:run", "seq").Val(); kept > 10_200 || kept < 10_000 || fmt.Sprint(g.To+kept) != seq {
		t.Errorf("%d events kept, %d missing, the last is %s", kept, g.To, seq)
	}
}
