package jobs

import (
	"context"
	"fmt"

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
		Model: a.model(), Runner: w.runner(box), Emit: a.emit, Now: w.Now, MaxActions: w.settings.MaxActions,
	}
	start := researching.Start{Block: a.Block, View: a.View, Traces: a.Traces}
	result, err := r.Research(ctx, a.Run, plan.Topic, start, &blockQueue{a: a, view: a.View})
	if err != nil {
		return stageError(fmt.Sprintf("research %q", a.Block.Title), err)
	}
	if result.Claims == 0 {
		return a.endBlock(ctx, topicqueue.BlockFailed, "no source was found that says something about this", result.Fallbacks)
	}
	return a.endBlock(ctx, topicqueue.BlockCompleted, "", result.Fallbacks)
}

// blockQueue is the DTQ as one block sees it.
type blockQueue struct {
	a    *attempt
	view topicqueue.View
}

// Checkpoint stores an iteration and enqueues the blocks that it brought into flight.
func (b *blockQueue) Checkpoint(ctx context.Context, cp topicqueue.Checkpoint) (topicqueue.CheckpointResult, error) {
	w := b.a.w
	var intents []redisqueue.Intent
	result, intents, err := w.Queue.Checkpoint(ctx, b.a.Lease, cp, b.view, b.a.Run.Options.QueueMaxLength)
	if err != nil {
		return result, err
	}
	b.view = result.View
	return result, w.Dispatcher.Dispatch(ctx, intents)
}
