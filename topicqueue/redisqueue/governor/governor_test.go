package governor_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/governor"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

const (
	server     = "0123456789abcdef"
	shortLease = 900 * time.Millisecond
)

// start starts a governor that ends with the test.
func start(t testing.TB, rdb redis.UniversalClient, lease time.Duration) *governor.Governor {
	g := governor.Start(t.Context(), rdb, lease)
	t.Cleanup(func() { g.Close() })
	return g
}

// callOf returns a patient call of a run.
func callOf(run string) topicqueue.Call {
	return topicqueue.Call{ID: run, Server: server, Host: "model.test", Run: run, Tokens: 100, Patient: true}
}

func limited(c topicqueue.Call, l topicqueue.CallLimits) topicqueue.Call { c.Limits = l; return c }

func acquire(t testing.TB, g *governor.Governor, c topicqueue.Call) topicqueue.Permit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	p, err := g.Acquire(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func release(t testing.TB, g *governor.Governor, p topicqueue.Permit, o topicqueue.CallOutcome) topicqueue.CallVerdict {
	t.Helper()
	return g.Release(t.Context(), p, topicqueue.CallEnd{Outcome: o, Tokens: -1})
}

// blocked reports whether a call gets no permit for a while.
func blocked(t testing.TB, g *governor.Governor, c topicqueue.Call) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err := g.Acquire(ctx, c)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return err != nil
}

// eventually waits for a condition on the statistics of the only server.
func eventually(t testing.TB, rdb redis.UniversalClient, what string, is func(s governor.Stat) bool) {
	t.Helper()
	var stats []governor.Stat
	for deadline := time.Now().Add(scaletest.Patience); time.Now().Before(deadline); {
		var err error
		if stats, err = governor.Stats(t.Context(), rdb); err == nil && len(stats) == 1 && is(stats[0]) {
			return
		}
		time.Sleep(time.Millisecond) // there is no event to wait for
	}
	t.Fatalf("never %s: %+v", what, stats)
}

func waitingCalls(n int) func(governor.Stat) bool {
	return func(s governor.Stat) bool { return s.Waiting == n }
}

func inFlight(n int) func(governor.Stat) bool {
	return func(s governor.Stat) bool { return s.InFlight == n }
}

func limit(n int) func(governor.Stat) bool {
	return func(s governor.Stat) bool { return s.Limit == n }
}

// TestGovernor_LearnsFromRefusals: without a limit, refusals set the limit to the remaining calls. Later refusals lower
// it once per epoch, and only while calls are answered, because otherwise concurrency is not the cause.
func TestGovernor_LearnsFromRefusals(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		g := start(t, rdb, 0)
		var permits []topicqueue.Permit
		for i := range 12 {
			permits = append(permits, acquire(t, g, callOf(fmt.Sprint("run", i))))
		}
		step := func(what string, p topicqueue.Permit, o topicqueue.CallOutcome, want int, down bool) {
			t.Helper()
			if v := release(t, g, p, o); v.Down != down {
				t.Errorf("%s: down is %t", what, v.Down)
			}
			eventually(t, rdb, what, limit(want))
		}
		step("first refusal", permits[0], topicqueue.CallThrottled, 11, false)
		step("same burst", permits[1], topicqueue.CallThrottled, 10, false)
		step("same burst", permits[2], topicqueue.CallThrottled, 9, false)
		step("answered", permits[3], topicqueue.CallAnswered, 9, false)
		step("answered", permits[4], topicqueue.CallAnswered, 9, false)
		a, b := acquire(t, g, callOf("a")), acquire(t, g, callOf("b"))
		step("next epoch", a, topicqueue.CallThrottled, 8, false)
		step("same epoch", b, topicqueue.CallThrottled, 8, false)
		release(t, g, permits[5], topicqueue.CallInterrupted)
		for i := range 3 { // nothing is answered any more
			step("nothing answered", acquire(t, g, callOf("c")), topicqueue.CallThrottled, 8, i == 2)
		}
		step("answered by another", permits[6], topicqueue.CallAnswered, 8, false)
		eventually(t, rdb, "up", func(s governor.Stat) bool { return s.Down.IsZero() && s.Throttled == 8 && s.Granted == 17 })
	})
}

