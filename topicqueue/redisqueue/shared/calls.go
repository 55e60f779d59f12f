// Package shared holds the state that all workers share outside the runs: the answers of calls that several of them
// make (Calls), turns for common rates (Pace), and Redis's clock (Clock).
package shared

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
	"nightdesk/topicqueue/retry"
)

// Lease is how long the maker of a shared answer may stay silent before another caller takes over.
const Lease = 10 * time.Second

const (
	firstLook   = 20 * time.Millisecond // first polling interval of waiting callers; doubled up to lastLook
	lastLook    = 250 * time.Millisecond
	patience    = 2 * lastLook    // how long a caller whose try failed waits for another to take over
	waitingFor  = 4 * lastLook    // time without polling after which no caller waits any more
	failureLife = 3 * time.Second // lifetime of the failure of two tries, for callers still waiting
	entryStays  = time.Minute     // how long an entry without a value outlives its lease
	redisTime   = 2 * time.Second // timeout for Redis; then the call is made unshared
)

// Results of looking up a key.
const (
	statusThere  = "there"  // an answer exists
	statusWait   = "wait"   // another caller is making it
	statusMake   = "make"   // this caller must make it
	statusNobody = "nobody" // nothing, and this caller has had its try
)

// Calls lets workers share the results of calls. If several ask the same at once, one makes the call. The others, and
// later callers, get its answer. The data shared under KEY is a hash that expires:
//
//	nightdesk:{shared:SHA256 of KEY}
//	  value                 the answer, once it exists
//	  owner, lease          who makes it, and until when (ms) the lease lasts without renewal
//	  wanted, failures      time of the last look by a waiting caller, and whether a try has failed
//
// A call is made for all callers, so it continues when its own caller's context ends. If the maker dies, it loses the
// lease and a waiting caller makes the call. The same happens if the call fails temporarily. If that second try fails
// too, all waiting callers get the failure, so that they do not try a dead server one after the other. While Redis is
// unreachable, every caller makes its own call and no error results. Safe for concurrent use.
type Calls struct {
	rdb    redis.UniversalClient
	lease  time.Duration
	closed context.Context
	close  context.CancelCauseFunc
	making sync.WaitGroup
}

var (
	takeScript  = lua.Script("shared_take")
	renewScript = lua.Script("shared_renew")
	giveScript  = lua.Script("shared_give")
)

var errClosed = errors.New("the worker has stopped")

// NewCalls returns Calls that share results in rdb. lease is Lease; tests use a shorter one.
func NewCalls(rdb redis.UniversalClient, lease time.Duration) *Calls {
	closed, cancel := context.WithCancelCause(context.Background())
	return &Calls{rdb: rdb, lease: lease, closed: closed, close: cancel}
}

// Close cancels the calls that outlive their callers and waits for them to end. Do must not be called after Close.
func (c *Calls) Close() error {
	c.close(errClosed)
	c.making.Wait()
	return nil
}

func callKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return lua.Prefix + "{shared:" + hex.EncodeToString(sum[:]) + "}"
}

// Do returns the value stored under key, otherwise the result of a call in progress for it, otherwise the result of
// call. made reports whether this caller's call was made, at most once. The context of call has the values of ctx and
// ends only with Close.
//
// The error is context.Cause(ctx) or the error of call. Other callers do not get that error; they make their own
// call.
func (c *Calls) Do(ctx context.Context, key string,
	call func(context.Context) (topicqueue.Made, error)) (value []byte, made bool, err error) {
	token := rand.Text()
	var seen time.Time // last time another caller was seen making it, after this caller's try failed
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		status, there, left, err := c.take(ctx, key, token, !made)
		switch {
		case ctx.Err() != nil:
			return nil, made, context.Cause(ctx)
		case err != nil && made, status == statusNobody && time.Since(seen) > patience:
			return value, true, nil
		case err != nil:
			zerolog.Ctx(ctx).Warn().Err(err).Msg("result not shared with other workers")
			m, err := call(ctx)
			return m.Value, true, err
		case status == statusThere:
			return there, made, nil
		case status == statusMake:
			var join bool
			made = true
			if value, join, err = c.lead(ctx, key, token, call); err != nil || !join {
				return value, true, err
			}
			seen, pause = time.Now(), firstLook
			continue
		case status == statusWait:
			seen = time.Now()
		}
		if err := retry.Sleep(ctx, min(pause, max(left, time.Millisecond))); err != nil {
			return nil, made, err
		}
	}
}

