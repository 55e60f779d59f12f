package governor_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/governor"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// full selects long runs: go test ./topicqueue/redisqueue/governor -run GovernorUnderLoad -governor.full -v takes five
// minutes. It checks for 90 % goodput and at most 2 % refusals from 10 s after the start and 30 s after the capacity
// was halved, and an outage of two minutes. Without the flag all times are short, because the machine may be busy with
// other tests.
var full = flag.Bool("governor.full", false, "long runs of the governor, to the promised figures")

// provider is a model server with a limit of concurrent calls, above which it refuses calls.
type provider struct {
	latency func() time.Duration
	down    atomic.Bool

	mu                        sync.Mutex
	cap, inside               int
	answered, refused, failed int
	changed                   time.Time
	open, used                time.Duration // time of all places, and of those that were used
}

// advance counts the time since the last change. p.mu is held.
func (p *provider) advance() {
	now := time.Now()
	p.open += now.Sub(p.changed) * time.Duration(p.cap)
	p.used += now.Sub(p.changed) * time.Duration(min(p.inside, p.cap))
	p.changed = now
}

func (p *provider) call(ctx context.Context) topicqueue.CallOutcome {
	p.mu.Lock()
	p.advance()
	switch {
	case p.down.Load():
		p.failed++
		p.mu.Unlock()
		return topicqueue.CallUnavailable
	case p.inside >= p.cap:
		p.refused++
		p.mu.Unlock()
		return topicqueue.CallThrottled
	}
	p.inside++
	p.mu.Unlock()
	pause(ctx, p.latency())
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	p.inside--
	p.answered++
	return topicqueue.CallAnswered
}

func (p *provider) setCap(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	p.cap = n
}

// measure returns the share of refused calls, and the used share of the capacity, within d.
func (p *provider) measure(t *testing.T, what string, d time.Duration) (refused, goodput float64) {
	p.mu.Lock()
	p.advance()
	p.answered, p.refused, p.failed, p.open, p.used = 0, 0, 0, 0, 0
	p.mu.Unlock()
	pause(t.Context(), d)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.advance()
	refused = float64(p.refused) / float64(max(p.answered+p.refused, 1))
	goodput = p.used.Seconds() / p.open.Seconds()
	t.Logf("%s: %d answered, %.1f %% refused, goodput %.1f %%, %d failed", what, p.answered, 100*refused, 100*goodput, p.failed)
	return refused, goodput
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// fleet calls a provider continuously, with this many callers on each governor. stop ends it and checks that no call
// was given up.
func fleet(t *testing.T, rdb *redis.Client, p *provider, governors, callers int) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range governors {
		own := redis.NewClient(&redis.Options{Network: rdb.Options().Network, Addr: rdb.Options().Addr})
		t.Cleanup(func() { own.Close() })
		g := start(t, own, 0)
		for j := range callers {
			wg.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					c := callOf(fmt.Sprint("run", j%10))
					c.ID = fmt.Sprint(i, j, n)
					for again := true; again && ctx.Err() == nil; {
						permit, err := g.Acquire(ctx, c)
						if err != nil {
							if ctx.Err() == nil {
								t.Error(err)
							}
							return
						}
						outcome := p.call(ctx)
						v := g.Release(ctx, permit, topicqueue.CallEnd{Outcome: outcome, Tokens: -1})
						again = outcome != topicqueue.CallAnswered
						if outcome == topicqueue.CallThrottled || outcome == topicqueue.CallUnavailable && !v.Down {
							pause(ctx, time.Second) // Retry-After
						}
					}
				}
			})
		}
	}
	return func() { cancel(); wg.Wait() }
}

// TestGovernorUnderLoad measures what a governor learns of a server. On a busy machine a server that is four or twelve
// times slower shows it as well.
func TestGovernorUnderLoad(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	start, halved, window, outage := 2*time.Second, 2*time.Second, 2*time.Second, 2*time.Second
	leastGoodput, mostRefused := 0.5, 0.1
	if *full {
		start, halved, window, outage = 10*time.Second, 20*time.Second, 10*time.Second, 2*time.Minute
		leastGoodput, mostRefused = 0.9, 0.02
	}
	for name, latency := range map[string][2]time.Duration{
		"50 to 200 ms": {50 * time.Millisecond, 200 * time.Millisecond},
		"1 to 3 s":     {time.Second, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			if latency[1] > time.Second && !*full {
				t.Skip("needs minutes: -governor.full")
			}
			scales := []time.Duration{1, 4, 12}
			if *full {
				scales = scales[:1]
			}
			var problems []string
			for _, scale := range scales {
				rdb := redistest.Server(t)
				p := &provider{cap: 8, changed: time.Now(), latency: func() time.Duration { return scale * (latency[0] + rand.N(latency[1]-latency[0])) }}
				stop := fleet(t, rdb, p, 4, 25)
				problems = nil
				check := func(what string, d time.Duration) {
					t.Helper()
					refused, goodput := p.measure(t, what, scale*d)
					if latency[1] < time.Second && refused > mostRefused || goodput < leastGoodput {
						problems = append(problems, fmt.Sprintf("%s: %.1f %% refused, goodput %.1f %%", what, 100*refused, 100*goodput))
					}
				}
				p.measure(t, "start", scale*start)
				check("cap 8", 3*window)
				p.setCap(4)
				p.measure(t, "halved", scale*halved)
				check("cap 4", window)
				p.down.Store(true)
				p.measure(t, "outage", scale*outage)
				if p.failed > 16 {
					problems = append(problems, fmt.Sprintf("%d calls were made although the server was down", p.failed))
				}
				p.down.Store(false)
				eventually(t, rdb, "up", func(s governor.Stat) bool { return s.Down.IsZero() })
				check("after the outage", window)
				if *full {
					p.setCap(8)
					p.measure(t, "doubled", time.Minute)
					check("cap 8 again", window)
				}
				stop()
				if len(problems) == 0 {
					return
				}
			}
			t.Errorf("%q", problems)
		})
	}
}
