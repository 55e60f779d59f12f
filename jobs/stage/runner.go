// Package stage does the units of work of runs: plans, topic blocks, reviews, reports, narrations, publications. What a
// unit does is a [Stage]; everything that all units have in common is here and only here:
//
//	begin     the unit's lease is taken; another attempt that holds it, or has moved on, makes the task unneeded
//	work      Stage.Work runs under a context of its own, with a limit; calls are paid for and kept in the journal
//	settle    the unit ends by one call of the queue's scripts: the Ending that Work returns, or the one that what
//	          stopped it calls for. The intents that the script returns become the next tasks. The outcome is then
//	          traced, logged, and shown in the task.
//
// Exactly one attempt commits a unit: every write names the lease, and a script refuses one that was taken over.
//
// Entry points: [Runner], [Stage] and [Attempt].
package stage

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/rs/zerolog"

	"nightdesk/jobs/tasks"
	"nightdesk/jobs/tracing"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// SaveTime limits the final writes of an attempt whose context has ended.
const SaveTime = 5 * time.Second

// Causes that end the work of an attempt early.
var (
	ErrDrain  = errors.New("the worker is stopping")
	errPaused = errors.New("the run is paused")
	ErrTimeUp = errors.New("its time is used up")
)

// ErrHeld means that other runs hold the run's share of a common budget.
var ErrHeld = errors.New("it waits because other runs hold the rest of the budget")

// Stage is one kind of unit of work.
type Stage struct {
	// Ready returns an error while a run may not begin; nil: always ready.
	Ready func(ctx context.Context, runID string) error
	// Work does the work of a unit, and returns how it ends. It may be called again after it has succeeded.
	Work func(ctx context.Context, a *Attempt) (Ending, error)
	// Failed returns how a unit ends that cannot be done. nil: it is tried until it can be done.
	Failed func(a *Attempt, reason string) Ending
	// TimeUp returns how a unit ends whose own time is over; nil: the sweep ends it.
	TimeUp func(ctx context.Context, a *Attempt) (Ending, error)
	// Limit returns when work on a unit ends, finished or not, counted from the start of the attempt; negative: never.
	Limit func(a *Attempt) time.Duration
	// Patience returns which part of a limit an attempt waits for a model server that is down; nil: two thirds. The rest
	// is for work without the model.
	Patience func(limit time.Duration) time.Duration
	Cut      string // what a budget cuts that cannot pay for the stage's calls, see topicqueue.CutReview
}

// Ending is how a unit ends.
type Ending struct {
	Doing  string     // for errors: "commit the plan"
	Commit Transition // nil: the work has committed itself
	// Result is shown with the ended task: "planned: 3 topic blocks". Empty: nothing is shown.
	Result string
	Reason string // shown after the result
	// Calls selects the model calls that are counted with the result; nil: all of the run.
	Calls func(topicqueue.Usage) bool
}

// Transition is a call of the queue's scripts that changes a unit. It returns the work that follows.
type Transition func(ctx context.Context) ([]redisqueue.Intent, error)

// Final wraps an error that fails a unit of work at once because retrying would not help. It is shown to the user.
type Final struct{ Err error }

func (e Final) Error() string { return e.Err.Error() }
func (e Final) Unwrap() error { return e.Err }

// Error adds what was being done to err, unless it is nil, and wraps it in Final if the model cannot answer. All other
// errors are retried.
func Error(doing string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s: %w", doing, err)
	if errors.Is(err, llm.ErrPermanent) || errors.Is(err, llm.ErrUnavailable) || errors.Is(err, llm.ErrAnswer) {
		return Final{err}
	}
	return err
}

// Services are the services that attempts use.
type Services struct {
	Queue      *redisqueue.Queue
	Dispatcher *tasks.Dispatcher
	Store      storage.Store
	Model      llm.Model // nil: extractive path
	Prices     llm.Prices
	Shared     tools.Shared    // results of calls, shared by all workers; nil: every block makes its own calls
	Tracer     *tracing.Tracer // nil: no tracing
	Log        zerolog.Logger
	Now        func() time.Time
}

// Settings are the settings of a Runner.
type Settings struct {
	Grace time.Duration // how long a stop waits for work in flight before handing it on
}

// Runner runs attempts at units of work until it is stopped.
type Runner struct {
	Services
	Settings
	ended      func() // called when an attempt has ended
	figures    *figures
	leases     *leases
	admitted   *gate           // admits attempts
	work       context.Context // of all attempts
	cancel     context.CancelCauseFunc
	stopped    context.Context // ends background work
	stop       context.CancelFunc
	background sync.WaitGroup
}

