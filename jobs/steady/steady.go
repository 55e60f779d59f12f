// Package steady waits for services that are away. A service that cannot be reached fails nothing: whoever uses Redis
// or the storage tries again until the time of the attempt is over.
//
// All decisions about retries, by what failed:
//
//	model call       the governor of package llm waits, retries and gives up; giving up ends the step
//	tool call        its failure is an answer to the model; never retried here
//	Redis, storage   steady, until the attempt's time is over: an unavailable service fails nothing
//	attempt          stage.Runner: asynq retries the remaining errors, tasks.MaxRetry times
//	lapsed lease     the sweep: a new generation; MaxLapses times without progress end the unit
//	a person         Retry, or running the archived task of a failed block or run again: a new epoch
//
// Entry points: [Do], [Get] and [Away].
package steady

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/retry"
)

const (
	firstPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
)

// Do calls do, which uses Redis or storage, until it succeeds, fails permanently, or ctx ends. do may be called
// again after a success whose reply was lost.
func Do(ctx context.Context, doing string, do func(ctx context.Context) error) error {
	pause, said := firstPause, time.Time{}
	for {
		err := do(ctx)
		if err == nil || !Away(err) {
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

// Get is Do for a call with a result.
func Get[T any](ctx context.Context, doing string, do func(ctx context.Context) (T, error)) (result T, err error) {
	err = Do(ctx, doing, func(ctx context.Context) (err error) {
		result, err = do(ctx)
		return err
	})
	return result, err
}

// Away reports whether an error is from a service that is temporarily unavailable.
func Away(err error) bool {
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

// Pages stores the texts that a run reads, and waits for an unavailable storage.
type Pages struct{ storage.Pages }

func (p Pages) PutPage(ctx context.Context, runID, hash, text string) error {
	return Do(ctx, "store a page", func(ctx context.Context) error {
		return p.Pages.PutPage(ctx, runID, hash, text)
	})
}

func (p Pages) Page(ctx context.Context, runID, hash string) (string, error) {
	return Get(ctx, "read a page", func(ctx context.Context) (string, error) { return p.Pages.Page(ctx, runID, hash) })
}

var _ tools.FigureStore = Pages{}

func (p Pages) PutFigure(ctx context.Context, runID, path string, body []byte) error {
	return Do(ctx, "store a figure", func(ctx context.Context) error {
		return p.Pages.PutFigure(ctx, runID, path, body)
	})
}
