package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/rs/zerolog"

	"nightdesk/jobs/tracing"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/researching"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// saveTime limits the final writes of an attempt whose context has ended.
const saveTime = 5 * time.Second

// Causes that end the work of an attempt early.
var (
	errDrain  = errors.New("the worker is stopping")
	errPaused = errors.New("the run is paused")
	errTimeUp = errors.New("its time is used up")
)

// attempt is one try at a unit of work. It holds the unit's lease.
type attempt struct {
	redisqueue.Begun
	queue      *redisqueue.Queue
	dispatcher *Dispatcher
	leases     *leases
	calls      *calls  // its model and tool calls
	budget     *budget // pays for the calls
	gate       *gate
	cancel     context.CancelCauseFunc
	begun      time.Time
	claims     atomic.Int64 // number of claims that a report is written from
	trace      tracing.Run
	iterations atomic.Int64        // checkpointed iterations of its block
	traced     bool                // whether the trace of the published run is written
	remarks    []topicqueue.Remark // remarks that the plan takes into account
}

// newAttempt returns an attempt at a unit that has begun.
func (w *Worker) newAttempt(begun redisqueue.Begun) *attempt {
	a := &attempt{Begun: begun, queue: w.Queue, dispatcher: w.Dispatcher, leases: w.leases, gate: newGate(),
		begun: time.Now(), trace: w.Tracer.Run(begun.Run.ID, begun.Epoch)}
	a.iterations.Store(int64(begun.Block.Iterations))
	a.calls = &calls{a: a, client: w.Model, prices: w.Prices, store: w.Store, shared: w.Shared, settings: w.settings,
		onStop: func(cancel func()) func() bool {
			return context.AfterFunc(w.work, func() { time.AfterFunc(w.settings.Grace, cancel) })
		}}
	a.budget = &budget{a: a, model: w.Model, prices: w.Prices, figures: w.figures, now: w.Now, log: w.Log}
	return a
}

// until returns the time d after the start of the attempt, or the zero time (no limit) if d is negative.
func (a *attempt) until(d time.Duration) time.Time {
	if d < 0 {
		return time.Time{}
	}
	return a.begun.Add(d)
}

// hardLimit returns when work on the unit ends, finished or not, counted from the start of the attempt. Negative = no
// limit.
func (a *attempt) hardLimit() time.Duration {
	switch {
	case a.Lease.Unit == redisqueue.UnitPublish:
		return -1
	case a.Lease.Unit == redisqueue.UnitReport, a.Lease.Unit == redisqueue.UnitNarrate:
		return a.Final
	case a.Block.ID != "" && a.Run.Options.BlockHard > 0:
		return earlier(a.Seal, max(0, a.Run.Options.BlockHard-a.Spent))
	}
	return a.Seal
}

// softLimit returns the time after which a block begins no new iteration. It is the block's own soft limit, or shortly
// before the run is sealed, so that the last iteration can end.
func (a *attempt) softLimit() time.Time {
	limit := time.Duration(-1)
	if a.Run.Options.BlockSoft > 0 {
		limit = max(0, a.Run.Options.BlockSoft-a.Spent)
	}
	if a.Seal >= 0 {
		limit = earlier(limit, a.Seal-min(a.Seal/4, time.Minute))
	}
	return a.until(limit)
}

// leftUntilSeal returns the remaining time for research; negative = no limit.
func (a *attempt) leftUntilSeal() time.Duration {
	if a.Seal < 0 {
		return -1
	}
	return max(0, a.Seal-time.Since(a.begun))
}

// earlier returns the smaller of two limits, where negative = no limit.
func earlier(a, b time.Duration) time.Duration {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// endedError wraps an error that fails a unit of work at once because retrying would not help. It is shown to the user.
type endedError struct{ err error }

func (e endedError) Error() string { return e.err.Error() }
func (e endedError) Unwrap() error { return e.err }

// stageError wraps err in an endedError if the model cannot answer. All other errors are retried.
func stageError(doing string, err error) error {
	err = fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, llm.ErrPermanent) || errors.Is(err, llm.ErrUnavailable) || errors.Is(err, llm.ErrAnswer) {
		return endedError{err}
	}
	return err
}

