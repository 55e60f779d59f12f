package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

// This package makes all decisions about retries, by what failed:
//
//	model call       the governor of package llm waits, retries and gives up; giving up ends the step
//	tool call        its failure is an answer to the model; never retried here
//	Redis, storage   steady, until the attempt's time is over: an unavailable service fails nothing
//	attempt          settle (attempt.go): asynq retries the remaining errors, maxRetry times
//	lapsed lease     the sweep: a new generation; MaxLapses times without progress end the unit
//	a person         Retry, or running the archived task of a failed block or run again: a new epoch

const (
	firstPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
)

// steady calls do, which uses Redis or storage, until it succeeds, fails permanently, or ctx ends. do may be called
// again after a success whose reply was lost.
func steady(ctx context.Context, doing string, do func(ctx context.Context) error) error {
	pause, said := firstPause, time.Time{}
	for {
		err := do(ctx)
		if err == nil || !away(err) {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w (%w)", doing, context.Cause(ctx), err)
		}
		if time.Since(said) > 10*time.Second {
			zerolog.Ctx(ctx).Warn().Err(err).Str("doing", doing).Msg("service unavailable; retrying")
			said = time.Now()
		}
		_ = retry.Sleep(ctx, pause) // do is called once more even after the end of ctx
		pause = min(2*pause, longPause)
	}
}

// away reports whether an error is from a service that is temporarily unavailable.
func away(err error) bool {
	var netErr net.Error
	var redisErr redis.Error
	switch {
	case err == nil, errors.Is(err, redisqueue.ErrFenced), errors.Is(err, redisqueue.ErrStale),
		errors.Is(err, redisqueue.ErrHeld),
		errors.Is(err, redisqueue.ErrNotFound), errors.Is(err, storage.ErrNotExist):
		return false
	case errors.As(err, &netErr), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, redis.ErrPoolTimeout),
		errors.Is(err, storage.ErrAway):
		return true
	case errors.As(err, &redisErr):
		for _, prefix := range []string{"LOADING", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "MISCONF", "OOM",
			"NOREPLICAS", "UNBLOCKED", "BUSY", "MOVED", "ASK"} {
			if strings.HasPrefix(redisErr.Error(), prefix) {
				return true
			}
		}
	}
	return false
}

// givenUpError marks a task that asynq archives at once. Its text is that of the wrapped error.
type givenUpError struct{ error }

// Unwrap adds asynq's marker error.
func (e givenUpError) Unwrap() []error { return []error{e.error, asynq.SkipRetry} }

// emit appends events on behalf of the attempt.
func (a *attempt) emit(ctx context.Context, events ...topicqueue.Event) error {
	return steady(ctx, "append events", func(ctx context.Context) error {
		return a.queue.Emit(ctx, a.Lease, events...)
	})
}

// commit makes a transition and enqueues the resulting intents. Both may be repeated, because transitions recognize the
// owner who made them, and tasks have ids.
func (a *attempt) commit(ctx context.Context, doing string,
	transition func(ctx context.Context) ([]redisqueue.Intent, error)) error {
	return steady(ctx, doing, func(ctx context.Context) error {
		intents, err := transition(ctx)
		if err != nil {
			return err
		}
		return a.dispatcher.Dispatch(ctx, intents)
	})
}

// end is commit for a transition that ends the attempt. The transition releases the lease, perhaps in a try whose reply
// was lost. A failed renewal must therefore not stop the remaining work.
func (a *attempt) end(ctx context.Context, doing string,
	transition func(ctx context.Context) ([]redisqueue.Intent, error)) error {
	a.leases.ending(a)
	return a.commit(ctx, doing, func(ctx context.Context) ([]redisqueue.Intent, error) {
		intents, err := transition(ctx)
		if err == nil {
			a.leases.remove(a)
		}
		return intents, err
	})
}

// steadyPages stores the texts that a run reads, and waits for an unavailable storage.
type steadyPages struct{ storage.Pages }

func (p steadyPages) PutPage(ctx context.Context, runID, hash, text string) error {
	return steady(ctx, "store a page", func(ctx context.Context) error {
		return p.Pages.PutPage(ctx, runID, hash, text)
	})
}

func (p steadyPages) Page(ctx context.Context, runID, hash string) (text string, err error) {
	err = steady(ctx, "read a page", func(ctx context.Context) error {
		text, err = p.Pages.Page(ctx, runID, hash)
		return err
	})
	return text, err
}

var _ tools.FigureStore = steadyPages{}

func (p steadyPages) PutFigure(ctx context.Context, runID, path string, body []byte) error {
	return steady(ctx, "store a figure", func(ctx context.Context) error {
		return p.Pages.PutFigure(ctx, runID, path, body)
	})
}
