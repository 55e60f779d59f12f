package redisqueue_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestLabels: what a run is known by is there as long as its line.
func TestLabels(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q, run := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming), newRun("straits", 1)
		run.Labels = topicqueue.Labels{Ref: "case 7", Tags: []string{"sea", "küste"}}
		must[time.Time](t)(q.OpenBatch(ctx, run.Batch, created))
		if ok, err := q.Create(ctx, run); err != nil || !ok {
			t.Fatalf("Create = %v, %v", ok, err)
		}
		if got := must[topicqueue.Run](t)(q.Run(ctx, run.ID)); !cmp.Equal(got.Labels, run.Labels) {
			t.Errorf("labels %+v", got.Labels)
		}
		must[[]redisqueue.Intent](t)(q.Cancel(ctx, run.ID, "a person did", false))
		b := must[redisqueue.Begun](t)(q.Begin(ctx, run.ID, redisqueue.UnitPublish, 1))
		if err := q.Published(ctx, b.Lease, must[topicqueue.Run](t)(q.Run(ctx, run.ID)), time.Hour); err != nil {
			t.Fatal(err)
		}
		rdb.Del(ctx, "nightdesk:{"+run.ID+"}:run") // as when it has expired
		lines := 0
		err := q.Runs(ctx, run.Batch, func(line topicqueue.Run) error {
			lines++
			if !cmp.Equal(line.Labels, run.Labels) {
				t.Errorf("the line has labels %+v", line.Labels)
			}
			return nil
		})
		if err != nil || lines != 1 {
			t.Errorf("%d lines, %v", lines, err)
		}
	})
}
