package redisqueue_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// reviewed brings a run with one block to its first review.
func reviewed(t *testing.T, q *redisqueue.Queue, run topicqueue.Run) redisqueue.Lease {
	t.Helper()
	planned(t, q, run, "Dykes")
	b := must[redisqueue.Begun](t)(q.Begin(t.Context(), run.ID, "block_1", 1))
	must[[]redisqueue.Intent](t)(q.EndBlock(t.Context(), b.Lease, topicqueue.BlockCompleted, "", nil))
	return must[redisqueue.Begun](t)(q.Begin(t.Context(), run.ID, redisqueue.UnitReview, 1)).Lease
}

func TestReviewThatFindsNothingLeadsToTheReport(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		q, run := redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("polders", 1)
		run.Options.MaxLoops = 2
		got := must[[]redisqueue.Intent](t)(q.CloseReview(t.Context(), reviewed(t, q, run), nil))
		if want := []redisqueue.Intent{{run.ID, "report", 1, ""}}; !cmp.Equal(want, got) {
			t.Errorf("wants %v, want %v", got, want)
		}
	})
}

func TestReviewCountsItsBlocksInTheProgress(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		q, run := redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("polders", 1)
		run.Options.MaxLoops = 2
		must[[]redisqueue.Intent](t)(q.CloseReview(t.Context(), reviewed(t, q, run), []topicqueue.SubTopic{{Title: "Sluices"}}))
		events := must[[]topicqueue.Event](t)(q.Events(t.Context(), run.ID, 0, 0))
		if last := string(events[len(events)-1].Content); last != `{"processed_tasks":1,"total_task":2}` {
			t.Errorf("the last event is %s", last)
		}
	})
}

func TestCancelOfARunThatWaits(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		q, run := redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("canals", 1)
		if _, err := q.Create(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		got := must[[]redisqueue.Intent](t)(q.Cancel(t.Context(), run.ID, "a person did", false))
		if want := []redisqueue.Intent{{run.ID, "publish", 1, ""}}; !cmp.Equal(want, got) {
			t.Errorf("wants %v, want %v", got, want)
		}
	})
}

func TestAdvanceLeavesAlone(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("weirs", 1)
		planned(t, q, run, "Fish ladders")
		for _, i := range []redisqueue.Intent{{run.ID, "plan", 1, ""}, {"research_gone", "plan", 1, ""}} {
			if got := must[[]redisqueue.Intent](t)(q.Advance(ctx, i, false)); len(got) > 0 {
				t.Errorf("of work that nobody wants: %v", got)
			}
		}
		if n := rdb.Exists(ctx, "nightdesk:{research_gone}:work").Val(); n != 0 {
			t.Error("a run that has expired has a key again, which stays for ever")
		}
	})
}
