package stage

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/jobs/steady"
	"nightdesk/jobs/tracing"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Attempt is one try at a unit of work. It holds the unit's lease.
type Attempt struct {
	redisqueue.Begun
	Services
	Calls  *Calls  // its model and tool calls
	Budget *Budget // pays for the calls

	runner *Runner
	stage  Stage
	limit  time.Duration // see HardLimit
	gate   *gate
	cancel context.CancelCauseFunc
	begun  time.Time
	trace  tracing.Run
	traced bool // whether the trace of the published run is written
}

// newAttempt returns an attempt at a unit that has begun.
func (r *Runner) newAttempt(begun redisqueue.Begun, s Stage) *Attempt {
	a := &Attempt{Begun: begun, Services: r.Services, runner: r, stage: s, limit: -1, gate: newGate(), begun: time.Now(),
		trace: r.Tracer.Run(begun.Run.ID, begun.Epoch)}
	if s.Limit != nil {
		a.limit = s.Limit(a)
	}
	a.Calls, a.Budget = &Calls{a: a}, &Budget{a: a}
	return a
}

// Until returns the time d after the start of the attempt, or the zero time (no limit) if d is negative.
func (a *Attempt) Until(d time.Duration) time.Time {
	if d < 0 {
		return time.Time{}
	}
	return a.begun.Add(d)
}

// HardLimit returns when work on the unit ends, finished or not, counted from the start of the attempt. Negative = no
// limit.
func (a *Attempt) HardLimit() time.Duration { return a.limit }

// LeftUntilSeal returns the remaining time for research; negative = no limit.
func (a *Attempt) LeftUntilSeal() time.Duration {
	if a.Seal < 0 {
		return -1
	}
	return max(0, a.Seal-time.Since(a.begun))
}

// Emit appends events on behalf of the attempt.
func (a *Attempt) Emit(ctx context.Context, events ...topicqueue.Event) error {
	return steady.Do(ctx, "append events", func(ctx context.Context) error {
		return a.Queue.Emit(ctx, a.Lease, events...)
	})
}

// Commit makes a transition and enqueues the resulting intents. Both may be repeated, because transitions recognize the
// owner who made them, and tasks have ids.
func (a *Attempt) Commit(ctx context.Context, doing string, transition Transition) error {
	return steady.Do(ctx, doing, func(ctx context.Context) error {
		intents, err := transition(ctx)
		if err != nil {
			return err
		}
		return a.Dispatcher.Dispatch(ctx, intents)
	})
}

// end commits how the unit ends. The transition releases the lease, perhaps in a try whose reply was lost. A failed
// renewal must therefore not stop the remaining work.
func (a *Attempt) end(ctx context.Context, e Ending) error {
	if e.Commit == nil {
		return nil
	}
	a.runner.leases.ending(a)
	return a.Commit(ctx, e.Doing, func(ctx context.Context) ([]redisqueue.Intent, error) {
		intents, err := e.Commit(ctx)
		if err == nil {
			a.runner.leases.remove(a)
		}
		return intents, err
	})
}

// Wait blocks while the lease has not been renewed for so long that another worker may soon take over the unit. It
// returns the cause of ctx's end.
func (a *Attempt) Wait(ctx context.Context) error { return a.runner.leases.wait(ctx, a.Lease) }

// named returns a function that adds the run, and its final state, to the log line of one unit of the run.
func (a *Attempt) named(unit string) func(*zerolog.Event) {
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
