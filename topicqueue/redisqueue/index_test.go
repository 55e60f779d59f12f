package redisqueue_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/eventtest"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

var hasty = redisqueue.Timing{Lease: 40 * time.Millisecond, Stuck: 20 * time.Millisecond, Gap: time.Hour, Quiet: 0}

// lapse waits until Redis has seen a lease end: its clock is the one that counts.
func lapse(t *testing.T, rdb *redis.Client, d time.Duration) {
	t.Helper()
	start, err := rdb.Time(t.Context()).Result()
	if err != nil {
		t.Fatal(err)
	}
	for {
		now, err := rdb.Time(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		if now.Sub(start) > d {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func TestSweepGivesLapsedWorkToTheNextGeneration(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, hasty)
		run := newRun("lakes", 2)
		planned(t, q, run, "Constance", "Geneva", "Garda")
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 1))
		if got, want := swept(t, q, run, false), []redisqueue.Intent{{run.ID, "block_2", 1, ""}}; !cmp.Equal(want, got) {
			t.Errorf("while block_1 is worked, wants %v, want %v", got, want)
		}
		lapse(t, rdb, hasty.Lease)
		if got, want := swept(t, q, run, false), []redisqueue.Intent{{run.ID, "block_2", 1, ""}}; !cmp.Equal(want, got) {
			t.Errorf("in the quiet time after a gap, wants %v, want %v", got, want)
		}
		got := swept(t, q, run, true)
		if want := []redisqueue.Intent{{run.ID, "block_1", 2, ""}, {run.ID, "block_2", 1, ""}}; !cmp.Equal(want, got) {
			t.Errorf("after the lease, wants %v, want %v", got, want)
		}
		if _, err := q.EndBlock(ctx, b.Lease, topicqueue.BlockCompleted, "", nil); !errors.Is(err, redisqueue.ErrFenced) {
			t.Errorf("end by the dead attempt: %v, want ErrFenced", err)
		}
		second := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 2))
		if _, err := q.EndBlock(ctx, second.Lease, topicqueue.BlockCompleted, "", nil); err != nil {
			t.Error(err)
		}
	})
}

func TestPoisonBlockEndsAndTheRunGoesOn(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, hasty)
		run := newRun("volcanoes", 2)
		planned(t, q, run, "Etna", "Hekla")
		other := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_2", 1))
		if _, err := q.EndBlock(ctx, other.Lease, topicqueue.BlockCompleted, "", nil); err != nil {
			t.Fatal(err)
		}
		view := topicqueue.View{Blocks: []topicqueue.BlockTitle{{ID: "block_1"}, {ID: "block_2"}}}
		generation := 1
		die := func(checkpoint int) []redisqueue.Intent {
			t.Helper()
			b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", generation))
			if checkpoint > 0 {
				if _, _, err := q.Checkpoint(ctx, b.Lease, topicqueue.Checkpoint{Iteration: checkpoint}, view, 8); err != nil {
					t.Fatal(err)
				}
			}
			lapse(t, rdb, hasty.Lease)
			generation++
			return swept(t, q, run, true)
		}
		die(0)
		die(0)
		die(1) // progress: what came before no longer counts
		for range redisqueue.MaxLapses - 2 {
			if got := die(0); len(got) != 1 || got[0].Unit != "block_1" {
				t.Fatalf("generation %d wants %v, want block_1 again", generation, got)
			}
		}
		got := die(0)
		if want := []redisqueue.Intent{{run.ID, "report", 1, ""}}; !cmp.Equal(want, got) {
			t.Errorf("after %d lapses wants %v, want the report", redisqueue.MaxLapses, got)
		}
		blocks := must[[]topicqueue.Block](t)(q.Blocks(ctx, run.ID))
		if blocks[0].Status != topicqueue.BlockFailed || !strings.Contains(blocks[0].Reason, "without any progress") {
			t.Errorf("the block is %s (%s), want FAILED", blocks[0].Status, blocks[0].Reason)
		}
	})
}

