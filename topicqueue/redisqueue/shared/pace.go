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

// Pace keeps rates that all workers share: under each key one turn every so often. A key's turns are in Redis as the
// time of the next free one, and what Slow has learned:
//
//	nightdesk:{pace:KEY}        string, there until that time
//	nightdesk:{pace:KEY}:slow   hash, there for ten minutes after a refusal: every (ms between turns), at (its time)
//
// In a process, those who wait take turns run by run: the calls of the run that came first go first, so that whole runs
// get on while others have not begun, and not all of them slowly. A turn that was taken and not used is lost. While
// Redis is away nobody gets one. Safe for concurrent use.
type Pace struct {
	rdb redis.UniversalClient

	mu    sync.Mutex
	lines map[string]*line // of those who wait under a key; without anybody there is none
	ranks map[string]int   // of runs, in the order in which they came
}

// line is who waits under a key. The first of them, who has left waiting, asks Redis.
type line struct{ waiting []*waiter }

type waiter struct {
	rank int
	turn chan struct{} // closed when it is the first
}

var (
	paceScript = lua.Script("pace")
	slowScript = lua.Script("pace_slow")
)

const (
	maxRanks    = 1 << 14          // runs whose order is remembered
	slowest     = 10 * time.Second // between turns, however often a server refuses
	remembering = 10 * time.Minute // that a server has refused
)

// NewPace returns the rates that are kept in this Redis.
func NewPace(rdb redis.UniversalClient) *Pace {
	return &Pace{rdb: rdb, lines: map[string]*line{}, ranks: map[string]int{}}
}

// Wait returns when the caller's turn under a key has come; turns are at least every apart, in whole milliseconds.
// Whose turn is next, topicqueue.RunOf(ctx) decides. When it would come after ctx's deadline, it is not taken, and the
// error, which mostly comes at once, wraps context.DeadlineExceeded. Otherwise the error is context.Cause(ctx) or that
// of Redis.
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

// milliseconds returns a time in whole ones, at least one.
func milliseconds(d time.Duration) int64 {
	return max(int64((d+time.Millisecond-1)/time.Millisecond), 1)
}

// enter waits until the caller is the first of its process under a key. The error is as that of Wait.
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

// rank returns the place of a run in the order in which runs came. p.mu is held. Who belongs to no run goes first.
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

// leave lets the next one be the first.
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

// Slow is told that a server has refused a request under a key because there were too many: for the next ten minutes
// its turns are twice as far apart as they were, for all workers. every: as for Wait. Refusals within a second of
// another count once. The error is that of Redis.
func (p *Pace) Slow(ctx context.Context, key string, every time.Duration) error {
	if err := slowScript.Run(ctx, p.rdb, []string{slowKey(key)}, milliseconds(every), slowest.Milliseconds(),
		remembering.Milliseconds()).Err(); err != nil {
		return fmt.Errorf("slow down %s in Redis: %w", key, err)
	}
	return nil
}

// Left returns how far away the next free turn under a key is; 0 = it is now. It takes none.
func (p *Pace) Left(ctx context.Context, key string) (time.Duration, error) {
	left, err := p.rdb.PTTL(ctx, paceKey(key)).Result()
	if err != nil {
		return 0, fmt.Errorf("read the turns of %s in Redis: %w", key, err)
	}
	return max(left, 0), nil // negative: there is no such key
}

func paceKey(key string) string { return lua.Prefix + "{pace:" + key + "}" }

func slowKey(key string) string { return paceKey(key) + ":slow" }
