package redisqueue

import (
	"context"
	"encoding/json"
	"fmt"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Cancel ends a run. Whoever works on it is refused from now on, and told at once (see Changes). report: what was found
// is written up, as far as there is a plan; the run then ends as partial, or, when its report is only being narrated,
// as the report has it. A run that has ended stays as it is.
func (q *controls) Cancel(ctx context.Context, runID, reason string, report bool) ([]Intent, error) {
	flag := 0
	if report {
		flag = 1
	}
	if err := q.watch(ctx, runID); err != nil {
		return nil, err
	}
	r, err := q.run(ctx, cancelScript, "cancel", runID, reason, flag)
	if err != nil {
		return nil, err
	}
	if err := q.moved(ctx, runID, r); err != nil {
		return nil, err
	}
	return r.intents(runID), q.tell(ctx, runID)
}

// Pause stops a run where it stands: calls in flight end and are kept, no new one begins. Then its clock stands too.
func (q *controls) Pause(ctx context.Context, runID string) error {
	r, err := q.run(ctx, pauseScript, "pause", runID, 1)
	if err != nil {
		return err
	}
	if !r.state().Final() { // others are begun in its place; should it go on by now, a sweep corrects that
		err = q.note(ctx, runID, note{lane: lua.Text(r.values, 0), state: r.state(), check: ms(q.watchTime()),
			soonest: true, paused: true})
	}
	if err != nil {
		return err
	}
	return q.tell(ctx, runID)
}

// Resume lets a paused run go on.
func (q *controls) Resume(ctx context.Context, runID string) ([]Intent, error) {
	if err := q.watch(ctx, runID); err != nil {
		return nil, err
	}
	r, err := q.run(ctx, pauseScript, "resume", runID, 0)
	if err != nil {
		return nil, err
	}
	if r.state() == topicqueue.RunQueued { // the sweep puts it back to those that wait
		return nil, q.watch(ctx, runID)
	}
	return r.intents(runID), q.moved(ctx, runID, r)
}

// Answer gives a person's reply to a question of a run, by its number from 1. The same reply again changes nothing.
// ErrStale: the run does not wait with this question (any more).
func (q *controls) Answer(ctx context.Context, runID string, number int, reply topicqueue.Reply) ([]Intent, error) {
	data, err := json.Marshal(reply)
	if err != nil {
		return nil, fmt.Errorf("encode answer for run %s: %w", runID, err)
	}
	if err := q.watch(ctx, runID); err != nil {
		return nil, err
	}
	r, err := q.run(ctx, answerScript, "answer", runID, data, number)
	if err != nil {
		return nil, err
	}
	return r.intents(runID), q.moved(ctx, runID, r)
}

// What a retry does again.
const (
	RetryBlocks = "blocks" // blocks that failed or were cut short, then the report
	RetryReport = "report" // the report alone
	RetryAll    = "all"    // everything, from planning on; also what the others do for a run without a plan
)

// Retry lets a run that has ended go on from its state, as its next epoch. maxIterations: those a block may have; one
// that failed after all of them starts anew. ErrRunning: it has not ended. ErrNotFound: its state has expired.
func (q *controls) Retry(ctx context.Context, runID, what string, maxIterations int) ([]Intent, error) {
	run, err := q.read.Run(ctx, runID)
	if err != nil {
		return nil, err
	}
	if err := q.watch(ctx, runID); err != nil {
		return nil, err
	}
	// Before it is: then its batch has not ended. A look at the batch corrects it when the retry breaks off.
	if err := q.rdb.SAdd(ctx, batchKey(run.Batch, "open"), runID).Err(); err != nil {
		return nil, fmt.Errorf("retry of run %s in Redis: %w", runID, err)
	}
	r, err := q.run(ctx, retryScript, "retry", runID, what, maxIterations, newOwner(), run.Options.Budget.Amount())
	if err != nil {
		return nil, err
	}
	if r.state() == topicqueue.RunQueued {
		return nil, q.watch(ctx, runID) // the sweep puts it to those that wait
	}
	return r.intents(runID), q.moved(ctx, runID, r)
}

const changesChannel = lua.Prefix + "{index}:changes"

// tell makes a change known to the workers at once. One that misses it sees the change when it renews its lease.
func (q *controls) tell(ctx context.Context, runID string) error {
	if err := q.rdb.Publish(ctx, changesChannel, runID).Err(); err != nil {
		return fmt.Errorf("tell workers of run %s by Redis: %w", runID, err)
	}
	return nil
}

// Changes calls heard with the id of every run that was cancelled or paused, until ctx ends.
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
