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

// TestLabels: labels and results of a run are stored as long as its line.
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
		ended := must[topicqueue.Run](t)(q.Run(ctx, run.ID))
		ended.Tally = &topicqueue.Tally{Sentences: 9, Supported: 7, Unsupported: 1, Since: "2026-03-01 21:00", Changes: 2,
			Calls: 31, Tokens: 41_000, CostUSD: 0.14, Unpriced: 1}
		if err := q.Published(ctx, b.Lease, ended, time.Hour); err != nil {
			t.Fatal(err)
		}
		if got := must[topicqueue.Run](t)(q.Run(ctx, run.ID)); !cmp.Equal(got.Tally, ended.Tally) {
			t.Errorf("tally %+v", got.Tally)
		}
		rdb.Del(ctx, "nightdesk:{"+run.ID+"}:run") // as when it has expired
		lines := 0
		err := q.Runs(ctx, run.Batch, func(line topicqueue.Run) error {
			lines++
			if !cmp.Equal(line.Labels, run.Labels) || !cmp.Equal(line.Tally, ended.Tally) {
				t.Errorf("the line has labels %+v and tally %+v", line.Labels, line.Tally)
			}
			return nil
		})
		if err != nil || lines != 1 {
			t.Errorf("%d lines, %v", lines, err)
		}
	})
}
