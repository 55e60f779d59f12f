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

// Every decision whether something is tried again is made in this package, by what failed:
//
//	model call       the governor of package llm waits, asks again and gives up; what it gives up ends the step
//	tool call        its failure is an answer to the model; never tried again by us
//	Redis, storage   steady, until the attempt's time is over: a service that is away fails nothing
//	attempt          settle (attempt.go): asynq tries what is left, maxRetry times
//	lapsed lease     the sweep: a new generation; MaxLapses times without progress end the unit
//	a person         Retry, or an archived task of a failed block or run that is run again: a new epoch

const (
	firstPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
)

// steady does something with Redis or storage until it works, does not and never will, or ctx ends. do may be called
// again after it has worked and its answer was lost.
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
			zerolog.Ctx(ctx).Warn().Err(err).Str("doing", doing).Msg("waiting for a service that is away")
			said = time.Now()
		}
		_ = retry.Sleep(ctx, pause) // do is asked once more after ctx's end too
		pause = min(2*pause, longPause)
	}
}

// away reports whether an error is of a service that cannot be used now and may be later.
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

// givenUpError is of a task that asynq archives at once. It reads as what failed.
type givenUpError struct{ error }

// Unwrap adds asynq's mark.
func (e givenUpError) Unwrap() []error { return []error{e.error, asynq.SkipRetry} }

// emit appends events in the name of the attempt.
func (a *attempt) emit(ctx context.Context, events ...topicqueue.Event) error {
	return steady(ctx, "tell the stream", func(ctx context.Context) error {
		return a.queue.Emit(ctx, a.Lease, events...)
	})
}

// commit makes a transition and enqueues what the run then wants. Both may be repeated: transitions know the owner who
// made them, tasks have ids.
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

// end is commit for a transition that ends the attempt. The lease is gone with it, perhaps in a try whose reply was
// lost: that it cannot be renewed any more must not stop what is left to do.
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

// steadyPages stores the texts that a run reads.
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
