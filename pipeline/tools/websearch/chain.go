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

// How long a provider that has failed is left alone, and how patient one call is.
const (
	restRefused     = 10 * time.Minute // until the operator may have acted
	restUnavailable = 30 * time.Second // it is asked all the same when there is no other
	restBusy        = time.Minute      // where it does not say how long
	maxWait         = 5 * time.Second  // that a call waits for a provider that asks to come later
	shortWait       = time.Second      // before the second request to one that does not say how much later
	patience        = 15 * time.Second // for a provider while there is another one
)

// Chain asks providers in their order: the next one when one fails, never when one finds nothing. It remembers which
// ones are to be left alone. One Chain serves all runs of a process; safe for concurrent use.
type Chain struct {
	providers []*Provider
	mu        sync.Mutex
	rests     map[string]rest // by name; one that is well has none
}

// rest says why and until when a provider is left alone. It stays, to be logged once, until the provider is well again.
type rest struct {
	until time.Time
	why   *Error
}

// NewChain returns a chain of at least one provider.
func NewChain(providers ...*Provider) *Chain {
	return &Chain{providers: providers, rests: map[string]rest{}}
}

// FailedError says that no provider could make a search.
type FailedError struct{ Errors []*Error } // in the order of the chain

// Error returns all causes.
func (e *FailedError) Error() string {
	all := make([]string, len(e.Errors))
	for i, one := range e.Errors {
		all[i] = one.Error()
	}
	return strings.Join(all, "; ")
}

// Search asks for the n best results, as Provider.Search does. The error is a *FailedError when no provider could be
// asked or answered, else context.Cause(ctx): ctx has ended.
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
	for _, p := range resting { // nobody else could answer: those of whom something can be hoped
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

// sort parts the providers that can be asked now from those that are left alone.
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

// ask asks one provider, again when it asks to come a little later, and remembers how it is. left: providers that share
// what is left of the call's time.
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
	if ctx.Err() != nil { // says nothing of the provider
		return Found{}, &Error{Provider: p.name, Err: context.Cause(ctx)}
	}
	switch {
	case err == nil:
		c.mu.Lock()
		delete(c.rests, p.name)
		c.mu.Unlock()
	case err.Class == Refused:
		c.remember(ctx, p, err, restRefused)
	case err.ours(): // this call had no time for it; another one may
	case err.Class == Busy && err.RetryAfter > 0:
		c.remember(ctx, p, err, err.RetryAfter)
	case err.Class == Busy:
		c.remember(ctx, p, err, restBusy)
	case err.Class == Unavailable:
		c.remember(ctx, p, err, restUnavailable)
	default: // this query may be the cause
		c.remember(ctx, p, err, 0)
	}
	return found, err
}

// try makes one request: while there are others, within a share of the time.
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

// remember leaves a provider alone for a while, and logs it when it was well before.
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
		event.Dur("pause_ms", pause).Msg("web search provider fails")
	}
}

// sleep waits, and reports whether it has: not when that is longer than a call waits or than ctx lasts.
func sleep(ctx context.Context, wait time.Duration) bool {
	return wait <= maxWait && retry.Fits(ctx, wait) && retry.Sleep(ctx, wait) == nil
}
