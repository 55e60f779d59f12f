// Package governor limits the calls of all workers to the capacity of each model server. Start reading with Start,
// Governor.Acquire and Stats.
//
// Per server (see topicqueue.Call) the governor limits requests per minute, tokens per minute and calls in flight. It
// learns the limit of calls in flight from refusals. Calls for reports go first, then calls of the run that was
// served least. While a server is down, the governor holds all calls back, except one at a time that probes whether
// the server is up again. The state is in Redis:
//
//	nightdesk:{gov:SERVER}:state      limit, epoch, counters, circuit      ...:minute  granted in the last minute
//	nightdesk:{gov:SERVER}:flight     permits by the end of their lease    ...:failing tries since the last answer
//	nightdesk:{gov:SERVER}:waiter     waiting calls                        ...:lease   and the ends of their leases
//	nightdesk:{gov:SERVER}:runs       runs of these calls in order         ...:queue:* and their calls by arrival
//	nightdesk:{gov:SERVER}:served:RUN calls granted to a run               nightdesk:governors  hosts by server
//
// One goroutine per process sends the requests of all its calls in batches. It learns by Redis publish/subscribe of
// permits that another process has released. It also asks again from time to time, so a lost message delays a call by
// at most a second. A process without signs of life loses its permits after a lease.
//
// # Learning the limit
//
// A refusal lowers the limit by one, once per epoch. An epoch is the time since the limit was last lowered; refusals of
// calls from an earlier epoch exceeded an earlier limit. The limit rises by one when calls have waited for it for 3 s
// without a refusal, and later if raising it has failed before. A call that timed out lowers the limit to the number
// of calls that the server answered within that time.
//
// While Redis is unreachable no call gets a permit; calls in flight are not affected.
package governor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
)

// Governor handles the calls of one process. It is safe for concurrent use.
type Governor struct {
	rdb     redis.UniversalClient
	lease   time.Duration
	process string
	stop    context.CancelFunc
	done    chan struct{} // closed when the goroutine has ended
	kick    chan struct{} // signals a message to send

	mu      sync.Mutex
	servers map[string]*governed
}

const (
	defaultLease = 15 * time.Second
	renewals     = 3  // per lease of a permit; a waiting call's lease lasts one renewal interval
	looks        = 15 // minimum number per lease of a permit, while calls wait
	firstRetry   = 100 * time.Millisecond
	lastRetry    = time.Second
	lastWords    = time.Second
)

var errClosed = errors.New("this process stops")

