package shared

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/lua"
	"nightdesk/topicqueue/retry"
)

// Pace keeps rates that all workers share: under each key one turn every so often. A key's turns are in Redis as the
// time of the next free one:
//
//	nightdesk:{pace:KEY}   string, there until that time
//
// A turn that was taken and not used is lost. While Redis is away nobody gets one. Safe for concurrent use.
type Pace struct {
	rdb redis.UniversalClient
}

var paceScript = lua.Script("pace")

// NewPace returns the rates that are kept in this Redis.
func NewPace(rdb redis.UniversalClient) *Pace { return &Pace{rdb} }

// Wait returns when the caller's turn under a key has come; turns are at least every apart, in whole milliseconds.
// When it would come after ctx's deadline, it is not taken, and the error, which comes at once, wraps
// context.DeadlineExceeded. Otherwise the error is context.Cause(ctx) or that of Redis.
func (p *Pace) Wait(ctx context.Context, key string, every time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	patience := int64(-1)
	if deadline, ok := ctx.Deadline(); ok {
		patience = max(time.Until(deadline).Milliseconds(), 0)
	}
	ms := (every + time.Millisecond - 1) / time.Millisecond
	v, err := paceScript.Run(ctx, p.rdb, []string{paceKey(key)}, max(int64(ms), 1), patience).Int64Slice()
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("take a turn of %s in Redis: %w", key, err)
	}
	wait := time.Duration(v[1]) * time.Millisecond
	if v[0] == 0 {
		return fmt.Errorf("the next turn of %s is in %s: %w", key, wait, context.DeadlineExceeded)
	}
	return retry.Sleep(ctx, wait)
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