func TestPoisonPlanFailsTheRun(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, hasty)
		run := newRun("comets", 2)
		if _, err := q.Create(ctx, run); err != nil {
			t.Fatal(err)
		}
		fed(t, q, run)
		for g := range redisqueue.MaxLapses {
			must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPlan, g+1))
			lapse(t, rdb, hasty.Lease)
			swept(t, q, run, true)
		}
		got := must[topicqueue.Run](t)(q.Run(ctx, run.ID))
		if got.State != topicqueue.RunFailed || !strings.Contains(got.Reason, "planning") {
			t.Errorf("state %s (%s), want failed", got.State, got.Reason)
		}
		eventtest.Check(t, must[[]topicqueue.Event](t)(q.Events(ctx, run.ID, 0, 0)))
	})
}

func TestDueRuns(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		timing := hasty
		timing.Gap, timing.Quiet = 10*time.Second, time.Hour
		ctx, q := t.Context(), redisqueue.New(rdb, timing)
		run := newRun("meteors", 1)
		if _, err := q.Create(ctx, run); err != nil {
			t.Fatal(err)
		}
		due := func() ([]string, bool) {
			t.Helper()
			runs, takeover, err := q.Due(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return runs, takeover
		}
		if runs, _ := due(); len(runs) != 0 {
			t.Errorf("a run that waits is due: %v", runs)
		}
		if runs := must[[]string](t)(q.Feed(ctx, "", 1)); !cmp.Equal(runs, []string{run.ID}) {
			t.Errorf("fed %v", runs)
		}
		waitDue(ctx, t, q, run.ID)
		if runs, takeover := due(); len(runs) != 0 || takeover {
			t.Errorf("a run that was due is due again at once (%v), or leases may be taken after a gap: %v", runs, takeover)
		}
		intents := swept(t, q, run, true)
		if want := []redisqueue.Intent{{run.ID, "plan", 1, ""}}; !cmp.Equal(want, intents) {
			t.Errorf("wants %v, want %v", intents, want)
		}
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPlan, 1))
		waitDue(ctx, t, q, run.ID) // planning has brought the next check forward
		must[[]redisqueue.Intent](t)(q.Finish(ctx, b.Lease, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: "x"}))
		intents = swept(t, q, run, true)
		if want := []redisqueue.Intent{{run.ID, "publish", 1, ""}}; !cmp.Equal(want, intents) {
			t.Errorf("an ended run wants %v, want %v", intents, want)
		}
		b = must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPublish, 1))
		if err := q.Published(ctx, b.Lease, b.Run, time.Hour); err != nil {
			t.Fatal(err)
		}
		if n := rdb.ZCard(ctx, "nightdesk:{index}:runs").Val(); n != 0 {
			t.Errorf("%d runs in the index, want none", n)
		}
	})
}

func waitDue(ctx context.Context, t *testing.T, q *redisqueue.Queue, runID string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		runs, _, err := q.Due(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if len(runs) == 1 && runs[0] == runID {
			return
		}
	}
	t.Fatal("the run is never due")
}

func TestAdvancePastDeadTasks(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, hasty)
		run := newRun("dunes", 1)
		planned(t, q, run, "Sand")
		i := redisqueue.Intent{RunID: run.ID, Unit: "block_1", Generation: 1}
		if got := must[[]redisqueue.Intent](t)(q.Advance(ctx, i, true)); len(got) != 0 {
			t.Errorf("an active task that may still begin: %v", got)
		}
		lapse(t, rdb, hasty.Stuck)
		if got, want := must[[]redisqueue.Intent](t)(q.Advance(ctx, i, true)), []redisqueue.Intent{{run.ID, "block_1", 2, ""}}; !cmp.Equal(want, got) {
			t.Errorf("an active task that began nothing: %v, want %v", got, want)
		}
		if got := must[[]redisqueue.Intent](t)(q.Advance(ctx, i, false)); len(got) != 0 {
			t.Errorf("of an old generation: %v", got)
		}
		must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 2))
		i.Generation = 2
		if got := must[[]redisqueue.Intent](t)(q.Advance(ctx, i, false)); len(got) != 0 {
			t.Errorf("of work that has begun: %v", got)
		}
	})
}
