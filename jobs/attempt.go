package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/hibiken/asynq"
	"github.com/rs/zerolog"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// saveTime bounds the last words of an attempt whose context has ended.
const saveTime = 5 * time.Second

// attempt is one try at a unit of work, under its lease.
type attempt struct {
	redisqueue.Begun
	w *Worker
}

// emit appends events in the name of the attempt.
func (a *attempt) emit(ctx context.Context, events ...topicqueue.Event) error {
	return a.w.Queue.Emit(ctx, a.Lease, events...)
}

// endedError carries the reason, for a person, why a unit of work ends as failed: trying again would not help.
type endedError struct{ err error }

func (e endedError) Error() string { return e.err.Error() }
func (e endedError) Unwrap() error { return e.err }

// handler makes an asynq handler of the work on one kind of unit. do returns nil when it has committed.
//
// Our own context runs the work: asynq starts a task again as soon as the context that it gave has ended, though its
// handler still runs. What an error of do means:
//
//   - the lease was lost: another attempt has the unit; nothing is written, the task is done with.
//   - the worker stops: the unit is yielded to a new generation, whose task is enqueued; this task is done with.
//   - endedError: the unit ends as failed with its reason.
//   - anything else (Redis, storage): asynq tries again, and after the last try the unit ends as failed.
func (w *Worker) handler(do func(context.Context, *attempt) error) asynq.HandlerFunc {
	return func(asynqCtx context.Context, task *asynq.Task) error {
		w.wg.Add(1)
		defer w.wg.Done()
		var p payload
		if err := json.Unmarshal(task.Payload(), &p); err != nil || p.RunID == "" || p.Unit == "" {
			return fmt.Errorf("decode payload of %s task: %w: %w", task.Type(), errors.Join(err, errBadPayload), asynq.SkipRetry)
		}
		log := w.Log.With().Str("run", p.RunID).Str("unit", p.Unit).Int("attempt", p.Generation).Logger()
		begun, err := w.Queue.Begin(w.work, p.RunID, p.Unit, p.Generation)
		if errors.Is(err, redisqueue.ErrStale) || errors.Is(err, redisqueue.ErrHeld) {
			log.Debug().Err(err).Msg("task not needed")
			return nil
		}
		if err != nil {
			return err
		}
		ctx, cancel := context.WithCancelCause(log.WithContext(w.work))
		defer cancel(nil)
		w.leases.add(begun.Lease, cancel)
		defer w.leases.remove(begun.Lease)

		a := &attempt{Begun: begun, w: w}
		started := w.Now()
		log.Info().Str("kind", task.Type()).Msg("started")
		err = guard(ctx, a, do)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause // whatever the work made of it
		}
		if err == nil {
			log.Info().Str("kind", task.Type()).Dur("took_ms", w.Now().Sub(started)).Msg("ended")
			return nil
		}
		return w.settle(ctx, asynqCtx, log, a, err)
	}
}

var errBadPayload = errors.New("run_id and unit are needed")

// guard turns a panic of the work into an error: one bad input must not end the process with everyone's work.
func guard(ctx context.Context, a *attempt, do func(context.Context, *attempt) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			zerolog.Ctx(ctx).Error().Bytes("stack", debug.Stack()).Interface("panic", r).Msg("panic in a handler")
			err = endedError{fmt.Errorf("a bug in nightdesk stopped this (%v); the log has the details", r)}
		}
	}()
	return do(ctx, a)
}

// settle decides what an error means for the unit and its task.
func (w *Worker) settle(ctx, asynqCtx context.Context, log zerolog.Logger, a *attempt, err error) error {
	saveCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	var ended endedError
	retried, _ := asynq.GetRetryCount(asynqCtx)
	switch {
	case errors.Is(err, redisqueue.ErrFenced):
		log.Warn().Err(err).Msg("stopped: another attempt has taken over")
		return nil
	case errors.Is(err, errDrain):
		intents, err := w.Queue.Yield(saveCtx, a.Lease)
		if err == nil {
			err = w.Dispatcher.Dispatch(saveCtx, intents)
		}
		if err != nil {
			return fmt.Errorf("hand %s of run %s on: %w", a.Lease.Unit, a.Lease.RunID, err)
		}
		log.Info().Msg("handed on to another worker")
		return nil
	case errors.As(err, &ended), retried >= maxRetry:
		log.Warn().Err(err).Msg("failed")
		if err := a.fail(saveCtx, err.Error()); err != nil {
			return fmt.Errorf("end %s of run %s as failed: %w", a.Lease.Unit, a.Lease.RunID, err)
		}
		return nil
	}
	log.Warn().Err(err).Int("tried", retried+1).Msg("to be tried again")
	if releaseErr := w.Queue.Release(saveCtx, a.Lease); releaseErr != nil {
		log.Warn().Err(releaseErr).Msg("lease not given back")
	}
	return err
}

// fail ends the unit: a block is FAILED and the run goes on, a plan or report fails the run.
func (a *attempt) fail(ctx context.Context, reason string) error {
	if a.Block.ID != "" {
		return a.endBlock(ctx, topicqueue.BlockFailed, reason, nil)
	}
	out := redisqueue.Outcome{State: topicqueue.RunFailed, Reason: reason}
	if a.Lease.Unit == redisqueue.UnitReport { // whatever was sent before: each of these is sent once
		out.Events = []topicqueue.Event{topicqueue.StepEvent(topicqueue.StepStartAuthor, ""), topicqueue.StepEvent(topicqueue.StepFailAuthor, reason)}
	}
	return a.w.Queue.Finish(ctx, a.Lease, out)
}

func (a *attempt) endBlock(ctx context.Context, status topicqueue.BlockStatus, reason string, fallbacks []string) error {
	intents, err := a.w.Queue.EndBlock(ctx, a.Lease, status, reason, fallbacks)
	if err != nil {
		return err
	}
	return a.w.Dispatcher.Dispatch(ctx, intents)
}
