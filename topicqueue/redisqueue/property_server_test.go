package redisqueue_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// errSlow ends a history on a real server if a step took so long that its time is unknown.
var errSlow = errors.New("the machine was too slow for this history")

// blur is the precision of a step's time on a running clock.
const blur = 60 * time.Millisecond

// real is a world with a running clock. It makes no step close to the time of an automatic change.
type real struct {
	*world
	mark time.Time // the last moment that the reference knows of
}

func (r *real) now(ctx context.Context) time.Time { return r.rdb.Time(ctx).Val() }

func (r *real) wait(ctx context.Context, until time.Time) {
	for r.mark = r.now(ctx); r.mark.Before(until) && ctx.Err() == nil; r.mark = r.now(ctx) {
		time.Sleep(time.Millisecond) // Redis's clock is what is waited for
	}
}

func (r *real) settle(ctx context.Context) error {
	now := r.now(ctx)
	if now.Sub(r.mark) > blur {
		return errSlow
	}
	r.mark = now
	for again := true; again; {
		again = false
		for _, at := range r.ref.moments() {
			if near := time.UnixMilli(at); !near.Before(r.mark.Add(-blur)) && !near.After(r.mark.Add(2*blur)) {
				r.wait(ctx, near.Add(blur+time.Millisecond))
				again = true
			}
		}
	}
	r.ref.now = r.mark.UnixMilli()
	return ctx.Err()
}

// moments returns the times of automatic changes.
func (r *reference) moments() []int64 {
	out := []int64{r.seal, r.final, r.deadline, r.forcedUntil}
	for _, u := range r.units {
		out = append(out, u.lease)
		for _, since := range u.stuck {
			out = append(out, since+r.stuck)
		}
	}
	return out
}

// TestTransitionsOnAServer is TestTransitions on a real redis-server with a running clock.
func TestTransitionsOnAServer(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: redistest.Socket(t), MaxRetries: -1})
	t.Cleanup(func() { rdb.Close() })
	rdb.AddHook(faults{})
	seed := *propertySeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	timing := redisqueue.Timing{Lease: 300 * time.Millisecond, Stuck: 200 * time.Millisecond, Gap: time.Hour}
	random, ctx, done := rand.New(rand.NewPCG(seed, 0)), t.Context(), 0
	for range 12 {
		if rdb.FlushAll(ctx).Err() != nil || done == max(2, *propertySteps/2000) {
			break
		}
		history := randomHistory(random)
		history = history[:min(len(history), settingsBytes+40*stepBytes)]
		start := rdb.Time(ctx).Val()
		w := newWorld(rdb, timing, start, [settingsBytes]byte(history))
		r := &real{world: w, mark: start}
		w.pass = func(d time.Duration) { r.wait(ctx, r.now(ctx).Add(min(d, timing.Lease+time.Millisecond))) }
		w.settle = r.settle
		switch err := w.live(ctx, history[settingsBytes:]); {
		case errors.Is(err, errSlow):
		case err != nil:
			t.Fatalf("seed %d: %v\n%+v\n%s\n%v\n[]byte(%q)", seed, err, w.run.Options, w.history(), w.ref, history)
		default:
			done++
		}
	}
	if done == 0 {
		t.Skip(errSlow)
	}
	t.Logf("%d histories", done)
}
