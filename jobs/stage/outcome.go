package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/rs/zerolog"

	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// An ended task stays visible in dashboards for a day, with a result line written by its last attempt. A failed topic
// block or run leaves an archived task with the reason. For a block, it is the block's own task; for a run, it is the
// task that publishes the run. Running such a task again is a retry. A task that is not needed leaves nothing.

// failure returns the error of the archived task of a failed block or run.
func failure(reason string) error { return tasks.GiveUp(errors.New(failedWord + reason)) }

// failedWord is the prefix of errors from failure, and of no other error.
const failedWord = "failed: "

// concluded returns the outcome of the task of an attempt that has committed.
func (a *Attempt) concluded(ctx context.Context, task *asynq.Task, e Ending) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), SaveTime)
	defer cancel()
	reason, failed, err := a.Queue.Failure(ctx, a.Lease.RunID, a.Lease.Unit, a.Lease.Generation)
	switch {
	case err != nil:
		return err // the next attempt will find the commit
	case failed:
		return failure(reason)
	case e.Result == "":
		return nil
	}
	usage, err := a.Queue.Usage(ctx, a.Run.ID)
	if err == nil {
		_, err = task.ResultWriter().Write([]byte(e.line(usage)))
	}
	if err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("result line not stored")
	}
	return nil
}

// maxResult is the maximum length of a result line in bytes.
const maxResult = 300

// line summarizes the result of a unit: "completed: 5 claims, 9 model calls, $0.0123; cut short".
func (e Ending) line(usage []topicqueue.Usage) string {
	sum := topicqueue.Total(usage, e.Calls)
	spent := fmt.Sprintf("$%.4f", sum.CostUSD)
	if sum.Unpriced > 0 {
		spent = fmt.Sprintf("%d tokens", sum.Tokens)
	}
	line := fmt.Sprintf("%s, %d model calls, %s", e.Result, sum.Calls, spent)
	if e.Reason != "" {
		line += "; " + e.Reason
	}
	return topicqueue.Clip(topicqueue.OneLine(line), maxResult)
}

// notNeeded returns the outcome of a task whose unit has moved on. The task of a failed block or run is archived,
// because its worker may have died before archiving it. If it was archived already, a user has run it again, so the run
// is retried.
func (r *Runner) notNeeded(asynqCtx, ctx context.Context, p tasks.Payload, stale error) error {
	log := zerolog.Ctx(ctx)
	reason, failed, err := r.Queue.Failure(ctx, p.RunID, p.Unit, p.Generation)
	gone := errors.Is(err, redisqueue.ErrNotFound)
	if err != nil && !gone {
		return err
	}
	if !failed && !gone {
		log.Debug().Err(stale).Msg("task not needed")
		return tasks.Revoked(stale)
	}
	id, _ := asynq.GetTaskID(asynqCtx)
	queue, _ := asynq.GetQueueName(asynqCtx)
	last, err := r.Dispatcher.LastError(queue, id)
	if err != nil {
		return err
	}
	archived, again := strings.CutPrefix(last, failedWord)
	switch {
	case gone && again:
		return failure(strings.TrimSuffix(archived, expired) + expired)
	case gone:
		return tasks.Revoked(stale)
	case !again:
		return failure(reason)
	}
	run, err := r.Queue.Run(ctx, p.RunID)
	if err != nil {
		return err
	}
	intents, err := r.Queue.Retry(ctx, p.RunID, redisqueue.RetryBlocks, run.Options.MaxIterations)
	if errors.Is(err, redisqueue.ErrRunning) {
		return failure(reason + " (run this task again when the run has ended)")
	}
	if err != nil {
		return err
	}
	log.Info().Msg("run retried because its archived task was run again")
	return r.Dispatcher.Dispatch(ctx, intents)
}

// expired is appended to the reason of a run that can no longer be retried.
const expired = " (its state has expired: `nightdesk retry` shows what can still be done)"