// NewRunner returns a runner and begins to renew the leases of its attempts. ctx only carries values: its end does not
// stop the runner. ended is called whenever an attempt has ended.
func NewRunner(ctx context.Context, s Services, settings Settings, ended func()) *Runner {
	r := &Runner{Services: s, Settings: settings, ended: ended, figures: &figures{queue: s.Queue, now: s.Now},
		admitted: newGate(), leases: newLeases(s.Queue.Timing().Lease * 3 / 4)}
	r.work, r.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	r.stopped, r.stop = context.WithCancel(context.Background())
	r.renew()
	return r
}

// Closed reports whether the runner takes no more units.
func (r *Runner) Closed() bool { return r.admitted.cause() != nil }

// Close takes no more units and lets no new call begin.
func (r *Runner) Close() {
	r.admitted.close(ErrDrain)
	r.leases.closeAll(ErrDrain)
}

// Drain returns when every attempt of a closed runner has ended. Calls in flight may end within the grace period;
// unfinished work is handed on to other workers.
func (r *Runner) Drain() {
	select {
	case <-r.admitted.landed:
	case <-time.After(r.Grace):
		r.cancel(ErrDrain)
	}
	<-r.admitted.landed
}

// Stop ends the work in the background of a drained runner.
func (r *Runner) Stop() {
	r.stop()
	r.background.Wait()
	r.cancel(ErrDrain)
}

// Go does work in the background until the runner is stopped. do returns when stopped ends; ctx outlives it.
func (r *Runner) Go(do func(ctx, stopped context.Context)) {
	r.background.Go(func() { do(context.WithoutCancel(r.work), r.stopped) })
}

// Every calls do repeatedly until the runner is stopped. ctx ends with the pause that follows the call.
func (r *Runner) Every(pause time.Duration, do func(ctx context.Context)) {
	r.Go(func(work, stopped context.Context) {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			ctx, cancel := context.WithTimeout(work, max(pause, SaveTime))
			do(ctx)
			cancel()
			select {
			case <-stopped.Done():
				return
			case <-tick.C:
			}
		}
	})
}

// Handler returns the handler of a stage's tasks. The work runs under our own context, because asynq restarts a task as
// soon as asynq's context ends, even if its handler still runs.
func (r *Runner) Handler(s Stage) asynq.HandlerFunc {
	return func(asynqCtx context.Context, task *asynq.Task) error {
		if !r.admitted.enter() {
			return ErrDrain // dequeued at the last moment and returned to the queue
		}
		defer r.admitted.leave()
		var p tasks.Payload
		if err := tasks.Decode(task, &p); err != nil {
			return err
		}
		if s.Ready != nil {
			if err := s.Ready(r.work, p.RunID); err != nil {
				return err
			}
		}
		log := r.Log.With().Str("run", p.RunID).Str("unit", p.Unit).Int("attempt", p.Generation).Logger()
		begun, err := r.Queue.Begin(r.work, p.RunID, p.Unit, p.Generation)
		switch {
		case errors.Is(err, redisqueue.ErrHeld):
			log.Debug().Err(err).Msg("task not needed")
			return tasks.Revoked(err)
		case errors.Is(err, redisqueue.ErrStale):
			return r.notNeeded(asynqCtx, log.WithContext(r.work), p, err)
		case err != nil:
			return err
		}
		defer r.ended()
		return r.attempt(log.WithContext(r.work), asynqCtx, task, r.newAttempt(begun, s))
	}
}

// attempt works on a unit that has begun, and settles it.
func (r *Runner) attempt(ctx, asynqCtx context.Context, task *asynq.Task, a *Attempt) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	a.cancel = cancel
	if limit := a.HardLimit(); limit >= 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, ErrTimeUp)
		defer stop()
	}
	r.leases.add(a)
	defer r.leases.remove(a)
	if cause := r.admitted.cause(); cause != nil { // the worker was stopped while the attempt began
		a.gate.close(cause)
	}
	log, started := zerolog.Ctx(ctx), r.Now()
	log.Info().Str("kind", task.Type()).Func(a.named(redisqueue.UnitPlan)).Msg("attempt started")
	ending, err := a.do(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // regardless of how the work wrapped it
	}
	tried, _ := asynq.GetRetryCount(asynqCtx)
	out := a.outcomeOf(err, tried)
	a.traceAttempt(started, out, err)
	if out == outEnded {
		log.Info().Str("kind", task.Type()).Dur("took_ms", r.Now().Sub(started)).
			Func(a.named(redisqueue.UnitPublish)).Msg("attempt ended")
		return a.concluded(ctx, task, ending)
	}
	return a.settle(ctx, task, out, err)
}

// Do works on a unit outside of a task, and commits its ending.
func (r *Runner) Do(ctx context.Context, begun redisqueue.Begun, s Stage) error {
	_, err := r.newAttempt(begun, s).do(ctx)
	return err
}

