package shared

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/lua"
	"nightdesk/topicqueue/retry"
)

// Pace enforces rates that all workers share: one turn per interval under each key. Redis stores the time of a key's
// next free turn, and what Slow has learned:
//
//	nightdesk:{pace:KEY}        string, exists until that time
//	nightdesk:{pace:KEY}:slow   hash, exists for ten minutes after a refusal: every (ms between turns), at (its time)
//
// Within a process, one caller at a time asks Redis, so that a refusal slows down all others. A turn taken but not used
// is lost. While Redis is unreachable no turn is granted. Safe for concurrent use.
type Pace struct {
	rdb redis.UniversalClient

	mu    sync.Mutex
	lines map[string]*line // by key; no entry without callers
}

// line is the queue of callers under a key.
type line struct {
	callers int
	turn    chan struct{} // held by the caller that asks Redis
}

var (
	paceScript = lua.Script("pace")
	slowScript = lua.Script("pace_slow")
)

const (
	slowest     = 10 * time.Second // maximum interval between turns, however often a server refuses
	remembering = 10 * time.Minute // how long a refusal is remembered
)

// NewPace returns the rates stored in rdb.
func NewPace(rdb redis.UniversalClient) *Pace {
	return &Pace{rdb: rdb, lines: map[string]*line{}}
}

// Wait returns when the caller's turn under key has come. Turns are at least every apart, in whole milliseconds. If
// the turn would come after ctx's deadline, Wait does not take it and returns an error that wraps
// context.DeadlineExceeded, mostly at once. Other errors are context.Cause(ctx) or an error of Redis.
func (p *Pace) Wait(ctx context.Context, key string, every time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	l := p.enter(key)
	defer p.leave(key)
	if wait := time.Duration(max(0, l.callers-2)) * every; !retry.Fits(ctx, wait) {
		return tooLate(key, wait)
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-l.turn }()
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

// enter adds a caller to the line under key. It returns the line as it is then.
func (p *Pace) enter(key string) line {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines[key] == nil {
		p.lines[key] = &line{turn: make(chan struct{}, 1)}
	}
	p.lines[key].callers++
	return *p.lines[key]
}

func (p *Pace) leave(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines[key].callers--; p.lines[key].callers == 0 {
		delete(p.lines, key)
	}
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