// TestGovernor_LearnsFromLateness: a call that timed out while others were answered shows the capacity of the server;
// see topicqueue.CallVerdict.
func TestGovernor_LearnsFromLateness(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		inside, answered int
		limit            int
		queued           bool
	}{
		"one at a time":     {12, 2, 2, true},
		"answers nobody":    {12, 0, 1, false},
		"a long one":        {3, 8, 0, false},
		"alone":             {1, 0, 0, false},
		"as many as inside": {4, 4, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rdb := redistest.InProcess(t)
			g := start(t, rdb, 0)
			var permits []topicqueue.Permit
			for i := range tc.inside {
				permits = append(permits, acquire(t, g, callOf(fmt.Sprint("run", i))))
			}
			for i := range tc.answered { // places that become free are taken again
				at := 1 + i%(tc.inside-1)
				release(t, g, permits[at], topicqueue.CallAnswered)
				eventually(t, rdb, "free", inFlight(tc.inside-1))
				permits[at] = acquire(t, g, callOf("more"))
			}
			if v := release(t, g, permits[0], topicqueue.CallLate); v.Queued != tc.queued || v.Down {
				t.Errorf("%+v", v)
			}
			eventually(t, rdb, "learned", limit(tc.limit))
		})
	}
}

// TestGovernor_HandsPlacesOver: a freed place goes to another process at once. With such long leases, a process that is
// not told looks only after 15 seconds.
func TestGovernor_HandsPlacesOver(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		one, other := start(t, rdb, time.Hour), start(t, rdb, time.Hour)
		c := limited(callOf("run"), topicqueue.CallLimits{InFlight: 1})
		took := time.Duration(0)
		const n = 20
		for range n {
			p := acquire(t, one, c)
			granted := make(chan time.Time)
			go func() {
				p, err := other.Acquire(t.Context(), c)
				if err != nil {
					t.Error(err)
				}
				granted <- time.Now()
				other.Release(t.Context(), p, topicqueue.CallEnd{Outcome: topicqueue.CallAnswered})
			}()
			eventually(t, rdb, "waiting", waitingCalls(1))
			start := time.Now()
			one.Release(t.Context(), p, topicqueue.CallEnd{Outcome: topicqueue.CallAnswered})
			took += (<-granted).Sub(start)
			eventually(t, rdb, "free", inFlight(0))
		}
		if took/n > 5*time.Second { // some of them on a busy machine, but not most
			t.Errorf("a place was taken after %s", took/n)
		}
	})
}

