package redisqueue_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
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

var hasty = redisqueue.Timing{Lease: 40 * time.Millisecond, Stuck: 20 * time.Millisecond, Gap: time.Hour, Quiet: 0}

// lapse waits until a lease has expired by Redis's clock.
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
		if got, want := swept(t, q, run, false), []redisqueue.Intent{task(run, "block_2", 1)}; !sameTasks(want, got) {
			t.Errorf("while block_1 is worked, wants %v, want %v", got, want)
		}
		lapse(t, rdb, hasty.Lease)
		if got, want := swept(t, q, run, false), []redisqueue.Intent{task(run, "block_2", 1)}; !sameTasks(want, got) {
			t.Errorf("in the quiet time after a gap, wants %v, want %v", got, want)
		}
		got := swept(t, q, run, true)
		if want := []redisqueue.Intent{task(run, "block_1", 2), task(run, "block_2", 1)}; !sameTasks(want, got) {
			t.Errorf("after the lease, wants %v, want %v", got, want)
		}
		if _, err := q.EndBlock(ctx, b.Lease, topicqueue.BlockCompleted, "", nil, ""); !errors.Is(err, redisqueue.ErrFenced) {
			t.Errorf("end by the dead attempt: %v, want ErrFenced", err)
		}
		second := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, "block_1", 2))
		if _, err := q.EndBlock(ctx, second.Lease, topicqueue.BlockCompleted, "", nil, ""); err != nil {
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
		if _, err := q.EndBlock(ctx, other.Lease, topicqueue.BlockCompleted, "", nil, ""); err != nil {
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
		if want := []redisqueue.Intent{task(run, "report", 1)}; !sameTasks(want, got) {
			t.Errorf("after %d lapses wants %v, want the report", redisqueue.MaxLapses, got)
		}
		blocks := must[[]topicqueue.Block](t)(q.Blocks(ctx, run.ID))
		if blocks[0].Status != topicqueue.BlockFailed || blocks[0].Reason == "" {
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
		if check := rdb.ZScore(ctx, "nightdesk:{index}:runs", run.ID).Val(); !math.IsInf(check, 1) {
			t.Errorf("a run that waits is looked at at %v, want never", check)
		}
		if runs := must[[]string](t)(q.Feed(ctx, "", 1, 0)); !cmp.Equal(runs, []string{run.ID}) {
			t.Errorf("fed %v", runs)
		}
		waitDue(ctx, t, q, run.ID)
		if runs, takeover := due(); len(runs) != 0 || takeover {
			t.Errorf("a run that was due is due again at once (%v), or leases may be taken after a gap: %v", runs, takeover)
		}
		intents := swept(t, q, run, true)
		if want := []redisqueue.Intent{task(run, "plan", 1)}; !sameTasks(want, intents) {
			t.Errorf("wants %v, want %v", intents, want)
		}
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPlan, 1))
		waitDue(ctx, t, q, run.ID) // planning has brought the next check forward
		must[[]redisqueue.Intent](t)(q.Finish(ctx, b.Lease, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: "x"}))
		intents = swept(t, q, run, true)
		if want := []redisqueue.Intent{task(run, "publish", 1)}; !sameTasks(want, intents) {
			t.Errorf("an ended run wants %v, want %v", intents, want)
		}
		b = must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPublish, 1))
		if err := q.Published(ctx, b.Lease, b.Run, time.Hour); err != nil {
			t.Fatal(err)
		}
		waitDue(ctx, t, q, run.ID)
		if got := swept(t, q, run, true); len(got) != 0 {
			t.Errorf("a published run wants %v", got)
		}
		if n := rdb.ZCard(ctx, "nightdesk:{index}:runs").Val() + rdb.ZCard(ctx, "nightdesk:{index}:ended").Val() + rdb.HLen(ctx, "nightdesk:{index}:states").Val(); n != 0 {
			t.Errorf("%d entries of the run in the index, want none", n)
		}
	})
}

