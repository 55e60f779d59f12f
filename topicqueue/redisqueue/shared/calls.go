// Package shared holds what all workers have in common outside the runs: the answers of calls that several of them make
// (Calls), turns for rates that they keep together (Pace), and Redis's clock (Clock).
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

// Lease is how long the maker of a shared answer may stay silent before another makes it.
const Lease = 10 * time.Second

const (
	firstLook   = 20 * time.Millisecond // of those who wait; then each after twice the time
	lastLook    = 250 * time.Millisecond
	patience    = 2 * lastLook    // of a caller whose try has failed, for another to take over
	waitingFor  = 4 * lastLook    // without a look: nobody waits any more
	failureLife = 3 * time.Second // of what two tries came to, for those who still wait
	entryStays  = time.Minute     // how long an entry without a value outlives its lease
	redisTime   = 2 * time.Second // for Redis to answer; then the call is made without it
)

// What a caller finds under a key.
const (
	statusThere  = "there"  // an answer
	statusWait   = "wait"   // another one makes it
	statusMake   = "make"   // the caller is to make it
	statusNobody = "nobody" // nothing, and the caller has had its try
)

// Calls lets workers share what calls return: of several that ask the same at once one makes the call, the others get
// its answer, and so do those that ask later. What is shared under KEY is a hash that expires:
//
//	nightdesk:{shared:SHA256 of KEY}
//	  value                 the answer, once there is one
//	  owner, lease          who makes it, and until when (ms) that holds without renewal
//	  wanted, failures      when somebody last waited for it, and whether a try has failed
//
// Who makes a call makes it for all: it goes on when its caller's context ends. A maker that dies loses the lease and
// one of those that wait makes the call. So it does when a call fails in a way that may pass; when its try fails too,
// that failure is everybody's, so that a dead server does not keep them waiting one after the other. While Redis is
// away every caller makes its own call: it fails nothing. Safe for concurrent use.
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

// NewCalls returns the calls that are shared through this Redis. lease: Lease, in tests shorter.
func NewCalls(rdb redis.UniversalClient, lease time.Duration) *Calls {
	closed, cancel := context.WithCancelCause(context.Background())
	return &Calls{rdb: rdb, lease: lease, closed: closed, close: cancel}
}

// Close ends the calls that go on without their callers and waits for them. No Do is called after it.
func (c *Calls) Close() error {
	c.close(errClosed)
	c.making.Wait()
	return nil
}

func callKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return lua.Prefix + "{shared:" + hex.EncodeToString(sum[:]) + "}"
}

// Do returns what is kept under key, else what is being made for it, else what call returns. made: this caller's call
// was made, once. Its context has the values of ctx and ends only with Close.
//
// The error is context.Cause(ctx) or that of call, which others do not get: they make their own.
func (c *Calls) Do(ctx context.Context, key string,
	call func(context.Context) (topicqueue.Made, error)) (value []byte, made bool, err error) {
	token := rand.Text()
	var seen time.Time // that somebody makes it, after this caller's try has failed
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		status, there, left, err := c.take(ctx, key, token, !made)
		switch {
		case ctx.Err() != nil:
			return nil, made, context.Cause(ctx)
		case err != nil && made, status == statusNobody && time.Since(seen) > patience:
			return value, true, nil
		case err != nil:
			zerolog.Ctx(ctx).Warn().Err(err).Msg("an answer is not shared")
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

// Forget drops what is kept under key when it is still this value.
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
		return "", nil, 0, fmt.Errorf("look for a shared answer in Redis: %w", err)
	}
	status, left = lua.Text(reply, 0), lastLook
	if status == statusWait {
		left = time.Duration(lua.Number(reply, 1)) * time.Millisecond
	}
	return status, []byte(lua.Text(reply, 1)), left, nil
}

// lead makes the call for all. It returns when the call or ctx has ended, whichever is first. join: others go on with
// it.
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

// renew keeps the lease until ctx ends.
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
		// the next one may work
		_ = renewScript.Run(opCtx, c.rdb, []string{callKey(key)}, token, c.lease.Milliseconds(),
			entryStays.Milliseconds()).Err()
		cancel()
	}
}

// give says what came of a call. join: others go on with it.
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
			zerolog.Ctx(ctx).Warn().Err(err).Msg("an answer is not shared")
		}
		join = join || said == "join"
	}
	return join
}