// TestGovernor_Order: reports go first, then the run with the fewest granted calls, then the longest waiting call.
func TestGovernor_Order(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		g := start(t, rdb, 0)
		one := topicqueue.CallLimits{InFlight: 1}
		for _, run := range []string{"busy", "busy", "busy", "b|usy"} {
			release(t, g, acquire(t, g, limited(callOf(run), one)), topicqueue.CallAnswered)
		}
		place := acquire(t, g, limited(callOf("other"), one))
		order := make(chan string)
		waiting := 0
		wait := func(name, run string, first bool) {
			c := limited(callOf(run), one)
			c.First = first
			go func() {
				p, err := g.Acquire(t.Context(), c)
				if err != nil {
					t.Error(err)
				}
				order <- name
				g.Release(t.Context(), p, topicqueue.CallEnd{Outcome: topicqueue.CallAnswered})
			}()
			waiting++
			eventually(t, rdb, "waiting", waitingCalls(waiting))
		}
		wait("busy", "busy", false)
		wait("b|usy", "b|usy", false)
		wait("new 1", "new", false)
		wait("new 2", "new", false)
		wait("newer", "newer", false)
		wait("report of busy", "busy", true)
		wait("report of new", "new", true)
		wait("no run", "", false)
		release(t, g, place, topicqueue.CallAnswered)
		var got []string
		for range waiting {
			got = append(got, <-order)
		}
		want := []string{"report of new", "report of busy", "newer", "no run", "b|usy", "new 1", "new 2", "busy"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

func TestGovernor_PerMinute(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		g := start(t, rdb, 0)
		for range 3 {
			release(t, g, acquire(t, g, limited(callOf("run"), topicqueue.CallLimits{RequestsPerMinute: 3})), topicqueue.CallAnswered)
		}
		if !blocked(t, g, limited(callOf("run"), topicqueue.CallLimits{RequestsPerMinute: 3})) {
			t.Error("a fourth request within the minute")
		}
		tokens := func(n int) topicqueue.Call {
			c := limited(callOf("run"), topicqueue.CallLimits{TokensPerMinute: 1000})
			c.Server, c.Tokens = "another", n
			return c
		}
		first := acquire(t, g, tokens(5000)) // larger than the limit: it has a minute for itself
		if !blocked(t, g, tokens(10)) {
			t.Error("tokens above the limit")
		}
		g.Release(t.Context(), first, topicqueue.CallEnd{Outcome: topicqueue.CallAnswered, Tokens: 300}) // it needed fewer
		second := acquire(t, g, tokens(600))
		if !blocked(t, g, tokens(200)) {
			t.Error("tokens above the limit, after the correction")
		}
		release(t, g, second, topicqueue.CallInterrupted) // perhaps used
		if !blocked(t, g, tokens(200)) {
			t.Error("what may have been used is free")
		}
		third := acquire(t, g, tokens(100))
		g.Release(t.Context(), third, topicqueue.CallEnd{Outcome: topicqueue.CallThrottled, Tokens: 0})
		acquire(t, g, tokens(100))
	})
}

// TestGovernor_Circuit: three failed tries open the circuit, even if they belong to one call. Failures that only one
// question causes do not.
func TestGovernor_Circuit(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		g, other := start(t, rdb, 0), start(t, rdb, 0)
		for range 5 {
			if v := release(t, g, acquire(t, g, callOf("poison")), topicqueue.CallFailed); v.Down {
				t.Fatal("one question that the server cannot bear holds back all others")
			}
		}
		release(t, g, acquire(t, g, callOf("well")), topicqueue.CallAnswered)
		for i := range 3 {
			end := topicqueue.CallEnd{Outcome: topicqueue.CallUnavailable, Why: fmt.Sprint("refused ", i+1)}
			if v := g.Release(t.Context(), acquire(t, g, callOf("lone")), end); v.Down != (i == 2) {
				t.Fatalf("try %d: down is %t", i+1, v.Down)
			}
		}
		eventually(t, rdb, "down", func(s governor.Stat) bool { return !s.Down.IsZero() && s.Why == "refused 3" })
		impatient := callOf("search")
		impatient.Patient = false
		if _, err := other.Acquire(t.Context(), impatient); !errors.Is(err, topicqueue.ErrServerDown) {
			t.Errorf("an impatient call: %v", err)
		}
		limited := callOf("limited")
		limited.Until = time.Now().Add(300 * time.Millisecond)
		waitCtx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		p, err := other.Acquire(waitCtx, limited)
		cancel()
		if err == nil { // it was the probe
			release(t, other, p, topicqueue.CallUnavailable)
		} else if !errors.Is(err, topicqueue.ErrServerDown) || time.Now().Before(limited.Until) {
			t.Errorf("a call whose patience has ended: %v", err)
		}
		start := time.Now()
		var wg sync.WaitGroup
		var mu sync.Mutex
		probes := 0
		for i := range 10 {
			wg.Go(func() {
				for { // the second probe is answered
					p := acquire(t, []*governor.Governor{g, other}[i%2], callOf(fmt.Sprint("run", i)))
					mu.Lock()
					probes++
					n := probes
					mu.Unlock()
					if n == 1 {
						release(t, []*governor.Governor{g, other}[i%2], p, topicqueue.CallUnavailable)
						continue
					}
					if d := time.Since(start); n == 2 && (d < 2*time.Second || d > 12*time.Second) {
						t.Errorf("the second probe was after %s", d)
					}
					if n == 2 {
						eventually(t, rdb, "one at a time", inFlight(1))
					}
					release(t, []*governor.Governor{g, other}[i%2], p, topicqueue.CallAnswered)
					return
				}
			})
		}
		wg.Wait()
		eventually(t, rdb, "up", func(s governor.Stat) bool { return s.Down.IsZero() && s.InFlight == 0 && s.Waiting == 0 })
	})
}