func waitDue(ctx context.Context, t *testing.T, q *redisqueue.Queue, runID string) {
	t.Helper()
	for deadline := time.Now().Add(scaletest.Patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
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
		if got, want := must[[]redisqueue.Intent](t)(q.Advance(ctx, i, true)), []redisqueue.Intent{task(run, "block_1", 2)}; !sameTasks(want, got) {
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

// TestIndexKeepsWhatWasAnnouncedMeanwhile: between the check of a run by a sweep and its update of the index, other
// changes of the index are kept.
func TestIndexKeepsWhatWasAnnouncedMeanwhile(t *testing.T) {
	t.Parallel()
	type deed func(ctx context.Context, t *testing.T, q *redisqueue.Queue, run topicqueue.Run)
	for name, test := range map[string]struct{ before, meanwhile deed }{
		"resume": {
			func(ctx context.Context, t *testing.T, q *redisqueue.Queue, run topicqueue.Run) {
				planned(t, q, run, "Salt")
				if err := q.Pause(ctx, run.ID); err != nil {
					t.Fatal(err)
				}
			},
			func(ctx context.Context, t *testing.T, q *redisqueue.Queue, run topicqueue.Run) {
				must[[]redisqueue.Intent](t)(q.Resume(ctx, run.ID))
			},
		},
		"retry": {
			func(ctx context.Context, t *testing.T, q *redisqueue.Queue, run topicqueue.Run) {
				planned(t, q, run, "Salt")
				must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "a person did", false))
				b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPublish, 1))
				if err := q.Published(ctx, b.Lease, b.Run, time.Hour); err != nil {
					t.Fatal(err)
				}
			},
			func(ctx context.Context, t *testing.T, q *redisqueue.Queue, run topicqueue.Run) {
				must[[]redisqueue.Intent](t)(q.Retry(ctx, run.ID, redisqueue.RetryBlocks, 2))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
				ctx, run := t.Context(), newRun("lagoons", 1)
				timing := hasty
				timing.Lease = 4 * time.Second
				q := redisqueue.New(rdb, timing)
				test.before(ctx, t, q, run)
				rdb.ZAdd(ctx, "nightdesk:{index}:runs", redis.Z{Member: run.ID}) // it is due now
				if runs, _, err := q.Due(ctx); err != nil || len(runs) != 1 {
					t.Fatalf("due: %v, %v", runs, err)
				}
				slow := redis.NewClient(rdb.Options())
				defer slow.Close()
				slow.AddHook(beforeNote(func() { test.meanwhile(ctx, t, q, run) }))
				if _, err := redisqueue.New(slow, timing).Sweep(ctx, run.ID, true); err != nil {
					t.Fatal(err)
				}
				check, err := rdb.ZScore(ctx, "nightdesk:{index}:runs", run.ID).Result()
				if errors.Is(err, redis.Nil) {
					check, err = rdb.ZScore(ctx, "nightdesk:{index}:ended", run.ID).Result()
				}
				if now := rdb.Time(ctx).Val(); err != nil || check > float64(now.Add(timing.Lease).UnixMilli()) {
					t.Errorf("the run is looked at again at %v (%v), want soon", check, err)
				}
			})
		})
	}
}

// beforeNote returns a hook that calls do once, before the first script on the index.
func beforeNote(do func()) redis.Hook { return &noteHook{do: sync.OnceFunc(do)} }

type noteHook struct {
	resent
	do func()
}

func (h *noteHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if args := cmd.Args(); len(args) > 3 && args[3] == "nightdesk:{index}:runs" {
			h.do()
		}
		return next(ctx, cmd)
	}
}

// TestCountsOfEndedRuns: an ended run is counted once, whatever calls follow.
func TestCountsOfEndedRuns(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, hasty), newRun("deltas", 1)
		planned(t, q, run, "Silt")
		for range 2 {
			must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "a person did", false))
			if b, err := q.Begin(ctx, run.ID, redisqueue.UnitPublish, 1); err == nil {
				if err := q.Published(ctx, b.Lease, b.Run, time.Hour); err != nil {
					t.Fatal(err)
				}
			}
			waitDue(ctx, t, q, run.ID)
			swept(t, q, run, true)
		}
		stats := rdb.HGetAll(ctx, "nightdesk:{index}:stats").Val()
		if stats["ended:cancelled"] != "1" || stats["state:cancelled"] != "0" {
			t.Errorf("counts %v, want one cancelled, and none that still is", stats)
		}
	})
}

// TestLineOfALatePublisher: the stored line of an expired run has the outcome of its last epoch.
func TestLineOfALatePublisher(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("reefs", 1)
		planned(t, q, run, "Coral")
		must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "a person did", false))
		late := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPublish, 1))
		must[[]redisqueue.Intent](t)(q.Retry(ctx, run.ID, redisqueue.RetryReport, 2))
		rep := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitReport, 2))
		must[[]redisqueue.Intent](t)(q.Finish(ctx, rep.Lease, redisqueue.Outcome{State: topicqueue.RunPartial, Report: "r", Content: []byte("{}")}))
		pub := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPublish, 2))
		if err := q.Published(ctx, pub.Lease, pub.Run, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := q.Published(ctx, late.Lease, late.Run, time.Hour); !errors.Is(err, redisqueue.ErrFenced) {
			t.Errorf("the late publisher: %v, want ErrFenced", err)
		}
		rdb.Del(ctx, rdb.Keys(ctx, "nightdesk:{"+run.ID+"}:*").Val()...) // it expires
		err := q.Runs(ctx, run.Batch, func(r topicqueue.Run) error {
			if r.State != topicqueue.RunPartial {
				t.Errorf("the batch lists it as %s, want partial", r.State)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}
