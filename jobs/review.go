package jobs

import (
	"context"
	"errors"
	"fmt"

	"nightdesk/pipeline/planning"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// draftTokens is the window from which a model that reviews drafts an answer first.
const draftTokens = 32_000

// reviewHandler reviews what runs have found.
type reviewHandler struct {
	findings      *findings
	plannerTokens int // window of the planner's model; 0 = not known
}

// work compares what a run has found with its plan, and adds blocks or goes on to the report. It ends while there is
// still time for a block that it might add: afterwards there is nothing that it could be good for.
func (h reviewHandler) work(ctx context.Context, a *attempt) error {
	in, err := h.findings.steady(ctx, a.Run)
	if err != nil {
		return err
	}
	if in.Changes != nil && (a.calls.model() == nil || !moved(in)) {
		return a.closeReview(ctx, in.Review)
	}
	// what the plan wants was found in the first night; now it is about what has moved
	e := planning.Evidence{Topic: in.Plan.Topic, Last: in.Review, Closed: in.Changes != nil}
	if e.Closed { // what was open on the last night may be said tonight
		e.Last.Open = nil
	}
	blocks := make([]topicqueue.Block, len(in.Blocks))
	for i, b := range in.Blocks {
		blocks[i] = b.Block
		e.Blocks = append(e.Blocks, planning.BlockEvidence(b))
	}
	e.Room = planning.Room(blocks, a.leftUntilSeal(), a.Run.Options.MaxParallel)
	room, err := a.budget.roomFor(ctx, 1)
	switch {
	case err != nil:
		return err
	case room == 0:
		a.budget.cut(ctx, topicqueue.CutReview)
		return a.closeReview(ctx, e.Last.Standing("the budget has nothing left for another block"))
	case room > 0 && (e.Room < 0 || room < e.Room):
		e.Room = room
	}
	r := planning.Reviewer{
		Model: a.calls.model(), Draft: h.plannerTokens == 0 || h.plannerTokens >= draftTokens,
	}
	reviewCtx, cancel := ctx, func() {}
	if a.Seal >= 0 {
		reviewCtx, cancel = context.WithTimeoutCause(ctx, max(0, a.leftUntilSeal()-planning.UsualTime(blocks)), errTimeUp)
	}
	review, err := r.Review(reviewCtx, a.Run, e)
	cancel()
	if errors.Is(context.Cause(reviewCtx), errTimeUp) && ctx.Err() == nil && err != nil {
		review, err = e.Last.Standing("the model had not answered when there was no time left for another block"), nil
	}
	if err != nil {
		return fmt.Errorf("review the evidence: %w", err)
	}
	return a.closeReview(ctx, review)
}

// moved reports evidence that the last run of the topic did not have, or that is gone since.
func moved(in reporting.Input) bool {
	for _, b := range in.Blocks {
		for _, t := range b.Traces {
			if t.Since == "" || t.Dropped+len(t.Withdrawn)+len(t.Added) > 0 {
				return true
			}
		}
	}
	return false
}

func (a *attempt) closeReview(ctx context.Context, review topicqueue.Review) error {
	return a.end(ctx, "close the review", func(ctx context.Context) ([]redisqueue.Intent, error) {
		return a.queue.CloseReview(ctx, a.Lease, review)
	})
}
