package redisqueue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// TestStreamsOfRandomRuns: streams are valid at all times, whatever attempts do, yield, repeat and leave unfinished,
// and whenever the run is cancelled.
func TestStreamsOfRandomRuns(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		q := redisqueue.New(rdb, redisqueue.DefaultTiming)
		for seed := range scaletest.Of[uint64](10, 30) {
			r := &randomRun{t: t, q: q, rng: rand.New(rand.NewPCG(seed, 1)), run: newRun(fmt.Sprint("random ", seed), 1+int(seed%3)), stream: eventtest.New()}
			if _, err := q.Create(t.Context(), r.run); err != nil {
				t.Fatal(err)
			}
			r.attempt(t.Context(), redisqueue.Intent{RunID: r.run.ID, Unit: redisqueue.UnitPlan, Generation: 1})
			r.read()
			for n := 0; !r.ended; n++ {
				if n == 500 {
					t.Fatalf("seed %d: the run does not end", seed)
				}
				for _, i := range must[redisqueue.Swept](t)(q.Sweep(t.Context(), r.run.ID, false)).Intents {
					r.attempt(t.Context(), i)
				}
				r.read()
			}
			if faults := r.stream.End(); len(faults) > 0 {
				t.Errorf("seed %d: %q", seed, faults)
			}
		}
	})
}

// randomRun is a run with random actions.
type randomRun struct {
	t      *testing.T
	q      *redisqueue.Queue
	rng    *rand.Rand
	run    topicqueue.Run
	stream *eventtest.Stream
	seq    int64
	ended  bool
}

func (r *randomRun) read() {
	for _, e := range must[[]topicqueue.Event](r.t)(r.q.Events(r.t.Context(), r.run.ID, r.seq, 0)) {
		r.seq = e.Seq
		r.ended = r.ended || e.Status == topicqueue.StatusComplete
		if faults := r.stream.Next(e); len(faults) > 0 {
			r.t.Fatalf("%s: %q", r.run.Topic, faults)
		}
	}
}

// attempt works on a unit until it has ended or a random event stops it.
func (r *randomRun) attempt(ctx context.Context, i redisqueue.Intent) {
	b, err := r.q.Begin(ctx, i.RunID, i.Unit, i.Generation)
	if errors.Is(err, redisqueue.ErrStale) {
		return // cancelled meanwhile
	}
	if err != nil {
		r.t.Fatal(err)
	}
	for _, act := range r.acts(b) {
		if r.rng.IntN(60) == 0 { // a person cancels it
			must[[]redisqueue.Intent](r.t)(r.q.Cancel(ctx, r.run.ID, "no longer needed", r.rng.IntN(2) == 0))
			r.read()
		}
		if r.rng.IntN(8) == 0 { // its worker is stopped
			if _, err := r.q.Yield(ctx, b.Lease); err != nil && !errors.Is(err, redisqueue.ErrFenced) {
				r.t.Fatal(err)
			}
			return
		}
		for range 1 + r.rng.IntN(2) { // a reply may be lost
			if err := act(ctx); errors.Is(err, redisqueue.ErrFenced) {
				return // it has ended
			} else if err != nil {
				r.t.Fatal(err)
			}
		}
		r.read()
	}
}

// acts returns the actions of an attempt at this unit, in order.
func (r *randomRun) acts(b redisqueue.Begun) []func(context.Context) error {
	emit := func(events ...topicqueue.Event) func(context.Context) error {
		return func(ctx context.Context) error { return r.q.Emit(ctx, b.Lease, events...) }
	}
	step := func(ways ...string) func(context.Context) error {
		return emit(topicqueue.StepEvent(ways[r.rng.IntN(len(ways))], ""))
	}
	finish := func(state topicqueue.RunState, events ...topicqueue.Event) func(context.Context) error {
		return func(ctx context.Context) error {
			_, err := r.q.Finish(ctx, b.Lease, redisqueue.Outcome{State: state, Reason: "chance", Events: events})
			return err
		}
	}
	switch b.Lease.Unit {
	case redisqueue.UnitPlan:
		acts := []func(context.Context) error{
			step(topicqueue.StepStartQueryRewriter), step(topicqueue.StepEndQueryRewriter, topicqueue.StepEndQueryRewriterNoFeedback),
			step(topicqueue.StepStartSearchBackground), step(topicqueue.StepEndSearchBackground, topicqueue.StepFailSearchBackground),
			step(topicqueue.StepStartResearchPlanner),
		}
		if r.rng.IntN(10) == 0 {
			return append(acts[:r.rng.IntN(len(acts)+1)], finish(topicqueue.RunFailed))
		}
		return append(acts, func(ctx context.Context) error {
			_, err := r.q.CommitPlan(ctx, b.Lease, planOf([]string{"Moon", "Sun", "Coasts", "Rivers"}[:1+r.rng.IntN(4)]...))
			return err
		})
	case redisqueue.UnitReport:
		blocks := must[[]topicqueue.Block](r.t)(r.q.Blocks(r.t.Context(), r.run.ID))
		if !slices.ContainsFunc(blocks, func(b topicqueue.Block) bool { return b.Status == topicqueue.BlockCompleted }) {
			return []func(context.Context) error{finish(topicqueue.RunFailed)} // there is nothing to write about
		}
		if r.rng.IntN(5) == 0 {
			return []func(context.Context) error{step(topicqueue.StepStartAuthor), finish(topicqueue.RunFailed)}
		}
		return []func(context.Context) error{step(topicqueue.StepStartAuthor), finish(topicqueue.RunPartial,
			topicqueue.StepEvent(topicqueue.StepEndAuthor, ""),
			topicqueue.NewEvent("report", topicqueue.StatusReport, topicqueue.ReportFile{Report: "x.md"}))}
	}
	return r.block(b, emit)
}

func (r *randomRun) block(b redisqueue.Begun, emit func(...topicqueue.Event) func(context.Context) error) []func(context.Context) error {
	var acts []func(context.Context) error
	n, view := b.Block.Number(), b.View
	for k := b.Block.Iterations + 1; k <= 3; k++ {
		cp := topicqueue.Checkpoint{Iteration: k}
		for call := range r.rng.IntN(4) {
			e := topicqueue.NewEvent(fmt.Sprintf("block_%d/%d/reference/%d", n, k, call), topicqueue.StatusReference, topicqueue.Reference{
				QuestionID: n, References: map[string]string{fmt.Sprintf("https://host%d.example/%d", r.rng.IntN(5), k): "x"}})
			e.Placement.Call = call
			cp.Events = append(cp.Events, e)
		}
		if r.rng.IntN(4) == 0 {
			cp.Proposals = []topicqueue.SubTopic{{Title: fmt.Sprintf("Found%d by%d", k, n)}}
		}
		acts = append(acts, emit(thought(n, k)), func(ctx context.Context) error {
			result, _, err := r.q.Checkpoint(ctx, b.Lease, cp, view, 8)
			view = result.View
			return err
		})
	}
	status, reason := topicqueue.BlockCompleted, ""
	if r.rng.IntN(4) == 0 {
		status, reason = topicqueue.BlockFailed, "nothing was found"
	}
	return append(acts, func(ctx context.Context) error {
		_, err := r.q.EndBlock(ctx, b.Lease, status, reason, nil, "")
		return err
	})
}
