package redisqueue_test

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

func TestClock(t *testing.T) {
	t.Parallel()
	for name, apart := range map[string]time.Duration{
		"Redis is ahead": 3 * time.Minute, "Redis is behind": -48 * time.Hour, "in step": 0,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := miniredis.RunT(t)
			if apart != 0 {
				server.SetTime(time.Now().Add(apart))
			}
			rdb := redis.NewClient(&redis.Options{Addr: server.Addr()})
			defer rdb.Close()
			c := redisqueue.StartClock(t.Context(), rdb)
			defer c.Close()
			const near = 30 * time.Second // a machine that is busy
			if got := -c.Ahead(); (got-apart).Abs() > near || apart == 0 && got != 0 {
				t.Errorf("Redis is %s ahead, want %s", got, apart)
			}
			if got := time.Until(c.Now()); (got - apart).Abs() > near {
				t.Errorf("it is %s later, want %s", got, apart)
			}
		})
	}
}

// TestClockOfRedisThatIsAway: it is the time of this machine.
func TestClockOfRedisThatIsAway(t *testing.T) {
	t.Parallel()
	rdb := redistest.InProcess(t)
	rdb.Close()
	c := redisqueue.StartClock(t.Context(), rdb)
	defer c.Close()
	if c.Ahead() != 0 {
		t.Errorf("%s ahead of nobody", c.Ahead())
	}
}

// TestDeadlineByRedisClock: a run is looked at when its deadline has come by Redis's clock, whatever the clock of the machine
// that has enqueued it.
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
