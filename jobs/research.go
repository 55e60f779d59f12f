package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/researching"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// blockHandler researches topic blocks.
type blockHandler struct {
	toolbox    func(context.Context, topicqueue.Run) (Toolbox, error)
	memories   *memories
	maxActions int // tool calls in one iteration
	window     int // context window of the researcher's model in tokens; 0 = unknown
	now        func() time.Time
}

// work researches one topic block.
func (h blockHandler) work(ctx context.Context, a *attempt) error {
	return h.research(ctx, a, a.calls.model(), nil)
}

// research researches one topic block with this model. fallbacks: steps that a model should have done before but did
// not.
func (h blockHandler) research(ctx context.Context, a *attempt, model llm.Model, fallbacks []string) error {
	box, err := h.toolbox(ctx, a.Run)
	if err != nil {
		return err
	}
	plan, err := a.queue.Plan(ctx, a.Run.ID)
	if err != nil {
		return err
	}
	a.calls.documents = plan.Documents
	r := researching.Researcher{
		Model: model, Runner: a.calls.runner(box), Emit: a.emit, Now: h.now, MaxActions: h.maxActions,
		Window: h.window, SoftLimit: a.softLimit(),
		Documents: box.Documents,
	}
	if limit := a.hardLimit(); limit >= 0 {
		r.Patience = a.until(limit - limit/4)
	}
	if a.budget.budgeted() || !a.Run.Options.Deadline.IsZero() {
		r.May = a.budget.mayIterate
	}
	start := researching.Start{Block: a.Block, View: a.View, Traces: a.Traces, Memory: a.Memory, Admissions: a.Admissions}
	memory, err := h.memories.before(ctx, a.Run, plan)
	if err != nil {
		return err
	}
	var result researching.Result
	queue := &blockQueue{a: a, view: a.View, last: time.Now()}
	old, known := memory.Block(a.Block.ID, a.Block.Title)
	if known && !old.Unfinished {
		if a.budget.budgeted() { // its calls leave the cost of the report
			if _, _, err := a.budget.purse(ctx, 0); err != nil {
				return err
			}
		}
		if r.Before, err = h.memories.documents(ctx, a.Run, memory); err != nil {
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
	result.Fallbacks = append(fallbacks, result.Fallbacks...)
	if result.Cut && result.Claims > 0 {
		return a.endBlock(ctx, topicqueue.BlockCompleted, "cut short: no budget or time left for more", result)
	}
	if result.Cut {
		return a.endBlock(ctx, topicqueue.BlockFailed, "no budget or time left for it", result)
	}
	// withdrawing all claims is a result, too
	if withdrawn := known && len(old.Traces) > 0; result.Claims == 0 && !withdrawn {
		// If a call failed, it is unknown whether there is evidence, so the next night tries again.
		reason := strings.Join(append([]string{recurring.NothingFound}, result.Failures...), "; ")
		return a.endBlock(ctx, topicqueue.BlockFailed, reason, result)
	}
	return a.endBlock(ctx, topicqueue.BlockCompleted, "", result)
}

// blockQueue is the queue of topic blocks as seen by one block.
type blockQueue struct {
	a    *attempt
	view topicqueue.View
	last time.Time // start of the iteration
}

// Checkpoint stores an iteration and enqueues the blocks that it started.
func (b *blockQueue) Checkpoint(ctx context.Context, cp topicqueue.Checkpoint) (topicqueue.CheckpointResult, error) {
	var result topicqueue.CheckpointResult
	cp.Took = time.Since(b.last)
	most := b.a.Run.Options.QueueMaxLength
	if len(cp.Proposals) > 0 { // new topics must leave the others their depth
		room, err := b.a.budget.roomFor(ctx, len(cp.Proposals))
		if err != nil {
			return result, err
		}
		if room >= 0 {
			most = min(most, len(b.view.Blocks)+room)
		}
	}
	err := b.a.commit(ctx, "checkpoint", func(ctx context.Context) (intents []redisqueue.Intent, err error) {
		result, intents, err = b.a.queue.Checkpoint(ctx, b.a.Lease, cp, b.view, most)
		return intents, err
	})
	b.view, b.last = result.View, time.Now()
	if err == nil {
		b.a.iterations.Store(int64(cp.Iteration))
	}
	return result, err
}
