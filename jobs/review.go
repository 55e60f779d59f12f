package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/planning"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// draftTokens is the minimum context window with which a reviewing model drafts an answer first.
const draftTokens = 32_000

// reviewHandler reviews the findings of runs.
type reviewHandler struct {
	findings      *findings
	toolbox       func(context.Context, topicqueue.Run) (Toolbox, error)
	plannerTokens int // context window of the planner's model; 0 = unknown
}

// work compares the findings of a run with its plan, and adds blocks or continues to the report. It ends while there is
// still time for another block, because later the review would have no use.
func (h reviewHandler) work(ctx context.Context, a *attempt) error {
	in, err := h.findings.steady(ctx, a.Run)
	if err != nil {
		return err
	}
	if in.Changes != nil && (a.calls.model() == nil || !moved(in)) {
		return a.closeReview(ctx, in.Review)
	}
	// the first night found what the plan wants; further nights review what has changed
	e := planning.Evidence{Topic: in.Plan.Topic, Last: in.Review, Closed: in.Changes != nil}
	if e.Closed { // points left open last night may be covered tonight
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
		return a.closeReview(ctx, e.Last.Standing("the budget leaves nothing for another block"))
	case room > 0 && (e.Room < 0 || room < e.Room):
		e.Room = room
	}
	if e.Unread, err = h.unread(ctx, a.Run, in); err != nil {
		return err
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
		review, err = e.Last.Standing("the model did not answer in time for another block"), nil
	}
	if err != nil {
		return fmt.Errorf("review the evidence: %w", err)
	}
	return a.closeReview(ctx, review)
}

// maxUnread is the maximum number of documents not returned by any search that a review gets. If there are more, the
// knowledge base covers many subjects, and the review gets none.
const maxUnread = 20

// unread returns the first passage of each document that no search of a run has returned. Otherwise, a review only sees
// the claims.
func (h reviewHandler) unread(ctx context.Context, run topicqueue.Run, in reporting.Input) (
	list []topicqueue.Source, err error,
) {
	calls := h.findings.returned(ctx, in)
	if in.Changes != nil || len(calls) == 0 { // no block may be added, or the results are unknown
		return nil, nil
	}
	box, err := h.toolbox(ctx, run)
	var hashes map[string]string
	if err == nil && box.Documents != nil {
		hashes, err = box.Documents.Hashes(ctx)
	}
	for _, call := range calls {
		for _, s := range call.Sources {
			delete(hashes, s.Document)
		}
	}
	if len(hashes) > maxUnread {
		return nil, nil
	}
	for _, document := range slices.Sorted(maps.Keys(hashes)) {
		passages, failed := box.Documents.Passages(ctx, document)
		if err = cmp.Or(err, failed); len(passages) > 0 {
			list = append(list, passages[0])
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("unread documents not listed; the review continues without them")
	}
	return list, nil
}

// moved reports whether evidence was added or withdrawn since the last run of the topic.
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
