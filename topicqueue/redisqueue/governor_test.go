package redisqueue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

const server = "0123456789abcdef"

// provider is a model server that takes so many calls at a time and refuses more at once.
type provider struct {
	cap, inside               atomic.Int64
	down                      atomic.Bool
	answered, refused, failed atomic.Int64
	busy                      atomic.Int64
	latency                   func() time.Duration
}

func (p *provider) call(ctx context.Context) topicqueue.CallOutcome {
	if p.down.Load() {
		p.failed.Add(1)
		return topicqueue.CallUnavailable
	}
	if n := p.inside.Add(1); n > p.cap.Load() {
		p.inside.Add(-1)
		p.refused.Add(1)
		return topicqueue.CallThrottled
	}
	defer p.inside.Add(-1)
	start := time.Now()
	pause(ctx, p.latency())
	p.busy.Add(int64(time.Since(start)))
	p.answered.Add(1)
	return topicqueue.CallAnswered
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// fleet is callers that ask a provider without an end, over governors of their own.
func fleet(t *testing.T, rdb *redis.Client, p *provider, governors, callers int) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range governors {
		own := redis.NewClient(rdb.Options())
		g := redisqueue.StartGovernor(ctx, own, 0)
		t.Cleanup(func() { g.Close(); own.Close() })
		for j := range callers {
			wg.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					call := topicqueue.Call{ID: fmt.Sprint(i, j, n), Server: server, Host: "test", Run: fmt.Sprint("run", i, j%5), Tokens: 100, Patient: true}
					for ctx.Err() == nil {
						permit, err := g.Acquire(ctx, call)
						if err != nil {
							if ctx.Err() == nil {
								t.Error(err)
							}
							return
						}
						outcome := p.call(ctx)
						g.Release(ctx, permit, topicqueue.CallEnd{Outcome: outcome, Tokens: -1})
						if outcome == topicqueue.CallAnswered {
							break
						}
						if outcome == topicqueue.CallThrottled {
							pause(ctx, time.Second)
						}
					}
				}
			})
		}
	}
	return func() { cancel(); wg.Wait() }
}

// figures are what a provider saw in a time.
type figures struct{ refused, goodput, used float64 } // parts of the calls, of what the cap allows

func (p *provider) measure(t *testing.T, d time.Duration, mean time.Duration) figures {
	answered, refused := p.answered.Load(), p.refused.Load()
	start, busy := time.Now(), p.busy.Load()
	pause(t.Context(), d)
	answered, refused = p.answered.Load()-answered, p.refused.Load()-refused
	took := time.Since(start)
	return figures{
		refused: float64(refused) / float64(max(answered+refused, 1)),
		used:    float64(p.busy.Load()-busy) / float64(took) / float64(p.cap.Load()),
		goodput: float64(answered) * mean.Seconds() / (float64(p.cap.Load()) * took.Seconds()),
	}
}

func uniform(from, to time.Duration) func() time.Duration {
	return func() time.Duration { return from + rand.N(to-from) }
}

func TestSimulate(t *testing.T) {
	rdb := redistest.Server(t)
	p := &provider{latency: uniform(50*time.Millisecond, 200*time.Millisecond)}
	p.cap.Store(8)
	stop := fleet(t, rdb, p, 4, 10)
	show := func(what string, n int) {
		for range n {
			f := p.measure(t, time.Second, 125*time.Millisecond)
			stats, err := redisqueue.GovernorStats(t.Context(), rdb)
			t.Logf("%s: refused %.3f goodput %.3f used %.3f %+v %v", what, f.refused, f.goodput, f.used, stats, err)
		}
	}
	show("start", 14)
	p.cap.Store(4)
	show("halved", 12)
	p.down.Store(true)
	show("down", 6)
	p.down.Store(false)
	show("up", 5)
	stop()
}

var _ = errors.Is