// Forget deletes the entry under key if it still has this value.
func (c *Calls) Forget(ctx context.Context, key string, value []byte) {
	ctx, cancel := context.WithTimeout(ctx, redisTime)
	defer cancel()
	if there, err := c.rdb.HGet(ctx, callKey(key), "value").Bytes(); err == nil && string(there) == string(value) {
		c.rdb.Del(ctx, callKey(key))
	}
}

func (c *Calls) take(ctx context.Context, key, token string,
	may bool) (status string, value []byte, left time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, redisTime)
	defer cancel()
	mayMake := 0
	if may {
		mayMake = 1
	}
	reply, err := takeScript.Run(ctx, c.rdb, []string{callKey(key)}, token, c.lease.Milliseconds(), mayMake,
		entryStays.Milliseconds()).Slice()
	if err != nil {
		return "", nil, 0, fmt.Errorf("look for a shared result in Redis: %w", err)
	}
	status, left = lua.Text(reply, 0), lastLook
	if status == statusWait {
		left = time.Duration(lua.Number(reply, 1)) * time.Millisecond
	}
	return status, []byte(lua.Text(reply, 1)), left, nil
}

// lead makes the call for all callers. It returns when the call or ctx has ended, whichever is first. join reports
// whether the caller should go on waiting for the shared result.
func (c *Calls) lead(ctx context.Context, key, token string,
	call func(context.Context) (topicqueue.Made, error)) (value []byte, join bool, err error) {
	type outcome struct {
		value []byte
		join  bool
		err   error
	}
	done := make(chan outcome, 1)
	c.making.Go(func() {
		callCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		defer context.AfterFunc(c.closed, func() { cancel(errClosed) })()
		renewing := make(chan struct{})
		go func() {
			defer close(renewing)
			c.renew(callCtx, key, token)
		}()
		m, err := call(callCtx)
		cancel(nil)
		<-renewing
		done <- outcome{m.Value, c.give(context.WithoutCancel(ctx), key, token, m, err), err}
	})
	select {
	case o := <-done:
		return o.value, o.join, o.err
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
}

// renew renews the lease until ctx ends.
func (c *Calls) renew(ctx context.Context, key, token string) {
	ticker := time.NewTicker(c.lease / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		opCtx, cancel := context.WithTimeout(ctx, redisTime)
		// Ignore the error, because the next renewal may succeed.
		_ = renewScript.Run(opCtx, c.rdb, []string{callKey(key)}, token, c.lease.Milliseconds(),
			entryStays.Milliseconds()).Err()
		cancel()
	}
}

// give stores the result of a call. join reports whether the caller should wait for the shared result.
func (c *Calls) give(ctx context.Context, key, token string, m topicqueue.Made, failed error) (join bool) {
	outcome := "kept"
	switch {
	case failed != nil:
		outcome, m.Also = "broken", nil
	case m.Lifetime <= 0:
		outcome, m.Also = "failed", nil
	}
	for _, k := range append([]string{key}, m.Also...) {
		opCtx, cancel := context.WithTimeout(ctx, redisTime)
		said, err := giveScript.Run(opCtx, c.rdb, []string{callKey(k)}, token, outcome, m.Value,
			m.Lifetime.Milliseconds(),
			waitingFor.Milliseconds(), failureLife.Milliseconds(), entryStays.Milliseconds()).Text()
		cancel()
		if err != nil {
			zerolog.Ctx(ctx).Warn().Err(err).Msg("result not shared with other workers")
		}
		join = join || said == "join"
	}
	return join
}
