package redisqueue_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestNoMoreRunsThanSlots: a run that has begun keeps its slot until it is researched, with or without a worker. Runs
// of high priority wait only for each other.
func TestNoMoreRunsThanSlots(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, hasty)
		feed := func(lane, why string, want int) []string {
			t.Helper()
			got := must[[]string](t)(q.Feed(ctx, lane, 10, 2))
			if len(got) != want {
				t.Fatalf("%s: %d runs are fed, want %d", why, len(got), want)
			}
			return got
		}
		for _, lane := range []string{"low", "", "high"} {
			for _, name := range []string{"Inn", "Lech", "Isar", "Enns"} {
				run := newRun(lane+name, 1)
				run.Lane = lane
				must[bool](t)(q.Create(ctx, run))
			}
		}
		runs := feed("", "at the start", 2)
		feed("", "two have a task", 0)
		begun := map[string]redisqueue.Begun{}
		for _, id := range runs {
			begun[id] = must[redisqueue.Begun](t)(q.Begin(ctx, id, redisqueue.UnitPlan, 1))
		}
		feed("", "two have begun", 0)
		feed("low", "normal ones go before", 0)
		high := feed("high", "high ones go before", 2)
		feed("high", "two of them have a task", 0)
		feed("", "two high ones have a task as well", 0)

		lapse(t, rdb, hasty.Lease) // all workers die
		for _, id := range runs {
			must[redisqueue.Swept](t)(q.Sweep(ctx, id, true))
			begun[id] = must[redisqueue.Begun](t)(q.Begin(ctx, id, redisqueue.UnitPlan, 2))
		}
		feed("", "after a lapse", 0)
		must[[]redisqueue.Intent](t)(q.CommitPlan(ctx, begun[runs[0]].Lease, planOf()))
		for _, id := range high {
			must[[]redisqueue.Intent](t)(q.Cancel(ctx, id, "a person did", false))
		}
		third := feed("", "one is written, the high ones are cancelled", 1)
		must[[]redisqueue.Intent](t)(q.CommitPlan(ctx, begun[runs[1]].Lease, planOf("Passau")))
		feed("", "the other one is researched", 0)
		if err := q.Pause(ctx, runs[1]); err != nil {
			t.Fatal(err)
		}
		must[redisqueue.Begun](t)(q.Begin(ctx, third[0], redisqueue.UnitPlan, 1))
		feed("", "one is paused", 1)
		must[[]redisqueue.Intent](t)(q.Resume(ctx, runs[1]))
		feed("", "it goes on", 0)
		for _, id := range append(runs, third...) {
			must[[]redisqueue.Intent](t)(q.Cancel(ctx, id, "a person did", false))
		}
		feed("high", "nobody has begun", 2)
		feed("low", "two high ones have a task", 0)
		if got := must[[]string](t)(q.Feed(ctx, "low", 10, 0)); len(got) != 4 {
			t.Errorf("with any number of slots %d of 4 are fed", len(got))
		}
	})
}

// TestBegunPlan: only the planning task of a run that began before is marked as such.
func TestBegunPlan(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, hasty), newRun("moors", 1)
		must[bool](t)(q.Create(ctx, run))
		if i := fed(t, q, run); len(i) != 1 || i[0].Begun {
			t.Errorf("before it has begun it wants %v", i)
		}
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPlan, 1))
		if i := must[[]redisqueue.Intent](t)(q.Yield(ctx, b.Lease)); len(i) != 1 || !i[0].Begun || i[0].Generation != 2 {
			t.Errorf("handed on it wants %v", i)
		}
		b = must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPlan, 2))
		must[[]redisqueue.Intent](t)(q.Finish(ctx, b.Lease, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: "no"}))
		must[[]redisqueue.Intent](t)(q.Retry(ctx, run.ID, redisqueue.RetryAll, 2))
		if _, err := q.Sweep(ctx, run.ID, false); err != nil { // it waits again
			t.Fatal(err)
		}
		if i := fed(t, q, run); len(i) != 1 || i[0].Begun {
			t.Errorf("tried again it wants %v", i)
		}
	})
}

// TestWorkersThatLive: a worker counts from its first heartbeat until it stops or misses heartbeats. A starting worker
// counts only others with a later heartbeat.
func TestWorkersThatLive(t *testing.T) {
	t.Parallel()
	v, ctx := newVirtual(t), t.Context()
	q, now := redisqueue.New(v.rdb, redisqueue.DefaultTiming), time.Now()
	pass := func(d time.Duration) { now = now.Add(d); v.server.SetTime(now) }
	pass(0)
	check := func(why string, got redisqueue.Workers, want redisqueue.Workers) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %+v, want %+v", why, got, want)
		}
	}
	look := func() redisqueue.Workers { t.Helper(); return must[redisqueue.Workers](t)(q.Workers(ctx)) }
	check("at the start", look(), redisqueue.Workers{Seen: -time.Millisecond})
	one, two := q.Attend(5), q.Attend(3)
	beat := func(a *redisqueue.Attendance) redisqueue.Workers {
		t.Helper()
		return must[redisqueue.Workers](t)(a.Beat(ctx))
	}
	check("one", beat(one), redisqueue.Workers{Live: 1, Slots: 5})
	pass(time.Second)
	check("two has not heard of one", beat(two), redisqueue.Workers{Live: 1, Slots: 3})
	check("one has heard of two", beat(one), redisqueue.Workers{Live: 2, Slots: 8})
	check("two has heard of one", beat(two), redisqueue.Workers{Live: 2, Slots: 8})
	pass(6 * time.Second) // one is dead
	check("two alone", beat(two), redisqueue.Workers{Live: 1, Slots: 3})
	pass(time.Second)
	check("somebody else", look(), redisqueue.Workers{Live: 1, Slots: 3, Seen: time.Second})
	if err := two.End(ctx); err != nil {
		t.Fatal(err)
	}
	check("two has stopped, one is remembered", look(), redisqueue.Workers{Seen: 7 * time.Second})
	pass(8 * 24 * time.Hour)
	three := q.Attend(1)
	beat(three)
	if err := three.End(ctx); err != nil {
		t.Fatal(err)
	}
	check("one is forgotten", look(), redisqueue.Workers{Seen: -time.Millisecond})
}
