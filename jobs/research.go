package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/researching"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// research works one topic block.
func (w *Worker) research(ctx context.Context, a *attempt) error {
	box, err := w.Toolbox(ctx, a.Run)
	if err != nil {
		return err
	}
	plan, err := w.Queue.Plan(ctx, a.Run.ID)
	if err != nil {
		return err
	}
	r := researching.Researcher{
		Model: a.model(), Runner: w.runner(a, box), Emit: a.emit, Now: w.Now, MaxActions: w.settings.MaxActions,
		Window: w.settings.ResearcherTokens, SoftLimit: a.softLimit(),
		Documents: box.Documents,
	}
	if limit := a.hardLimit(); limit >= 0 {
		r.Patience = a.until(limit - limit/4)
	}
	if a.budgeted() || !a.Run.Options.Deadline.IsZero() {
		r.May = a.mayIterate
	}
	start := researching.Start{Block: a.Block, View: a.View, Traces: a.Traces, Memory: a.Memory, Admissions: a.Admissions}
	memory, err := w.before(ctx, a.Run, plan)
	if err != nil {
		return err
	}
	var result researching.Result
	queue := &blockQueue{a: a, view: a.View, last: time.Now()}
	old, known := memory.Block(a.Block.ID, a.Block.Title)
	if known && !old.Unfinished {
		if a.budgeted() { // its calls leave what the report takes
			if _, _, err := a.purse(ctx, 0); err != nil {
				return err
			}
		}
		if r.Before, err = w.documentsBefore(ctx, a.Run, memory); err != nil {
			return err
		}
		result, err = r.Refresh(ctx, a.Run, plan.Topic, start, memory, old, queue)
	} else {
		start.LastSeq = old.LastSeq
		result, err = r.Research(ctx, a.Run, plan.Topic, start, queue)
	}
	if err != nil {
		return stageError(fmt.Sprintf("research %q", a.Block.Title), err)
	}
	if result.Cut && result.Claims > 0 {
		return a.endBlock(ctx, topicqueue.BlockCompleted, "cut short: there is no budget or no time for more", result)
	}
	if result.Cut {
		return a.endBlock(ctx, topicqueue.BlockFailed, "there is no budget or no time for it", result)
	}
	// that all of it is withdrawn is a result
	if withdrawn := known && len(old.Traces) > 0; result.Claims == 0 && !withdrawn {
		// After a call that failed it is not known whether there is nothing: the next night asks again.
		reason := strings.Join(append([]string{recurring.NothingFound}, result.Failures...), "; ")
		return a.endBlock(ctx, topicqueue.BlockFailed, reason, result)
	}
	return a.endBlock(ctx, topicqueue.BlockCompleted, "", result)
}

// softLimit is when a block begins no new iteration: its own time, or a little before the run is sealed, so that the
// last iteration can end.
func (a *attempt) softLimit() time.Time {
	limit := time.Duration(-1)
	if a.Run.Options.BlockSoft > 0 {
		limit = max(0, a.Run.Options.BlockSoft-a.Spent)
	}
	if a.Seal >= 0 {
		limit = earlier(limit, a.Seal-min(a.Seal/4, time.Minute))
	}
	return a.until(limit)
}

// blockQueue is the DTQ as one block sees it.
type blockQueue struct {
	a    *attempt
	view topicqueue.View
	last time.Time // begin of the iteration
}

// Checkpoint stores an iteration and enqueues the blocks that it brought into flight.
func (b *blockQueue) Checkpoint(ctx context.Context, cp topicqueue.Checkpoint) (topicqueue.CheckpointResult, error) {
	w := b.a.w
	var result topicqueue.CheckpointResult
	cp.Took = time.Since(b.last)
	most := b.a.Run.Options.QueueMaxLength
	if len(cp.Proposals) > 0 { // new topics must leave the others their depth
		room, err := b.a.roomFor(ctx, len(cp.Proposals))
		if err != nil {
			return result, err
		}
		if room >= 0 {
			most = min(most, len(b.view.Blocks)+room)
		}
	}
	err := b.a.commit(ctx, "checkpoint", func(ctx context.Context) (intents []redisqueue.Intent, err error) {
		result, intents, err = w.Queue.Checkpoint(ctx, b.a.Lease, cp, b.view, most)
		return intents, err
	})
	b.view, b.last = result.View, time.Now()
	return result, err
}
