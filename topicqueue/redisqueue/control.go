package redisqueue

import (
	"context"
	"encoding/json"
	"fmt"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Cancel ends a run. Attempts that work on it are refused from now on, and notified at once (see Changes). With
// report, the existing findings are written up if there is a plan, and the run ends as partial. A run that is only
// being narrated then ends in the state of its report. A run that has ended stays unchanged.
func (q *controls) Cancel(ctx context.Context, runID, reason string, report bool) ([]Intent, error) {
	if err := q.watch(ctx, runID); err != nil {
		return nil, err
	}
	r, err := q.run(ctx, cancelScript, "cancel", runID, reason, report)
	if err != nil {
		return nil, err
	}
	if err := q.moved(ctx, runID, r); err != nil {
		return nil, err
	}
	return r.intents(runID), q.tell(ctx, runID)
}

// Pause pauses a run: calls in flight end and are kept, and no new call begins. Then the run's clock stops too.
func (q *controls) Pause(ctx context.Context, runID string) error {
	r, err := q.run(ctx, pauseScript, "pause", runID, 1)
	if err != nil {
		return err
	}
	if !r.state().Final() { // other runs begin in its place; if it has been resumed by now, a sweep corrects that
		err = q.note(ctx, runID, note{lane: lua.Text(r.values, 0), state: r.state(), check: ms(q.watchTime()),
			soonest: true, paused: true})
	}
	if err != nil {
		return err
	}
	return q.tell(ctx, runID)
}

// Resume lets a paused run continue.
func (q *controls) Resume(ctx context.Context, runID string) ([]Intent, error) {
	if err := q.watch(ctx, runID); err != nil {
		return nil, err
	}
	r, err := q.run(ctx, pauseScript, "resume", runID, 0)
	if err != nil {
		return nil, err
	}
	if r.state() == topicqueue.RunQueued { // a sweep returns it to the waiting runs
		return nil, q.watch(ctx, runID)
	}
	return r.intents(runID), q.moved(ctx, runID, r)
}

// Answer delivers a person's reply to a question of a run. number is the question's number, counted from 1. Repeating
// the same reply changes nothing. It returns ErrStale if the run does not wait for this question (any more).
func (q *controls) Answer(ctx context.Context, runID string, number int, reply topicqueue.Reply) ([]Intent, error) {
	data, err := json.Marshal(reply)
	if err != nil {
		return nil, fmt.Errorf("encode answer for run %s: %w", runID, err)
	}
	if err := q.watch(ctx, runID); err != nil {
		return nil, err
	}
	return q.move(ctx, answerScript, "answer", runID, data, number)
}

// Scopes of a retry.
const (
	RetryBlocks = "blocks" // blocks that failed or were cut short, then the report
	RetryReport = "report" // the report only
	RetryAll    = "all"    // everything, starting with planning; any retry of a run without a plan does this too
)

// Retry restarts a run that has ended from its stored state, as its next epoch. maxIterations is the maximum per
// block; a block that failed after all of them starts over. It returns ErrRunning if the run has not ended, and
// ErrNotFound if its state has expired.
func (q *controls) Retry(ctx context.Context, runID, what string, maxIterations int) ([]Intent, error) {
	run, err := q.read.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	if err := q.watch(ctx, runID); err != nil {
		return nil, err
	}
	// Add the run before it is open, so that its batch has not ended. If the retry is interrupted, a check of the
	// batch corrects this.
	if err := q.rdb.SAdd(ctx, batchKey(run.Batch, "open"), runID).Err(); err != nil {
		return nil, redisError(err, "retry of run %s", runID)
	}
	r, err := q.run(ctx, retryScript, "retry", runID, what, maxIterations, newOwner(), run.Options.Budget.Amount())
	if err != nil {
		return nil, err
	}
	if r.state() == topicqueue.RunQueued {
		return nil, q.watch(ctx, runID) // a sweep adds it to the waiting runs
	}
	return r.intents(runID), q.moved(ctx, runID, r)
}

const changesChannel = lua.Prefix + "{index}:changes"

// tell notifies the workers of a change at once. A worker that misses the message sees the change when it renews its
// lease.
func (q *controls) tell(ctx context.Context, runID string) error {
	return redisError(q.rdb.Publish(ctx, changesChannel, runID).Err(), "tell workers of run %s", runID)
}

// Changes calls heard with the id of every run that is cancelled or paused, until ctx ends.
func (q *controls) Changes(ctx context.Context, heard func(runID string)) {
	sub := q.rdb.Subscribe(ctx, changesChannel)
	defer sub.Close()
	messages := sub.Channel()
	for {
		select {
		case <-ctx.Done():
			return
		case m, ok := <-messages:
			if !ok {
				return
			}
			heard(m.Payload)
		}
	}
}