// handler returns an asynq handler that runs do on one kind of unit. do returns nil after it has committed. The work
// runs under our own context, because asynq restarts a task as soon as asynq's context ends, even if its handler still
// runs.
func (w *Worker) handler(do func(context.Context, *attempt) error) asynq.HandlerFunc {
	return func(asynqCtx context.Context, task *asynq.Task) error {
		if !w.handlers.enter() {
			return errDrain // dequeued at the last moment and returned to the queue, see server
		}
		defer w.handlers.leave()
		var p payload
		if err := decodeTask(task, &p); err != nil {
			return err
		}
		log := w.Log.With().Str("run", p.RunID).Str("unit", p.Unit).Int("attempt", p.Generation).Logger()
		begun, err := w.Queue.Begin(w.work, p.RunID, p.Unit, p.Generation)
		switch {
		case errors.Is(err, redisqueue.ErrHeld):
			log.Debug().Err(err).Msg("task not needed")
			return revoked(err)
		case errors.Is(err, redisqueue.ErrStale):
			return notNeeded(asynqCtx, log.WithContext(w.work), w.Queue, w.Dispatcher, p, err)
		case err != nil:
			return err
		}
		defer w.feedSoon()
		ctx, cancel := context.WithCancelCause(log.WithContext(w.work))
		defer cancel(nil)
		a := w.newAttempt(begun)
		a.cancel = cancel
		if limit := a.hardLimit(); limit >= 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeoutCause(ctx, limit, errTimeUp)
			defer stop()
		}
		w.leases.add(a)
		defer w.leases.remove(a)
		if cause := w.handlers.cause(); cause != nil { // the worker was stopped while the attempt began
			a.gate.close(cause)
		}

		started := w.Now()
		log.Info().Str("kind", task.Type()).Func(a.named(redisqueue.UnitPlan)).Msg("attempt started")
		err = guard(ctx, a, do)
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = cause // regardless of how do wrapped it
		}
		a.traceAttempt(started, w.Now(), err)
		if err == nil {
			log.Info().Str("kind", task.Type()).Dur("took_ms",
				w.Now().Sub(started)).Func(a.named(redisqueue.UnitPublish)).Msg("attempt ended")
			return a.concluded(ctx, task)
		}
		return a.settle(ctx, asynqCtx, task, err)
	}
}

// whenAffordable delays planning until the run gets its share of the budgets of its batch and its night. Until then the
// task is retried, and the run's time does not start.
func (w *Worker) whenAffordable(begin asynq.HandlerFunc) asynq.HandlerFunc {
	return func(ctx context.Context, task *asynq.Task) error {
		var p payload
		if w.Model == nil || json.Unmarshal(task.Payload(), &p) != nil {
			return begin(ctx, task)
		}
		run, err := w.Queue.Run(w.work, p.RunID)
		if err != nil || run.State != topicqueue.RunQueued || !run.Options.Common() {
			return begin(ctx, task) // begin reports the error
		}
		b := w.newAttempt(redisqueue.Begun{Run: run}).budget
		b.lookAround(w.work)
		switch ok, err := w.Queue.MayBegin(w.work, run, nightOf(run, w.Now()),
			b.claim(topicqueue.Purse{}, topicqueue.Estimate{}, 0)); {
		case err != nil:
			return err
		case !ok:
			return errHeld
		}
		return begin(ctx, task)
	}
}

// plainHandler returns an asynq handler for work that belongs to no run. As for attempts, the context is our own, and a
// stopping worker waits for the handler.
func (w *Worker) plainHandler(do func(context.Context, *asynq.Task) error) asynq.HandlerFunc {
	return func(asynqCtx context.Context, task *asynq.Task) error {
		if !w.handlers.enter() {
			return errDrain
		}
		defer w.handlers.leave()
		err := do(w.Log.WithContext(w.work), task)
		if err == nil {
			return nil
		}
		if cause := context.Cause(w.work); cause != nil {
			return cause
		}
		log := w.Log.Warn().Err(err).Str("kind", task.Type())
		tried, _ := asynq.GetRetryCount(asynqCtx)
		if last, _ := asynq.GetMaxRetry(asynqCtx); tried >= last || errors.Is(err, asynq.SkipRetry) {
			log.Msg("task failed; no more retries")
		} else {
			log.Msg("task will be retried")
		}
		return err
	}
}

// named returns a function that adds the run, and its final state, to the log line of one unit of the run.
func (a *attempt) named(unit string) func(*zerolog.Event) {
	return func(e *zerolog.Event) {
		if a.Lease.Unit != unit {
			return
		}
		e.Str("batch", a.Run.Batch).Str("topic", topicqueue.Clip(topicqueue.OneLine(a.Run.Topic), 200))
		if a.Run.State.Final() {
			e.Str("state", string(a.Run.State)).Str("reason", a.Run.Reason)
		}
	}
}

// guard turns a panic of do into an error, because one bad input must not end the process and all other work in it.
func guard(ctx context.Context, a *attempt, do func(context.Context, *attempt) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			zerolog.Ctx(ctx).Error().Bytes("stack", debug.Stack()).Interface("panic", r).Msg("handler panicked")
			err = endedError{fmt.Errorf("internal error (please report): %v", r)}
		}
	}()
	return do(ctx, a)
}

