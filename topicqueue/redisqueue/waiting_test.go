package redisqueue_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// TestRunsInWorkDoNotWaitForThoseThatEnded: an active run is checked when it is due, however many cancelled runs wait
// for publishing.
func TestRunsInWorkDoNotWaitForThoseThatEnded(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, hasty)
		for i := range 210 {
			run := newRun(fmt.Sprint("puddle ", i), 1)
			if _, err := q.Create(ctx, run); err != nil {
				t.Fatal(err)
			}
			must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "a person did", false))
		}
		run := newRun("oceans", 1)
		planned(t, q, run, "Salt")
		lapse(t, rdb, hasty.Lease)
		runs, _, err := q.Due(ctx)
		if err != nil || !slices.Contains(runs, run.ID) || len(runs) < 100 {
			t.Errorf("%d runs are due (%v), the one in work is not among them", len(runs), err)
		}
	})
}