// TestGovernor_DeadProcess: the places of a dead process are freed, and its waiting calls block nobody.
func TestGovernor_DeadProcess(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		line := &line{to: rdb.Options()}
		dead, alive := start(t, line.client(t), shortLease), start(t, rdb, shortLease)
		c := limited(callOf("run"), topicqueue.CallLimits{InFlight: 2})
		acquire(t, dead, c)
		held := acquire(t, alive, c)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { _, _ = dead.Acquire(ctx, c) })
		}
		eventually(t, rdb, "waiting", waitingCalls(3))
		line.cut()
		acquire(t, alive, c) // the dead one's
		eventually(t, rdb, "alone", func(s governor.Stat) bool { return s.Waiting == 0 && s.InFlight == 2 })
		time.Sleep(2 * shortLease) // nothing happens: what is alive is not lost
		eventually(t, rdb, "kept", inFlight(2))
		release(t, alive, held, topicqueue.CallAnswered)
		eventually(t, rdb, "released", inFlight(1))
		cancel()
		wg.Wait()
	})
}

// TestGovernor_RedisAway: while Redis is unreachable, no call begins and those in flight end. Afterwards everything
// continues.
func TestGovernor_RedisAway(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	line := &line{to: rdb.Options()}
	g := start(t, line.client(t), 0)
	c := limited(callOf("run"), topicqueue.CallLimits{InFlight: 2})
	held, kept := acquire(t, g, c), acquire(t, g, c)
	granted := make(chan topicqueue.Permit)
	go func() { granted <- acquire(t, g, c) }()
	eventually(t, rdb, "waiting", waitingCalls(1))
	line.cut()
	start := time.Now()
	if release(t, g, held, topicqueue.CallAnswered); time.Since(start) > time.Second {
		t.Errorf("it took %s to end a call", time.Since(start))
	}
	if !blocked(t, g, c) {
		t.Error("a call has begun")
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("waiting ended after %s", took)
	}
	line.mend()
	release(t, g, <-granted, topicqueue.CallAnswered)
	eventually(t, rdb, "all told", func(s governor.Stat) bool { return s.InFlight == 1 && s.Waiting == 0 })
	release(t, g, kept, topicqueue.CallAnswered)
	eventually(t, rdb, "all told", func(s governor.Stat) bool { return s.InFlight == 0 && s.Granted == 3 })
}

// TestGovernor_RedisAwayForLong: calls that are still in flight after a long outage of Redis count again.
func TestGovernor_RedisAwayForLong(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	line := &line{to: rdb.Options()}
	g, other := start(t, line.client(t), shortLease), start(t, rdb, shortLease)
	held := acquire(t, g, callOf("run"))
	line.cut()
	acquire(t, other, callOf("run")) // its batches take ended leases away
	eventually(t, rdb, "lapsed", inFlight(1))
	line.mend()
	eventually(t, rdb, "back", inFlight(2))
	release(t, g, held, topicqueue.CallAnswered)
	eventually(t, rdb, "released", inFlight(1))
}