// settle decides what an error of an attempt means for the unit and its task:
//
//   - The lease was lost (to another attempt, or by a cancellation): nothing is written, the task is done.
//   - The worker stops, or the run is paused: the unit is yielded to a new generation; this task is done.
//   - Its time is over: a block ends with its current results, the sweep does the rest, the task is done.
//   - endedError: the unit fails, see concluded.
//   - Any other error: asynq retries, and after the last try the unit fails. Publishing never fails.
func (a *attempt) settle(ctx, asynqCtx context.Context, task *asynq.Task, err error) error {
	log := zerolog.Ctx(ctx)
	saveCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	var ended endedError
	retried, _ := asynq.GetRetryCount(asynqCtx)
	switch {
	case errors.Is(err, redisqueue.ErrFenced):
		log.Warn().Err(err).Msg("attempt stopped: another attempt has taken over this unit")
		return revoked(err)
	case errors.Is(err, errDrain), errors.Is(err, errPaused):
		if err := a.end(saveCtx, "yield the unit", func(ctx context.Context) ([]redisqueue.Intent, error) {
			return a.queue.Yield(ctx, a.Lease)
		}); err != nil && !errors.Is(err, redisqueue.ErrFenced) {
			return fmt.Errorf("yield %s of run %s: %w", a.Lease.Unit, a.Lease.RunID, err)
		}
		log.Info().AnErr("because", err).Msg("attempt yielded to another worker")
		return revoked(err)
	case errors.Is(err, errTimeUp):
		log.Warn().Err(err).Msg("attempt stopped")
		if err := a.timeUp(saveCtx); err != nil && !errors.Is(err, redisqueue.ErrFenced) {
			return fmt.Errorf("end %s of run %s: %w", a.Lease.Unit, a.Lease.RunID, err)
		}
		if a.Block.ID == "" {
			return revoked(err)
		}
		return a.concluded(ctx, task)
	case a.Lease.Unit != redisqueue.UnitPublish && (errors.As(err, &ended) || retried >= maxRetry):
		log.Warn().Err(err).Msg("attempt failed")
		if saveErr := a.fail(saveCtx, err.Error()); errors.Is(saveErr, redisqueue.ErrFenced) {
			return revoked(err)
		} else if saveErr != nil {
			return fmt.Errorf("end %s of run %s as failed: %w", a.Lease.Unit, a.Lease.RunID, saveErr)
		}
		return a.concluded(ctx, task)
	}
	log.Warn().Err(err).Int("tried", retried+1).Msg("task will be retried")
	if releaseErr := a.queue.Release(saveCtx, a.Lease); releaseErr != nil {
		log.Warn().Err(releaseErr).Msg("lease not released")
	}
	return err
}

// fail ends the unit as failed. A block becomes FAILED and the run continues. A run continues without its review, or
// ends without its narration. A failed plan or report fails the run.
func (a *attempt) fail(ctx context.Context, reason string) error {
	switch a.Lease.Unit {
	case redisqueue.UnitReview:
		return a.closeReview(ctx, topicqueue.Review{NotDone: reason})
	case redisqueue.UnitNarrate:
		return a.narrated(ctx, topicqueue.Narration{Problem: reason})
	}
	if a.Block.ID != "" {
		return a.endBlock(ctx, topicqueue.BlockFailed, reason, researching.Result{})
	}
	return a.finish(ctx, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: reason})
}

// timeUp ends a block whose own time is over. The sweep handles the run's time, because it also sees runs that no
// worker has.
func (a *attempt) timeUp(ctx context.Context) error {
	if a.Block.ID == "" {
		return nil
	}
	traces, err := a.queue.Traces(ctx, a.Run.ID, a.Block.ID)
	if err != nil {
		return err
	}
	if len(traces) > 0 {
		return a.endBlock(ctx, topicqueue.BlockCompleted, "cut short: its time was used up", researching.Result{})
	}
	return a.endBlock(ctx, topicqueue.BlockFailed, "its time was used up before anything was found", researching.Result{})
}

// endBlock ends the attempt's block by Queue.EndBlock.
func (a *attempt) endBlock(ctx context.Context, status topicqueue.BlockStatus, reason string,
	r researching.Result) error {
	return a.end(ctx, "end "+a.Block.ID, func(ctx context.Context) ([]redisqueue.Intent, error) {
		return a.queue.EndBlock(ctx, a.Lease, status, reason, r.Fallbacks, r.Returned)
	})
}

func (a *attempt) finish(ctx context.Context, out redisqueue.Outcome) error {
	return a.end(ctx, "end the run", func(ctx context.Context) ([]redisqueue.Intent, error) {
		return a.queue.Finish(ctx, a.Lease, out)
	})
}
