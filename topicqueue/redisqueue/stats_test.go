package redisqueue_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

func TestStats(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx := t.Context()
		q := redisqueue.New(rdb, redisqueue.DefaultTiming)
		if s, err := q.Stats(ctx); err != nil || s.Runs != nil || s.Unpublished != 0 || s.Overdue != 0 {
			t.Errorf("empty: %+v, %v", s, err)
		}
		rdb.HSet(ctx, "nightdesk:{index}:stats", "state:planning", 3, "ended:failed", 2, "deadline_missed", 1, "lapses", "many",
			"calls:note:qwen2.5:7b", 10, "tokens_in:note:qwen2.5:7b", 1000, "tokens_out:note:qwen2.5:7b", 50, "cost_usd:note:qwen2.5:7b", "0.25",
			"calls:writer:gpt", 1, "unheard_of", 5, "tool_asked:web_search", 30, "tool_shared:web_search", 12)
		rdb.ZAdd(ctx, "nightdesk:{index}:runs", redis.Z{Score: float64(time.Now().Add(-time.Minute).UnixMilli()), Member: "a"},
			redis.Z{Score: math.Inf(1), Member: "b"})
		rdb.ZAdd(ctx, "nightdesk:{index}:waiting:low", redis.Z{Score: float64(time.Now().Add(-time.Hour).UnixMilli()), Member: "c"})
		s, err := q.Stats(ctx, "", "low")
		if err != nil {
			t.Fatal(err)
		}
		if s.Overdue < time.Minute || s.Overdue > 2*time.Minute || s.Unpublished != 2 {
			t.Errorf("watched %d, overdue %s", s.Unpublished, s.Overdue)
		}
		if s.Runs[topicqueue.RunPlanning] != 3 || len(s.Runs) != len(topicqueue.RunStates) || s.Ended[topicqueue.RunFailed] != 2 || s.DeadlinesMissed != 1 || s.Lapses != 0 {
			t.Errorf("%+v", s)
		}
		if len(s.Waiting) != 2 || s.Waiting[0].Runs != 0 || s.Waiting[1].Runs != 1 || s.Waiting[1].Oldest < time.Hour {
			t.Errorf("waiting: %+v", s.Waiting)
		}
		if diff := cmp.Diff(map[string]topicqueue.ToolCalls{"web_search": {Asked: 30, Shared: 12}}, s.Tools); diff != "" {
			t.Error(diff)
		}
		want := []redisqueue.ModelStats{{Role: "note", Model: "qwen2.5:7b", Calls: 10, TokensIn: 1000, TokensOut: 50, CostUSD: 0.25}, {Role: "writer", Model: "gpt", Calls: 1}}
		if diff := cmp.Diff(want, s.Models); diff != "" {
			t.Error(diff)
		}
	})
}
