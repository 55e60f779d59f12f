package redisqueue_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestAlong: the live text of a model reaches those who read along, complete and in order.
func TestAlong(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		if q.Write(ctx, "research_a", "reporting", "", "section") != nil {
			t.Error("written though nobody reads along")
		}
		for range 2 { // once more is as good
			if err := q.ReadAlong(ctx, "research_a"); err != nil {
				t.Fatal(err)
			}
		}
		if q.Write(ctx, "research_b", "reporting", "", "section") != nil {
			t.Error("another run is written")
		}
		none, begin, err := q.Deltas(ctx, "research_a", "")
		if len(none) > 0 || begin == "" || err != nil {
			t.Errorf("%+v, %q, %v", none, begin, err)
		}
		write := q.Write(ctx, "research_a", "researching", "block_3", "note")
		for _, piece := range []string{"Dunes ", "are ", "high", ""} {
			write(piece)
		}
		q.Write(ctx, "research_a", "reporting", "", "section")("") // a model that says nothing
		events, last, err := q.Deltas(ctx, "research_a", begin)
		if err != nil || len(events) < 2 {
			t.Fatalf("%+v, %v", events, err)
		}
		text, names := "", map[string]bool{}
		for i, e := range events {
			var d topicqueue.Delta
			if err := json.Unmarshal(e.Content, &d); err != nil {
				t.Fatal(err)
			}
			text += d.Text
			names[d.Answer] = true
			if done := i >= len(events)-2; d.Done != done || e.Seq != 0 || e.RunID != "research_a" {
				t.Errorf("%+v of %s", d, e.RunID)
			}
			want := topicqueue.Placement{Wave: 1, Lane: 3}
			if i == len(events)-1 {
				want = topicqueue.Placement{Wave: 2}
			}
			if e.Placement != want || e.Time.IsZero() {
				t.Errorf("%+v at %s", e.Placement, e.Time)
			}
		}
		if text != "Dunes are high" || len(names) != 2 {
			t.Errorf("%q in %d answers", text, len(names))
		}
		for _, after := range []string{last, ""} {
			if more, at, err := q.Deltas(ctx, "research_a", after); err != nil || len(more) != 0 || at != last {
				t.Errorf("%+v, %s, %v", more, at, err)
			}
		}
		for key, most := range map[string]time.Duration{"watched": 10 * time.Second, "deltas": time.Minute} {
			if left := rdb.TTL(ctx, "nightdesk:{research_a}:"+key).Val(); left <= 0 || left > most {
				t.Errorf("%s lasts %s", key, left)
			}
		}
	})
}

// TestAlongWithoutRedis: an unreachable Redis does not delay an answer.
func TestAlongWithoutRedis(t *testing.T) {
	t.Parallel()
	rdb := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	defer rdb.Close()
	q := redisqueue.New(rdb, redisqueue.DefaultTiming)
	if q.Write(t.Context(), "research_a", "reporting", "", "section") != nil {
		t.Error("somebody reads along without Redis")
	}
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		q := redisqueue.New(rdb, redisqueue.DefaultTiming)
		if err := q.ReadAlong(t.Context(), "research_a"); err != nil {
			t.Fatal(err)
		}
		write := q.Write(ctx, "research_a", "reporting", "", "section")
		cancel()
		write("It")
		write(strings.Repeat("x", 1<<20))
		write("")
	})
}