// TestGovernor_WaitingIsCancelled: waiting ends with ctx and leaves no data.
func TestGovernor_WaitingIsCancelled(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		g := start(t, rdb, 0)
		c := limited(callOf("run"), topicqueue.CallLimits{InFlight: 1})
		place := acquire(t, g, c)
		why := errors.New("the desk closes")
		ctx, cancel := context.WithCancelCause(t.Context())
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := g.Acquire(ctx, c); !errors.Is(err, why) {
					t.Errorf("%v", err)
				}
			})
		}
		eventually(t, rdb, "waiting", waitingCalls(20))
		cancel(why)
		wg.Wait()
		eventually(t, rdb, "gone", waitingCalls(0))
		release(t, g, place, topicqueue.CallAnswered)
		release(t, g, acquire(t, g, c), topicqueue.CallAnswered)
		eventually(t, rdb, "free", inFlight(0))
		keys, err := rdb.Keys(t.Context(), "*").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if key != "nightdesk:governors" && key != "nightdesk:{gov:"+server+"}:state" && key != "nightdesk:{gov:"+server+"}:served:run" {
				t.Errorf("left behind: %s", key)
			}
			if ttl := rdb.TTL(t.Context(), key).Val(); ttl <= 0 && strings.Contains(key, "{gov:") {
				t.Errorf("%s has no end", key)
			}
		}
	})
}

// TestGovernor_Close: a closed governor rejects calls and releases those that waited.
func TestGovernor_Close(t *testing.T) {
	t.Parallel()
	rdb := redistest.InProcess(t)
	g := start(t, rdb, 0)
	c := limited(callOf("run"), topicqueue.CallLimits{InFlight: 1})
	p := acquire(t, g, c)
	done := make(chan error)
	go func() { _, err := g.Acquire(t.Context(), c); done <- err }()
	eventually(t, rdb, "waiting", waitingCalls(1))
	g.Release(t.Context(), p, topicqueue.CallEnd{Outcome: topicqueue.CallInterrupted})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	go func() { _, err := g.Acquire(t.Context(), c); done <- err }()
	eventually(t, rdb, "waiting", waitingCalls(1))
	g.Close()
	g.Close()
	if err := <-done; err == nil {
		t.Error("no error")
	}
	eventually(t, rdb, "told", waitingCalls(0))
}

// line is a connection to Redis that can be cut.
type line struct {
	to *redis.Options

	mu    sync.Mutex
	away  bool
	conns []net.Conn
}

func (l *line) client(t testing.TB) *redis.Client {
	o := *l.to
	o.Dialer = func(ctx context.Context, network, addr string) (net.Conn, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.away {
			return nil, errors.New("Redis is away")
		}
		conn, err := (&net.Dialer{}).DialContext(ctx, l.to.Network, l.to.Addr)
		if err == nil {
			l.conns = append(l.conns, conn)
		}
		return conn, err
	}
	rdb := redis.NewClient(&o)
	t.Cleanup(func() { rdb.Close() })
	return rdb
}

func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = true
	for _, c := range l.conns {
		c.Close()
	}
}

func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away = false
}

// BenchmarkGovernor measures sequential calls on an idle server, and many parallel calls.
func BenchmarkGovernor(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint(callers), func(b *testing.B) {
			g := start(b, redistest.Server(b), 0)
			b.ReportAllocs()
			b.SetParallelism(callers)
			once := func() {
				p, err := g.Acquire(b.Context(), callOf("run"))
				if err != nil {
					b.Error(err)
				}
				g.Release(b.Context(), p, topicqueue.CallEnd{Outcome: topicqueue.CallAnswered, Tokens: 90})
			}
			if callers == 1 {
				for b.Loop() {
					once()
				}
				return
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					once()
				}
			})
		})
	}
}
