package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rs/zerolog"

	"nightdesk/jobs/stage"
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

// stage returns the stage of reviewing. A run continues without its review if it fails.
func (h reviewHandler) stage() stage.Stage {
	return stage.Stage{Work: h.work, Limit: untilSeal, Failed: func(a *stage.Attempt, reason string) stage.Ending {
		return closeReview(a, topicqueue.Review{NotDone: reason})
	}}
}

// work compares the findings of a run with its plan, and adds blocks or continues to the report. It ends while there is
// still time for another block, because later the review would have no use.
func (h reviewHandler) work(ctx context.Context, a *stage.Attempt) (end stage.Ending, err error) {
	in, err := h.findings.steady(ctx, a.Run)
	if err != nil {
		return end, err
	}
	if in.Changes != nil && (a.Calls.Model() == nil || !moved(in)) {
		return closeReview(a, in.Review), nil
	}
	box, failed := h.toolbox(ctx, a.Run) // without it, the review gets less
	if in.Review.Earlier {
		in.Review.Number = 0
	}
	e := planning.Evidence{Topic: in.Plan.Topic, Last: in.Review}
	switch { // the first night found what the plan wants; further nights review what has changed
	case in.Changes != nil:
		e.Closed, e.Last.Open = true, nil // points left open last night may be covered tonight
	case in.Review.Number >= a.Run.Options.MaxLoops, in.Plan.Whole && !box.Tools.Elsewhere().Searches():
		e.Closed = true
	}
	blocks := make([]topicqueue.Block, len(in.Blocks))
	for i, b := range in.Blocks {
		blocks[i] = b.Block
		e.Blocks = append(e.Blocks, planning.BlockEvidence(b))
	}
	reserve := a.LeftUntilSeal() * 2 / 3 // the report need not wait for long if the model is away
	if !e.Closed {
		reserve, e.Room = planning.UsualTime(blocks), planning.Room(blocks, a.LeftUntilSeal(), a.Run.Options.MaxParallel)
		room, err := a.Budget.RoomFor(ctx, 1)
		switch {
		case err != nil:
			return end, err
		case room == 0:
			a.Budget.Cut(ctx, topicqueue.CutReview)
			return closeReview(a, e.Last.Standing("the budget leaves nothing for another block")), nil
		case room > 0 && (e.Room < 0 || room < e.Room):
			e.Room = room
		}
		if e.Unread, err = unread(ctx, in, box, failed); err != nil {
			return end, err
		}
	}
	r := planning.Reviewer{
		Model: a.Calls.Model(), Draft: h.plannerTokens == 0 || h.plannerTokens >= draftTokens,
	}
	reviewCtx, cancel := within(ctx, a.Seal, max(0, a.LeftUntilSeal()-reserve))
	review, err := r.Review(reviewCtx, a.Run, e)
	cancel()
	if errors.Is(context.Cause(reviewCtx), stage.ErrTimeUp) && ctx.Err() == nil && err != nil {
		review, err = e.Last.Standing("the model did not answer in time for another block"), nil
	}
	if err != nil {
		return end, fmt.Errorf("review the evidence: %w", err)
	}
	review.Number = in.Review.Number + 1
	return closeReview(a, review), nil
}

// maxUnread is the maximum number of documents without a claim that a review gets. If there are more, the knowledge
// base covers many subjects, and the review gets none.
const maxUnread = 20

// unread returns the first passage of each document of the knowledge base from which no claim was noted. Otherwise, a
// review only sees the claims.
func unread(ctx context.Context, in reporting.Input, box Toolbox, err error) (list []topicqueue.Source, _ error) {
	var hashes map[string]string
	if err == nil && box.Documents != nil {
		hashes, err = box.Documents.Hashes(ctx)
	}
	for _, b := range in.Blocks {
		for _, t := range b.Traces {
			if len(t.Claims) > 0 {
				delete(hashes, t.Source.Document)
			}
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

func closeReview(a *stage.Attempt, review topicqueue.Review) stage.Ending {
	result := fmt.Sprintf("reviewed: %d gaps", len(review.Gaps))
	if review.NotDone != "" {
		result = "not reviewed: " + review.NotDone
	}
	return stage.Ending{Doing: "close the review", Result: result, Calls: ofStage("reviewing"),
		Commit: func(ctx context.Context) ([]redisqueue.Intent, error) {
			return a.Queue.CloseReview(ctx, a.Lease, review)
		}}
}
