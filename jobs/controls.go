package jobs

import (
	"context"
	"errors"
	"fmt"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Controls does with runs what a person tells it. Commands, pages and the API use it. An error that is a Refusal says
// why a run stays as it is; redisqueue.ErrNotFound, that its state has left the queue.
type Controls struct {
	Queue      *redisqueue.Queue
	Dispatcher *Dispatcher
}

// Refusal is why a run stays as it is, for a person.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// ErrNothingFailed refuses a retry of what failed in a completed run.
const ErrNothingFailed = Refusal("nothing in it failed")

// Cancel ends a run now. report: what was found is written up.
func (c Controls) Cancel(ctx context.Context, run topicqueue.Run, reason string, report bool) error {
	if err := active(run); err != nil {
		return err
	}
	intents, err := c.Queue.Cancel(ctx, run.ID, reason, report)
	return c.dispatch(ctx, intents, err)
}

// Pause stops a run where it stands.
func (c Controls) Pause(ctx context.Context, run topicqueue.Run) error {
	if err := active(run); err != nil {
		return err
	}
	return c.Queue.Pause(ctx, run.ID)
}

// Resume lets a paused run go on.
func (c Controls) Resume(ctx context.Context, run topicqueue.Run) error {
	if !run.Paused {
		return Refusal("it is not paused")
	}
	intents, err := c.Queue.Resume(ctx, run.ID)
	return c.dispatch(ctx, intents, err)
}

// Retry does again what failed in a run. what: one of the redisqueue.Retry... constants.
func (c Controls) Retry(ctx context.Context, run topicqueue.Run, what string) error {
	switch {
	case !run.State.Final():
		return Refusal("it has not ended, it is " + string(run.State))
	case run.State == topicqueue.RunCompleted && what == redisqueue.RetryBlocks:
		return ErrNothingFailed
	}
	intents, err := c.Queue.Retry(ctx, run.ID, what, run.Options.MaxIterations)
	if errors.Is(err, redisqueue.ErrRunning) { // somebody was faster
		return Refusal("it has not ended")
	}
	return c.dispatch(ctx, intents, err)
}

// Answer answers a question of a run by its number.
func (c Controls) Answer(ctx context.Context, run topicqueue.Run, number int, reply topicqueue.Reply) error {
	intents, err := c.Queue.Answer(ctx, run.ID, number, reply)
	return c.dispatch(ctx, intents, err)
}

func (c Controls) dispatch(ctx context.Context, intents []redisqueue.Intent, err error) error {
	if err != nil {
		return err
	}
	return c.Dispatcher.Dispatch(ctx, intents)
}

// active refuses a run that has ended.
func active(run topicqueue.Run) error {
	if run.State.Final() {
		return Refusal(fmt.Sprintf("it has already ended as %s", run.State))
	}
	return nil
}
