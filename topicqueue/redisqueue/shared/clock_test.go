package shared_test

import (
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/redisqueue/shared"
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
			c := shared.StartClock(t.Context(), rdb)
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

// TestClockOfRedisThatIsAway: without Redis, the local time is used.
func TestClockOfRedisThatIsAway(t *testing.T) {
	t.Parallel()
	rdb := redistest.InProcess(t)
	rdb.Close()
	c := shared.StartClock(t.Context(), rdb)
	defer c.Close()
	if c.Ahead() != 0 {
		t.Errorf("%s ahead of nobody", c.Ahead())
	}
}
