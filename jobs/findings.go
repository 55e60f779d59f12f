package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"nightdesk/jobs/bundle"
	"nightdesk/jobs/steady"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// findings reads the findings of runs.
type findings struct {
	queue    *redisqueue.Queue
	store    storage.Store
	memories *memories
}

// steady is read that waits while Redis is unavailable.
func (f *findings) steady(ctx context.Context, run topicqueue.Run) (reporting.Input, error) {
	return steady.Get(ctx, "read the evidence", func(ctx context.Context) (reporting.Input, error) {
		return f.read(ctx, run)
	})
}

// read reads everything that a run has gathered. A run may have ended before it had a plan.
func (f *findings) read(ctx context.Context, run topicqueue.Run) (reporting.Input, error) {
	in := reporting.Input{Run: run}
	var err error
	if in.Plan, err = f.queue.Plan(ctx, run.ID); errors.Is(err, redisqueue.ErrNotFound) {
		in.Plan = topicqueue.Plan{Topic: run.Topic, Mode: run.Options.DecomposeMode}
		return in, nil
	} else if err != nil {
		return in, err
	}
	if in.Review, err = f.queue.Review(ctx, run.ID); err != nil {
		return in, err
	}
	if in.Plan.Traces, err = f.queue.Traces(ctx, run.ID, redisqueue.UnitPlan); err != nil {
		return in, err
	}
	blocks, err := f.queue.Blocks(ctx, run.ID)
	if err != nil {
		return in, err
	}
	for _, b := range blocks {
		if in.Review.NotDone != "" { // else the review lists what is open
			memory, err := f.queue.Memory(ctx, run.ID, b.ID)
			if err != nil {
				return in, err
			}
			b.Open = memory.Open
		}
		traces, err := f.queue.Traces(ctx, run.ID, b.ID)
		if err != nil {
			return in, err
		}
		in.Blocks = append(in.Blocks, reporting.BlockEvidence{Block: b, Traces: traces})
		if b.Iterations > 0 { // it has made what planning read for it its own evidence
			in.Plan.Traces = slices.DeleteFunc(in.Plan.Traces, func(t topicqueue.ToolTrace) bool { return t.BlockID == b.ID })
		}
	}
	if in.Plan.Path == topicqueue.PathShallow && len(blocks) > 0 {
		memory, err := f.queue.Memory(ctx, run.ID, blocks[0].ID)
		if err != nil {
			return in, err
		}
		in.Answer = memory.Answer
	}
	return in, f.compare(ctx, &in)
}

// compare sets the changes since the run that this run builds on.
func (f *findings) compare(ctx context.Context, in *reporting.Input) error {
	memory, err := f.memories.before(ctx, in.Run, in.Plan)
	if err != nil || memory == nil {
		return err
	}
	now := make([]recurring.BlockEvidence, len(in.Blocks))
	for i, b := range in.Blocks {
		now[i] = recurring.BlockEvidence(b)
	}
	changes := recurring.Compare(memory, in.Run.Date(in.Run.StartedAt), now)
	in.Changes, in.Open = &changes, memory.Open
	if in.Review.None() { // tonight's review is still to come
		in.Review = memory.Review
		in.Review.Earlier = true
	}
	if in.Before, err = reporting.ReadText(memory.Text); err != nil {
		return fmt.Errorf("read the text of run %s: %w", memory.RunID, err)
	}
	return nil
}

// pages returns the references to the results of a run's calls.
func (f *findings) pages(ctx context.Context, in reporting.Input) (bundle.ReturnedPages, error) {
	pages, err := f.queue.Returned(ctx, in.Run.ID)
	if err != nil {
		return nil, err
	}
	if hash := in.Plan.Returned; hash != "" {
		pages[redisqueue.UnitPlan] = []string{hash}
	}
	return pages, nil
}

// returned reads the sources that a report may link, and waits while they cannot be read. Without the lists, a report
// has only citations.
func (f *findings) returned(ctx context.Context, in reporting.Input) ([]topicqueue.Returned, error) {
	calls, err := steady.Get(ctx, "read the returned sources", func(ctx context.Context) ([]topicqueue.Returned, error) {
		pages, err := f.pages(ctx, in)
		if err != nil {
			return nil, err
		}
		return bundle.ReadReturned(ctx, f.store, in.Run.ID, pages.InOrder(in.Blocks))
	})
	if errors.Is(err, storage.ErrNotExist) {
		err = nil
	}
	return calls, err
}
