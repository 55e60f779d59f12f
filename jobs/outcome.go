package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hibiken/asynq"
	"github.com/rs/zerolog"

	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// An ended task stays visible in dashboards for a day, with a result line written by its last attempt. A failed topic
// block or run leaves an archived task with the reason. For a block, it is the block's own task; for a run, it is the
// task that publishes the run. Running such a task again is a retry. A task that is not needed leaves nothing.

// revoked returns the outcome of a task that leaves nothing, because it was not needed or its work is handed on.
func revoked(why error) error { return fmt.Errorf("%w: %w", why, asynq.RevokeTask) }

// failure returns the error of the archived task of a failed block or run.
func failure(reason string) error { return givenUpError{errors.New(failedWord + reason)} }

// failedWord is the prefix of errors from failure, and of no other error.
const failedWord = "failed: "

// concluded returns the outcome of the task of an attempt that has committed.
func (a *attempt) concluded(ctx context.Context, task *asynq.Task) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	p := payload{RunID: a.Lease.RunID, Unit: a.Lease.Unit, Generation: a.Lease.Generation}
	reason, failed, err := a.queue.Failure(ctx, p.RunID, p.Unit, p.Generation)
	switch {
	case err != nil:
		return err // the next attempt will find the commit
	case failed:
		return failure(reason)
	case p.Unit == redisqueue.UnitPublish:
		return nil
	}
	line, err := a.resultLine(ctx)
	if err == nil {
		_, err = task.ResultWriter().Write([]byte(line))
	}
	if err != nil {
		zerolog.Ctx(ctx).Debug().Err(err).Msg("result line not stored")
	}
	return nil
}

// resultLine summarizes the result of a unit: state, claims, calls, cost.
func (a *attempt) resultLine(ctx context.Context) (string, error) {
	usage, err := a.queue.Usage(ctx, a.Run.ID)
	if err != nil {
		return "", err
	}
	switch a.Lease.Unit {
	case redisqueue.UnitPlan:
		plan, err := a.queue.Plan(ctx, a.Run.ID)
		if err != nil && !errors.Is(err, redisqueue.ErrNotFound) {
			return "", err
		}
		return fmt.Sprintf("planned: %d topic blocks, %s", len(plan.SubTopics), callsOf(usage, func(u topicqueue.Usage) bool {
			return u.Stage == "planning"
		})), nil
	case redisqueue.UnitReview:
		review, err := a.queue.Review(ctx, a.Run.ID)
		state := fmt.Sprintf("reviewed: %d gaps", len(review.Gaps))
		if review.NotDone != "" {
			state = "not reviewed: " + review.NotDone
		}
		return state + ", " + callsOf(usage, func(u topicqueue.Usage) bool { return u.Stage == "reviewing" }), err
	case redisqueue.UnitNarrate:
		run, err := a.queue.Run(ctx, a.Run.ID)
		if err != nil || run.Narration == nil {
			return "", err
		}
		if why := run.Narration.Problem; why != "" {
			return topicqueue.Clip(topicqueue.OneLine("no narration: "+why), maxResult), nil
		}
		return fmt.Sprintf("narrated: %.0f s, %s", run.Narration.Seconds, callsOf(usage, func(u topicqueue.Usage) bool {
			return u.Stage == "narrating"
		})), nil
	case redisqueue.UnitReport:
		run, err := a.queue.Run(ctx, a.Run.ID)
		return resultOf(string(run.State), run.Reason, int(a.claims.Load()), callsOf(usage, func(topicqueue.Usage) bool {
			return true
		})), err
	}
	blocks, err := a.queue.Blocks(ctx, a.Run.ID)
	if err != nil {
		return "", err
	}
	traces, err := a.queue.Traces(ctx, a.Run.ID, a.Lease.Unit)
	if err != nil {
		return "", err
	}
	b := blocks[topicqueue.BlockNumber(a.Lease.Unit)-1]
	return resultOf(strings.ToLower(string(b.Status)), b.Reason, countClaims(traces),
		callsOf(usage, func(u topicqueue.Usage) bool { return u.Block == b.ID })), nil
}

func resultOf(state, reason string, claims int, calls string) string {
	line := fmt.Sprintf("%s: %d claims, %s", state, claims, calls)
	if reason != "" {
		line += "; " + reason
	}
	return topicqueue.Clip(topicqueue.OneLine(line), maxResult)
}

// maxResult is the maximum length of a result line in bytes.
const maxResult = 300

// callsOf summarizes model calls: "9 model calls, $0.0123".
func callsOf(usage []topicqueue.Usage, of func(topicqueue.Usage) bool) string {
	calls, tokens, cost, priced := 0, 0, 0.0, true
	for _, u := range usage {
		if !of(u) {
			continue
		}
		calls, tokens = calls+1, tokens+u.PromptTokens+u.CompletionTokens
		if u.CostUSD == nil {
			priced = false
		} else {
			cost += *u.CostUSD
		}
	}
	if !priced {
		return fmt.Sprintf("%d model calls, %d tokens", calls, tokens)
	}
	return fmt.Sprintf("%d model calls, $%.4f", calls, cost)
}

func countClaims(traces []topicqueue.ToolTrace) (n int) {
	for _, t := range traces {
		n += len(t.Claims)
	}
	return n
}

func claimsOf(in reporting.Input) (n int64) {
	for _, b := range in.Blocks {
		n += int64(countClaims(b.Traces))
	}
	return n
}

// notNeeded returns the outcome of a task whose unit has moved on. The task of a failed block or run is archived,
// because its worker may have died before archiving it. If it was archived already, a user has run it again, so the run
// is retried.
func notNeeded(asynqCtx, ctx context.Context, q *redisqueue.Queue, d *Dispatcher, p payload, stale error) error {
	log := zerolog.Ctx(ctx)
	reason, failed, err := q.Failure(ctx, p.RunID, p.Unit, p.Generation)
	gone := errors.Is(err, redisqueue.ErrNotFound)
	if err != nil && !gone {
		return err
	}
	if !failed && !gone {
		log.Debug().Err(stale).Msg("task not needed")
		return revoked(stale)
	}
	id, _ := asynq.GetTaskID(asynqCtx)
	queue, _ := asynq.GetQueueName(asynqCtx)
	info, err := d.inspector.GetTaskInfo(queue, id)
	if err != nil {
		return fmt.Errorf("look at task %s: %w", id, err)
	}
	archived, again := strings.CutPrefix(info.LastErr, failedWord)
	switch {
	case gone && again:
		return failure(strings.TrimSuffix(archived, expired) + expired)
	case gone:
		return revoked(stale)
	case !again:
		return failure(reason)
	}
	run, err := q.Run(ctx, p.RunID)
	if err != nil {
		return err
	}
	intents, err := q.Retry(ctx, p.RunID, redisqueue.RetryBlocks, run.Options.MaxIterations)
	if errors.Is(err, redisqueue.ErrRunning) {
		return failure(reason + " (run this task again when the run has ended)")
	}
	if err != nil {
		return err
	}
	log.Info().Msg("run retried because its archived task was run again")
	return d.Dispatch(ctx, intents)
}

// expired is appended to the reason of a run that can no longer be retried.
const expired = " (its state has expired: `nightdesk retry` shows what can still be done)"
