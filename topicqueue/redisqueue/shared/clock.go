package shared

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	clockPause = time.Minute // interval between two readings of Redis's clock
	clockNear  = time.Second // smaller differences are ignored as clock skew or network latency
)

// Clock tells the time by Redis's clock, which its scripts use too. Machines with different clocks therefore agree on
// due times and the ends of turns. While Redis is unreachable it uses the last known difference. Safe for
// concurrent use.
type Clock struct {
	rdb   redis.UniversalClient
	ahead atomic.Int64 // lead of this machine in ns; 0 if below clockNear
	stop  context.CancelFunc
	done  chan struct{}
}

// StartClock reads Redis's clock now and every minute until Close. Until Redis first answers, the clock shows this
// machine's time.
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
	ahead := asked.Add(time.Since(asked) / 2).Sub(theirs) // assume that Redis read its clock halfway through the call
	if ahead.Abs() < clockNear {
		ahead = 0
	}
	c.ahead.Store(int64(ahead))
}

// Now returns Redis's time, in the time zone of this machine.
func (c *Clock) Now() time.Time { return time.Now().Add(-c.Ahead()) }

// Ahead returns how far this machine's clock is ahead of Redis's: negative if it is behind, 0 if they differ by less
// than a second.
func (c *Clock) Ahead() time.Duration { return time.Duration(c.ahead.Load()) }

// Close stops the readings. It returns nil.
func (c *Clock) Close() error {
	c.stop()
	<-c.done
	return nil
}
