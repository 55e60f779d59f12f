package websearch

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/topicqueue/retry"
)

// Pauses after failures of a provider, and time limits of a call.
const (
	restRefused     = 10 * time.Minute // time for the operator to act
	restUnavailable = 30 * time.Second // used before that if there is no other provider
	restBusy        = time.Minute      // if the provider gives no time
	maxWait         = 5 * time.Second  // maximum wait in a call for a provider that asks to retry later
	shortWait       = time.Second      // wait before the retry if the provider gives no time
	patience        = 15 * time.Second // limit for a provider while there is another one
)

// Chain queries providers in order. It goes to the next provider after a failure, but not after an empty result. It
// remembers which providers to pause. One Chain serves all runs of a process; safe for concurrent use.
type Chain struct {
	providers []*Provider
	mu        sync.Mutex
	rests     map[string]rest // by name; working providers have no entry
}

// rest is the reason for a provider's pause and its end. It is kept until the provider works again, so that it is
// logged once.
type rest struct {
	until time.Time
	why   *Error
}

// NewChain returns a chain of at least one provider.
func NewChain(providers ...*Provider) *Chain {
	return &Chain{providers: providers, rests: map[string]rest{}}
}

// FailedError means that no provider could answer a search.
type FailedError struct{ Errors []*Error } // in the order of the chain

// Error returns all causes.
func (e *FailedError) Error() string {
	all := make([]string, len(e.Errors))
	for i, one := range e.Errors {
		all[i] = one.Error()
	}
	return strings.Join(all, "; ")
}

// Search returns the n best results, like Provider.Search. The error is context.Cause(ctx) if ctx has ended, and
// otherwise a *FailedError, if no provider could be queried or answered.
func (c *Chain) Search(ctx context.Context, query string, n int) (Found, error) {
	var failed []*Error
	ready, resting := c.sort(time.Now())
	for i, p := range ready {
		found, err := c.ask(ctx, p, query, n, len(ready)-i)
		if ctx.Err() != nil {
			return Found{}, context.Cause(ctx)
		}
		if err == nil {
			return found, nil
		}
		failed = append(failed, err)
	}
	for _, p := range resting { // last resort: paused providers that may answer
		r := c.rest(p.name)
		if r.why == nil || r.why.Class == Unavailable || r.why.Class != Refused && sleep(ctx, time.Until(r.until)) {
			found, err := c.ask(ctx, p, query, n, 1)
			if err == nil {
				return found, nil
			}
			r.why = err
		}
		if ctx.Err() != nil {
			return Found{}, context.Cause(ctx)
		}
		failed = append(failed, r.why)
	}
	return Found{}, &FailedError{failed}
}

// sort separates the providers that can be queried now from the paused ones.
func (c *Chain) sort(now time.Time) (ready, resting []*Provider) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.providers {
		if r, ok := c.rests[p.name]; ok && now.Before(r.until) {
			resting = append(resting, p)
		} else {
			ready = append(ready, p)
		}
	}
	return ready, resting
}

func (c *Chain) rest(name string) rest {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rests[name]
}

// ask queries one provider, retries once if it asks to retry shortly, and records its state. left: number of providers
// that share the remaining time of the call.
func (c *Chain) ask(ctx context.Context, p *Provider, query string, n, left int) (Found, *Error) {
	found, err := try(ctx, p, query, n, left)
	if err != nil && err.Class == Busy && !err.ours() {
		wait := err.RetryAfter
		if wait == 0 {
			wait = shortWait
		}
		if c.remember(ctx, p, err, wait); sleep(ctx, wait) {
			found, err = try(ctx, p, query, n, left)
		}
	}
	if ctx.Err() != nil { // does not concern the provider
		return Found{}, &Error{Provider: p.name, Err: context.Cause(ctx)}
	}
	switch {
	case err == nil:
		c.mu.Lock()
		delete(c.rests, p.name)
		c.mu.Unlock()
	case err.Class == Refused:
		c.remember(ctx, p, err, restRefused)
	case err.ours(): // this call had no time for it; another call may
	case err.Class == Busy && err.RetryAfter > 0:
		c.remember(ctx, p, err, err.RetryAfter)
	case err.Class == Busy:
		c.remember(ctx, p, err, restBusy)
	case err.Class == Unavailable:
		c.remember(ctx, p, err, restUnavailable)
	default: // the query may be the cause
		c.remember(ctx, p, err, 0)
	}
	return found, err
}

// try makes one request. While other providers are left, it gets only a share of the time.
func try(ctx context.Context, p *Provider, query string, n, left int) (Found, *Error) {
	limited := ctx
	if left > 1 {
		limit := patience
		if deadline, ok := ctx.Deadline(); ok {
			limit = min(limit, time.Until(deadline)/time.Duration(left))
		}
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	found, err := p.Search(limited, query, n)
	var e *Error
	if err != nil && !errors.As(err, &e) {
		e = &Error{Provider: p.name, Class: Unavailable, Err: fmt.Errorf("no complete answer in time: %w", err)}
	}
	return found, e
}

// remember pauses a provider, and logs that if the provider worked before or is newly refused.
func (c *Chain) remember(ctx context.Context, p *Provider, why *Error, pause time.Duration) {
	c.mu.Lock()
	before, known := c.rests[p.name]
	c.rests[p.name] = rest{time.Now().Add(pause), why}
	c.mu.Unlock()
	if !known || why.Class == Refused && before.why.Class != Refused {
		event := zerolog.Ctx(ctx).Warn().Str("provider", p.name).Err(why)
		if why.Advice != "" {
			event = event.Str("do", why.Advice)
		}
		event.Dur("pause_ms", pause).Msg("web search provider failed")
	}
}

// sleep waits and reports whether it did. It does not wait longer than maxWait or than ctx lasts.
func sleep(ctx context.Context, wait time.Duration) bool {
	return wait <= maxWait && retry.Fits(ctx, wait) && retry.Sleep(ctx, wait) == nil
}