// Start starts the governor of one process. It ends with Close and not with ctx, because calls in flight may outlive
// ctx. lease is how long permits of a silent process live; 0: 15 s.
func Start(ctx context.Context, rdb redis.UniversalClient, lease time.Duration) *Governor {
	if lease == 0 {
		lease = defaultLease
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	g := &Governor{
		rdb: rdb, lease: lease, process: rand.Text(), stop: stop, done: make(chan struct{}), kick: make(chan struct{}, 1),
		servers: map[string]*governed{},
	}
	go g.run(ctx)
	return g
}

// Close stops the governor. Unreleased permits expire with their lease. It returns nil.
func (g *Governor) Close() error {
	g.stop()
	<-g.done
	return nil
}

// Acquire waits for a permit for one try of a call; return it with Release. The error wraps topicqueue.ErrServerDown
// if the server is down and the call is not patient. Otherwise it is the cause of ctx's end, or says that the
// governor was closed.
func (g *Governor) Acquire(ctx context.Context, call topicqueue.Call) (topicqueue.Permit, error) {
	w := &waiting{ask: ask{
		ID: rand.Text(), Run: call.Run, Class: 1, Tokens: call.Tokens,
	}, call: call, granted: make(chan error, 1), fresh: true}
	if call.First {
		w.Class = 0
	}
	g.mu.Lock()
	s := g.server(call)
	s.waiting[w.ID] = w
	g.mu.Unlock()
	g.wake()
	permit := topicqueue.Permit{ID: w.ID, Server: call.Server}
	select {
	case err := <-w.granted:
		return permit, err
	case <-ctx.Done():
		g.end(permit, ending{Outcome: topicqueue.CallInterrupted})
		return permit, fmt.Errorf("wait for the turn of a call to %s: %w", call.Host, context.Cause(ctx))
	case <-g.done:
		return permit, fmt.Errorf("wait for the turn of a call to %s: %w", call.Host, errClosed)
	}
}

// Release returns a permit and reports how the try ended. After an answer it returns at once; otherwise it waits for
// the verdict until ctx ends.
func (g *Governor) Release(ctx context.Context, p topicqueue.Permit, e topicqueue.CallEnd) topicqueue.CallVerdict {
	end := ending{Outcome: e.Outcome, Why: e.Why, used: e.Tokens}
	if e.Outcome != topicqueue.CallAnswered && e.Outcome != topicqueue.CallInterrupted {
		end.verdict = make(chan topicqueue.CallVerdict, 1)
	}
	g.end(p, end)
	if end.verdict == nil {
		return topicqueue.CallVerdict{}
	}
	select {
	case v := <-end.verdict:
		return v
	case <-ctx.Done():
	case <-g.done:
	}
	return topicqueue.CallVerdict{}
}

// end records for the next batch the end of a permit, or of waiting for one.
func (g *Governor) end(p topicqueue.Permit, e ending) {
	g.mu.Lock()
	defer g.wake()
	defer g.mu.Unlock()
	s := g.servers[p.Server]
	if s == nil {
		return
	}
	e.ID = p.ID
	if h, ok := s.held[p.ID]; ok {
		e.Call, e.Epoch, e.Answered, e.Inside = h.call, h.epoch, h.answered, h.inside
		if e.used >= 0 && e.Outcome != topicqueue.CallInterrupted {
			e.Tokens = e.used - h.tokens
		}
	} else if w := s.waiting[p.ID]; w != nil && w.fresh { // not yet sent to Redis
		delete(s.waiting, p.ID)
		return
	}
	delete(s.waiting, p.ID)
	delete(s.held, p.ID)
	s.ends = append(s.ends, e)
}

func (g *Governor) wake() {
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// server returns the state of this process at a call's server. g.mu is held.
func (g *Governor) server(call topicqueue.Call) *governed {
	s := g.servers[call.Server]
	if s == nil {
		s = &governed{id: call.Server, host: call.Host, waiting: map[string]*waiting{}, held: map[string]held{}}
		g.servers[call.Server] = s
	}
	s.limits = call.Limits
	return s
}

// run exchanges messages with Redis until ctx ends.
func (g *Governor) run(ctx context.Context) {
	defer close(g.done)
	sub := g.rdb.Subscribe(ctx, channelPrefix+g.process)
	defer sub.Close()
	messages := sub.Channel()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			lastCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
			defer cancel()
			g.speak(lastCtx, true)
			return
		case m := <-messages:
			g.heard(m)
		case <-g.kick:
		case <-timer.C:
		}
		timer.Reset(g.speak(ctx, false))
	}
}

// heard applies a permit that another process released.
func (g *Governor) heard(m *redis.Message) {
	if m == nil {
		return
	}
	server, p, ok := parseMessage(m.Payload)
	if !ok {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := g.servers[server]; s != nil {
		s.grant(p)
	}
}

// speak sends due data to Redis and returns the time until the next. last: the governor stops.
func (g *Governor) speak(ctx context.Context, last bool) time.Duration {
	g.mu.Lock()
	servers := make([]*governed, 0, len(g.servers))
	for _, s := range g.servers {
		servers = append(servers, s)
	}
	g.mu.Unlock()
	wait := time.Hour
	for _, s := range servers {
		g.mu.Lock()
		b, ok := s.batch(time.Now(), last)
		register := ok && !s.registered
		g.mu.Unlock()
		if ok {
			err := g.send(ctx, s, b, register)
			g.mu.Lock()
			if err != nil {
				s.failed(b, time.Now())
			}
			g.mu.Unlock()
		}
		g.mu.Lock()
		wait = min(wait, s.next(g.lease/renewals))
		g.mu.Unlock()
	}
	return wait
}
