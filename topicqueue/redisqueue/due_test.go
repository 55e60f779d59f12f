package redisqueue_test

import (
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// TestDueFirst: waiting runs are planned in the order of their deadlines, then by age. A resumed run has its former
// place.
func TestDueFirst(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for _, shift := range []time.Duration{0, 9 * time.Hour, 20 * time.Hour} { // whatever the hour is
		t.Run(shift.String(), func(t *testing.T) { testDueFirst(t, shift) })
	}
}

func testDueFirst(t *testing.T, shift time.Duration) {
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
		now := time.Now()
		var want []string
		runs := map[string]topicqueue.Run{}
		for _, r := range []struct {
			topic    string
			age, due time.Duration // due: from now; 0: never
		}{
			{"due soon, old", 3 * time.Hour, 2 * time.Hour}, {"due soon, young", time.Hour, 2 * time.Hour},
			{"due later", 5 * time.Hour, 9 * time.Hour}, {"old", 30 * time.Hour, 0}, {"young", time.Minute, 0},
		} {
			run := newRun(r.topic, 1)
			run.CreatedAt = now.Add(-r.age - shift)
			if r.due > 0 {
				run.Options.Deadline = now.Add(r.due)
			}
			want, runs[run.ID] = append(want, run.ID), run
		}
		for _, id := range slices.Backward(want) {
			if _, err := q.Create(ctx, runs[id]); err != nil {
				t.Fatal(err)
			}
		}
		stats := must[redisqueue.Stats](t)(q.Stats(ctx, ""))
		if len(stats.Waiting) != 1 || stats.Waiting[0].Oldest.Round(time.Minute) != shift+3*time.Hour {
			t.Errorf("the first has waited for %v", stats.Waiting)
		}
		if err := q.Pause(ctx, want[1]); err != nil {
			t.Fatal(err)
		}
		must[[]redisqueue.Intent](t)(q.Resume(ctx, want[1]))
		if _, err := q.Sweep(ctx, want[1], false); err != nil {
			t.Fatal(err)
		}
		if got := must[[]string](t)(q.Feed(ctx, "", len(want), 0)); !slices.Equal(got, want) {
			t.Errorf("planned in the order %v, want %v", got, want)
		}
	})
}

// TestDeadlineByRedisClock: the deadline of a run is checked by Redis's clock, whatever the clock of the enqueuing
// machine.
func TestDeadlineByRedisClock(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]time.Duration{"Redis is ahead": 2 * time.Hour, "Redis is behind": -2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := miniredis.RunT(t)
			server.SetTime(time.Now().Add(apart))
			rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
			defer rdb.Close()
			ctx, q := t.Context(), redisqueue.New(rdb, redisqueue.DefaultTiming)
			run := newRun("by Redis's clock", 1)
			run.Options.Deadline = time.Now().Add(apart / 2)
			if _, err := q.Create(ctx, run); err != nil {
				t.Fatal(err)
			}
			due, _, err := q.Due(ctx)
			if err != nil || len(due) == 1 != (apart > 0) {
				t.Errorf("due: %q, %v", due, err)
			}
		})
	}
}
