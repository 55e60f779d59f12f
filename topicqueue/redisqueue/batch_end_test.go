package redisqueue_test

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

const digestsKey = "nightdesk:{index}:digests"

// cancelled cancels a waiting run and publishes it.
func cancelled(t *testing.T, q *redisqueue.Queue, run topicqueue.Run) {
	t.Helper()
	ctx := t.Context()
	intents := must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "enough", false))
	b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPublish, intents[0].Generation))
	if err := q.Published(ctx, b.Lease, b.Run, time.Hour); err != nil {
		t.Fatal(err)
	}
}

// wanted checks a due batch, and returns the generation of the wanted digest.
func wanted(t *testing.T, q *redisqueue.Queue, batch string) int {
	t.Helper()
	for _, b := range must[[]redisqueue.DueBatch](t)(q.DueBatches(t.Context())) {
		if b.Name == batch {
			return must[int](t)(q.SweepBatch(t.Context(), b))
		}
	}
	return 0
}

// digest records the wanted digest of a batch, and lets the index drop the batch.
func digest(t *testing.T, q *redisqueue.Queue, batch string) {
	t.Helper()
	generation := wanted(t, q, batch)
	if generation == 0 {
		t.Fatal("the batch wants no digest")
	}
	if err := q.Digested(t.Context(), batch, generation); err != nil {
		t.Fatal(err)
	}
	if n := wanted(t, q, batch); n != 0 {
		t.Fatalf("the batch has its digest and wants generation %d", n)
	}
}

// again makes the next check of all batches due.
func again(t *testing.T, rdb *redis.Client, q *redisqueue.Queue, batch string) int {
	t.Helper()
	rdb.ZAddXX(t.Context(), digestsKey, redis.Z{Member: batch})
	return wanted(t, q, batch)
}

func TestDigestIsDueOnceWhenABatchHasEnded(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		first, second := newRun("fjords", 1), newRun("glaciers", 1)
		must[time.Time](t)(q.OpenBatch(ctx, "night", created))
		for _, run := range []topicqueue.Run{first, second} {
			must[bool](t)(q.Create(ctx, run))
		}
		cancelled(t, q, first)
		if n := wanted(t, q, "night"); n != 0 {
			t.Errorf("not sealed: generation %d is wanted", n)
		}
		if err := q.SealBatch(ctx, "night"); err != nil {
			t.Fatal(err)
		}
		if n := wanted(t, q, "night"); n != 0 {
			t.Errorf("one run is open: generation %d is wanted", n)
		}
		cancelled(t, q, second)
		if n := wanted(t, q, "night"); n != 2 {
			t.Errorf("all runs have ended: generation %d is wanted, want 2", n)
		}
		if n := wanted(t, q, "night"); n != 0 {
			t.Errorf("another sweeper sees it at the same time: %d", n)
		}
		if n := again(t, rdb, q, "night"); n != 2 {
			t.Errorf("the sweeper has died: generation %d is wanted, want 2", n)
		}
		if err := q.Digested(ctx, "night", 2); err != nil {
			t.Fatal(err)
		}
		if n := wanted(t, q, "night"); n != 0 || rdb.Exists(ctx, digestsKey).Val() != 0 {
			t.Errorf("it has its digest: generation %d is wanted, index %v", n, rdb.ZRange(ctx, digestsKey, 0, -1).Val())
		}

		// Repeating the enqueue adds nothing and requests nothing.
		must[time.Time](t)(q.OpenBatch(ctx, "night", created))
		if added := must[bool](t)(q.Create(ctx, first)); added {
			t.Error("a run that is published was created again")
		}
		if err := q.SealBatch(ctx, "night"); err != nil {
			t.Fatal(err)
		}
		if n := wanted(t, q, "night"); n != 0 {
			t.Errorf("enqueued again: generation %d is wanted", n)
		}

		must[[]redisqueue.Intent](t)(q.Retry(ctx, second.ID, redisqueue.RetryAll, 2))
		if n := wanted(t, q, "night"); n != 0 {
			t.Errorf("a retry is in work: generation %d is wanted", n)
		}
		lapse(t, rdb, 2*time.Millisecond) // its end is another one
		cancelled(t, q, second)
		digest(t, q, "night")
		end := must[redisqueue.Ending](t)(q.Ending(ctx, "night"))
		if want := (redisqueue.Ending{Sealed: true, Generation: 3, Digested: 3}); end != want {
			t.Errorf("in the end %+v, want %+v", end, want)
		}
	})
}

func TestCrashesDoNotKeepABatchOpen(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		run := newRun("fjords", 1)
		must[time.Time](t)(q.OpenBatch(ctx, "night", created))
		must[bool](t)(q.Create(ctx, run))
		cancelled(t, q, run)
		// A run that was never created, and a run whose retry was interrupted.
		rdb.SAdd(ctx, "nightdesk:batch:{night}:open", "research_never_created", run.ID)
		if err := q.SealBatch(ctx, "night"); err != nil {
			t.Fatal(err)
		}
		if n := wanted(t, q, "night"); n != 0 {
			t.Errorf("runs seem open: generation %d is wanted", n)
		}
		if n := again(t, rdb, q, "night"); n != 2 {
			t.Errorf("after the look: generation %d is wanted, want 2", n)
		}
	})
}

func TestAnnouncedBatchIsNotForgotten(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		must[time.Time](t)(q.OpenBatch(ctx, "night", created))
		if err := q.SealBatch(ctx, "night"); err != nil {
			t.Fatal(err)
		}
		due := must[[]redisqueue.DueBatch](t)(q.DueBatches(ctx))
		if len(due) != 1 {
			t.Fatalf("due are %v", due)
		}
		if err := q.SealBatch(ctx, "night"); err != nil { // while the sweeper looks
			t.Fatal(err)
		}
		must[int](t)(q.SweepBatch(ctx, due[0]))
		if n := rdb.ZCard(ctx, digestsKey).Val(); n != 1 {
			t.Error("the batch was forgotten though it was announced meanwhile")
		}
	})
}

func TestAdvanceDigest(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		run := newRun("fjords", 1)
		must[time.Time](t)(q.OpenBatch(ctx, "night", created))
		must[bool](t)(q.Create(ctx, run))
		cancelled(t, q, run)
		if err := q.SealBatch(ctx, "night"); err != nil {
			t.Fatal(err)
		}
		if n := wanted(t, q, "night"); n != 1 {
			t.Fatalf("generation %d is wanted, want 1", n)
		}
		for _, step := range []struct {
			generation int
			active     bool
			want       int
		}{{1, true, 1}, {1, false, 2}, {1, false, 2}, {2, false, 3}} {
			if n := must[int](t)(q.AdvanceDigest(ctx, "night", step.generation, step.active)); n != step.want {
				t.Errorf("advance %d, active %v: %d, want %d", step.generation, step.active, n, step.want)
			}
		}
	})
}
