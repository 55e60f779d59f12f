package tasks

import (
	"context"
	"errors"
	"fmt"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Controls executes user commands on runs, for the command line, the pages and the API. An error of type Refusal says
// why a run was not changed. redisqueue.ErrNotFound means that its state has expired from the queue.
type Controls struct {
	Queue      *redisqueue.Queue
	Dispatcher *Dispatcher
}

// Refusal is the reason why a run was not changed, shown to the user.
type Refusal string

func (r Refusal) Error() string { return string(r) }

// ErrNothingFailed refuses to retry the failed parts of a completed run.
const ErrNothingFailed = Refusal("it has no failed parts")

// Cancel ends a run now. report: whether to write a report on the findings so far.
func (c Controls) Cancel(ctx context.Context, run topicqueue.Run, reason string, report bool) error {
	if err := active(run); err != nil {
		return err
	}
	intents, err := c.Queue.Cancel(ctx, run.ID, reason, report)
	return c.dispatch(ctx, intents, err)
}

// Pause pauses a run at its current state.
func (c Controls) Pause(ctx context.Context, run topicqueue.Run) error {
	if err := active(run); err != nil {
		return err
	}
	return c.Queue.Pause(ctx, run.ID)
}

// Resume continues a paused run.
func (c Controls) Resume(ctx context.Context, run topicqueue.Run) error {
	if !run.Paused {
		return Refusal("it is not paused")
	}
	intents, err := c.Queue.Resume(ctx, run.ID)
	return c.dispatch(ctx, intents, err)
}

// Retry repeats the failed parts of a run. what: one of the redisqueue.Retry... constants.
func (c Controls) Retry(ctx context.Context, run topicqueue.Run, what string) error {
	switch {
	case !run.State.Final():
		return Refusal("it has not ended: its state is " + string(run.State))
	case run.State == topicqueue.RunCompleted && what == redisqueue.RetryBlocks:
		return ErrNothingFailed
	}
	intents, err := c.Queue.Retry(ctx, run.ID, what, run.Options.MaxIterations)
	if errors.Is(err, redisqueue.ErrRunning) { // retried meanwhile by someone else
		return Refusal("it has not ended")
	}
	return c.dispatch(ctx, intents, err)
}

// Answer answers the question of a run that has this number.
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

// active returns a Refusal if the run has ended.
func active(run topicqueue.Run) error {
	if run.State.Final() {
		return Refusal(fmt.Sprintf("it has already ended as %s", run.State))
	}
	return nil
}
