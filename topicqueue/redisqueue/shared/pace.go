package shared

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
	"nightdesk/topicqueue/retry"
)

// Pace enforces rates that all workers share: one turn per interval under each key. Redis stores the time of a key's
// next free turn, and what Slow has learned:
//
//	nightdesk:{pace:KEY}        string, exists until that time
//	nightdesk:{pace:KEY}:slow   hash, exists for ten minutes after a refusal: every (ms between turns), at (its time)
//
// Within a process, calls of the run that came first go first, so that some runs finish early instead of all
// advancing slowly. A turn taken but not used is lost. While Redis is unreachable no turn is granted. Safe for
// concurrent use.
type Pace struct {
	rdb redis.UniversalClient

	mu    sync.Mutex
	lines map[string]*line // waiting callers by key; no entry without callers
	ranks map[string]int   // order of arrival of runs
}

// line is the queue of callers under a key. The first caller has left waiting and asks Redis.
type line struct{ waiting []*waiter }

type waiter struct {
	rank int
	turn chan struct{} // closed when the caller becomes the first
}

var (
	paceScript = lua.Script("pace")
	slowScript = lua.Script("pace_slow")
)

const (
	maxRanks    = 1 << 14          // maximum number of runs whose order is remembered
	slowest     = 10 * time.Second // maximum interval between turns, however often a server refuses
	remembering = 10 * time.Minute // how long a refusal is remembered
)

// NewPace returns the rates stored in rdb.
func NewPace(rdb redis.UniversalClient) *Pace {
	return &Pace{rdb: rdb, lines: map[string]*line{}, ranks: map[string]int{}}
}

// Wait returns when the caller's turn under key has come. Turns are at least every apart, in whole milliseconds. The
// run of ctx (topicqueue.RunOf) determines the order. If the turn would come after ctx's deadline, Wait does not take
// it and returns an error that wraps context.DeadlineExceeded, mostly at once. Other errors are context.Cause(ctx) or
// an error of Redis.
func (p *Pace) Wait(ctx context.Context, key string, every time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := p.enter(ctx, key, every); err != nil {
		return err
	}
	defer p.leave(key)
	patience := int64(-1)
	if deadline, ok := ctx.Deadline(); ok {
		patience = max(time.Until(deadline).Milliseconds(), 0)
	}
	keys := []string{paceKey(key), slowKey(key)}
	v, err := paceScript.Run(ctx, p.rdb, keys, milliseconds(every), patience).Int64Slice()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("take a turn of %s in Redis: %w", key, err)
	}
	wait := time.Duration(v[1]) * time.Millisecond
	if v[0] == 0 {
		return tooLate(key, wait)
	}
	return retry.Sleep(ctx, wait)
}

func tooLate(key string, wait time.Duration) error {
	return fmt.Errorf("the next turn of %s is in %s: %w", key, wait, context.DeadlineExceeded)
}

// milliseconds returns d in milliseconds, rounded up, at least 1.
func milliseconds(d time.Duration) int64 {
	return max(int64((d+time.Millisecond-1)/time.Millisecond), 1)
}

// enter waits until the caller is the first of its process under key. Its errors are those of Wait.
func (p *Pace) enter(ctx context.Context, key string, every time.Duration) error {
	p.mu.Lock()
	l, w := p.lines[key], &waiter{rank: p.rank(topicqueue.RunOf(ctx)), turn: make(chan struct{})}
	if l == nil {
		p.lines[key] = &line{}
		p.mu.Unlock()
		return nil
	}
	at := len(l.waiting)
	for at > 0 && l.waiting[at-1].rank > w.rank {
		at--
	}
	if wait := time.Duration(at) * every; !retry.Fits(ctx, wait) {
		p.mu.Unlock()
		return tooLate(key, wait)
	}
	l.waiting = slices.Insert(l.waiting, at, w)
	p.mu.Unlock()
	select {
	case <-w.turn:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	i := slices.Index(l.waiting, w)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	p.mu.Unlock()
	if i < 0 { // it has become the first meanwhile
		p.leave(key)
	}
	return context.Cause(ctx)
}

// rank returns the position of a run in the order of arrival. Calls without a run go first. p.mu is held.
func (p *Pace) rank(run string) int {
	if run == "" {
		return 0
	}
	if p.ranks[run] == 0 {
		if len(p.ranks) >= maxRanks {
			clear(p.ranks)
		}
		p.ranks[run] = len(p.ranks) + 1
	}
	return p.ranks[run]
}

// leave makes the next caller the first.
func (p *Pace) leave(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.lines[key]
	if len(l.waiting) == 0 {
		delete(p.lines, key)
		return
	}
	close(l.waiting[0].turn)
	l.waiting = l.waiting[1:]
}

// Slow records that a server refused a request under key because of its rate limit. For the next ten minutes its
// turns are twice as far apart, for all workers. every: as for Wait. Several refusals within a second count once. The
// error is that of Redis.
func (p *Pace) Slow(ctx context.Context, key string, every time.Duration) error {
	if err := slowScript.Run(ctx, p.rdb, []string{slowKey(key)}, milliseconds(every), slowest.Milliseconds(),
		remembering.Milliseconds()).Err(); err != nil {
		return fmt.Errorf("slow down %s in Redis: %w", key, err)
	}
	return nil
}

// Left returns the time until the next free turn under key; 0: now. It takes no turn.
func (p *Pace) Left(ctx context.Context, key string) (time.Duration, error) {
	left, err := p.rdb.PTTL(ctx, paceKey(key)).Result()
	if err != nil {
		return 0, fmt.Errorf("read the turns of %s in Redis: %w", key, err)
	}
	return max(left, 0), nil // negative: no such key
}

func paceKey(key string) string { return lua.Prefix + "{pace:" + key + "}" }

func slowKey(key string) string { return paceKey(key) + ":slow" }