// do works and commits the ending. It turns a panic into an error, because one bad input must not end the process and
// all other work in it.
func (a *Attempt) do(ctx context.Context) (ending Ending, err error) {
	defer func() {
		if p := recover(); p != nil {
			zerolog.Ctx(ctx).Error().Bytes("stack", debug.Stack()).Interface("panic", p).Msg("handler panicked")
			err = Final{fmt.Errorf("internal error (please report): %v", p)}
		}
	}()
	if ending, err = a.stage.Work(ctx, a); err == nil {
		err = a.end(ctx, ending)
	}
	return ending, err
}

// outcome is what became of an attempt.
type outcome string

const (
	outEnded    outcome = "ended"
	outLost     outcome = "lost"      // to another attempt, or by a cancellation
	outHandedOn outcome = "handed_on" // the worker stops, or the run is paused
	outTimeUp   outcome = "time_up"
	outFailed   outcome = "failed" // it cannot be done, or was tried often enough
	outRetry    outcome = "retry"
)

func (a *Attempt) outcomeOf(err error, tried int) outcome {
	var final Final
	switch {
	case err == nil:
		return outEnded
	case errors.Is(err, redisqueue.ErrFenced):
		return outLost
	case errors.Is(err, ErrDrain), errors.Is(err, errPaused):
		return outHandedOn
	case errors.Is(err, ErrTimeUp):
		return outTimeUp
	case a.stage.Failed != nil && (errors.As(err, &final) || tried >= tasks.MaxRetry):
		return outFailed
	}
	return outRetry
}

// settle ends a unit whose work has not ended it, and decides what that means for its task:
//
//   - lost: nothing is written, the task is done.
//   - handed on: the unit is yielded to a new generation; this task is done.
//   - time up: a unit with time of its own ends with its current results, the sweep does the rest, the task is done.
//   - failed: the unit fails, see concluded.
//   - retry: asynq retries.
func (a *Attempt) settle(ctx context.Context, task *asynq.Task, out outcome, err error) error {
	log := zerolog.Ctx(ctx)
	saveCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), SaveTime)
	defer cancel()
	switch out {
	case outLost:
		log.Warn().Err(err).Msg("attempt stopped: another attempt has taken over this unit")
		return tasks.Revoked(err)
	case outHandedOn:
		log.Info().AnErr("because", err).Msg("attempt yielded to another worker")
	case outTimeUp:
		log.Warn().Err(err).Msg("attempt stopped")
	case outFailed:
		log.Warn().Err(err).Msg("attempt failed")
	case outRetry:
		log.Warn().Err(err).Msg("task will be retried")
		if releaseErr := a.Queue.Release(saveCtx, a.Lease); releaseErr != nil {
			log.Warn().Err(releaseErr).Msg("lease not released")
		}
		return err
	}
	ending, endErr := a.instead(saveCtx, out, err)
	if endErr == nil {
		endErr = a.end(saveCtx, ending)
	}
	fenced := errors.Is(endErr, redisqueue.ErrFenced)
	switch {
	case endErr != nil && !fenced:
		return fmt.Errorf("%s of run %s: %w", ending.Doing, a.Run.ID, endErr)
	case out == outFailed && !fenced, out == outTimeUp && a.stage.TimeUp != nil:
		return a.concluded(ctx, task, ending)
	}
	return tasks.Revoked(err)
}

// instead returns how a unit ends that its work has not ended.
func (a *Attempt) instead(ctx context.Context, out outcome, err error) (Ending, error) {
	switch {
	case out == outHandedOn:
		return Ending{Doing: "yield " + a.Lease.Unit, Commit: func(ctx context.Context) ([]redisqueue.Intent, error) {
			return a.Queue.Yield(ctx, a.Lease)
		}}, nil
	case out == outTimeUp && a.stage.TimeUp != nil:
		return a.stage.TimeUp(ctx, a)
	case out == outFailed:
		return a.stage.Failed(a, err.Error()), nil
	}
	return Ending{}, nil
}

// Plain returns a handler for work that belongs to no run. As for attempts, the context is our own, and a stopping
// worker waits for the handler.
func (r *Runner) Plain(do func(context.Context, *asynq.Task) error) asynq.HandlerFunc {
	return func(asynqCtx context.Context, task *asynq.Task) error {
		if !r.admitted.enter() {
			return ErrDrain
		}
		defer r.admitted.leave()
		err := do(r.Log.WithContext(r.work), task)
		if err == nil {
			return nil
		}
		if cause := context.Cause(r.work); cause != nil {
			return cause
		}
		log := r.Log.Warn().Err(err).Str("kind", task.Type())
		tried, _ := asynq.GetRetryCount(asynqCtx)
		if last, _ := asynq.GetMaxRetry(asynqCtx); tried >= last || errors.Is(err, asynq.SkipRetry) {
			log.Msg("task failed; no more retries")
		} else {
			log.Msg("task will be retried")
		}
		return err
	}
}
