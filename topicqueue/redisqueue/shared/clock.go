package shared

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	clockPause = time.Minute // between two looks at Redis's clock
	clockNear  = time.Second // a difference that is none: two machines that are kept in step, and the way between them
)

// Clock tells the time by Redis's clock, by which its scripts go too: machines whose own clocks differ agree on what
// is due and whose turn is over. While Redis is away it goes on by the last difference. Safe for concurrent use.
type Clock struct {
	rdb   redis.UniversalClient
	ahead atomic.Int64 // of this machine, in ns; 0 for less than clockNear
	stop  context.CancelFunc
	done  chan struct{}
}

// StartClock looks at Redis's clock now and every minute until Close. A Redis that does not answer now has the time of
// this machine until it does.
func StartClock(ctx context.Context, rdb redis.UniversalClient) *Clock {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Clock{rdb: rdb, stop: stop, done: make(chan struct{})}
	c.look(ctx)
	go c.run(ctx)
	return c
}

func (c *Clock) run(ctx context.Context) {
	defer close(c.done)
	ticker := time.NewTicker(clockPause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			c.look(ctx)
		}
	}
}

func (c *Clock) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, redisTime)
	defer cancel()
	asked := time.Now()
	theirs, err := c.rdb.Time(ctx).Result()
	if err != nil {
		return
	}
	ahead := asked.Add(time.Since(asked) / 2).Sub(theirs) // it was read on the way, most likely in the middle
	if ahead.Abs() < clockNear {
		ahead = 0
	}
	c.ahead.Store(int64(ahead))
}

// Now returns Redis's time, in the time zone of this machine.
func (c *Clock) Now() time.Time { return time.Now().Add(-c.Ahead()) }

// Ahead returns how far the clock of this machine is ahead of Redis's; negative when it is behind, 0 when they are a
// second or less apart.
func (c *Clock) Ahead() time.Duration { return time.Duration(c.ahead.Load()) }

// Close ends the looking. It returns nil.
func (c *Clock) Close() error {
	c.stop()
	<-c.done
	return nil
}
