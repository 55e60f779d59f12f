package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nightdesk/jobs/stage"
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

// stage returns the stage of this work, or of other work on the same kind of unit.
func (h blockHandler) stage(work func(context.Context, *stage.Attempt) (stage.Ending, error)) stage.Stage {
	return stage.Stage{Work: work, TimeUp: blockTimeUp,
		Failed: func(a *stage.Attempt, reason string) stage.Ending {
			return endBlock(a, topicqueue.BlockFailed, reason, researching.Result{})
		},
		Limit: func(a *stage.Attempt) time.Duration {
			if a.Run.Options.BlockHard > 0 {
				return earlier(a.Seal, max(0, a.Run.Options.BlockHard-a.Spent))
			}
			return a.Seal
		}}
}

// work researches one topic block.
func (h blockHandler) work(ctx context.Context, a *stage.Attempt) (stage.Ending, error) {
	return h.research(ctx, a, a.Calls.Model(), nil)
}

// research researches one topic block with this model. fallbacks: steps that a model should have done before but did
// not.
func (h blockHandler) research(ctx context.Context, a *stage.Attempt, model llm.Model, fallbacks []string) (
	end stage.Ending, err error) {
	box, err := h.toolbox(ctx, a.Run)
	if err != nil {
		return end, err
	}
	plan, err := a.Queue.Plan(ctx, a.Run.ID)
	if err != nil {
		return end, err
	}
	a.Calls.Documents = plan.Documents
	r := researching.Researcher{
		Model: model, Runner: a.Calls.Runner(box.Tools), Emit: a.Emit, Now: h.now, MaxActions: h.maxActions,
		Window: h.window, SoftLimit: softLimit(a),
		Documents: box.Documents,
	}
	r.Patience = patience(a)
	if a.Budget.Limited() {
		r.May = a.Budget.MayIterate
	}
	start := researching.Start{Block: a.Block, View: a.View, Traces: a.Traces, Memory: a.Memory, Admissions: a.Admissions,
		Whole: plan.Whole}
	if start.Planned, err = a.Queue.Traces(ctx, a.Run.ID, redisqueue.UnitPlan); err != nil {
		return end, err
	}
	memory, err := h.memories.before(ctx, a.Run, plan)
	if err != nil {
		return end, err
	}
	var result researching.Result
	queue := &blockQueue{a: a, view: a.View, last: time.Now()}
	old, known := memory.Block(a.Block.ID, a.Block.Title)
	if known && !old.Unfinished {
		if err := a.Budget.Look(ctx); err != nil { // its calls leave the cost of the report
			return end, err
		}
		if r.Before, err = h.memories.documents(ctx, a.Run, memory); err != nil {
			return end, err
		}
		result, err = r.Refresh(ctx, a.Run, plan.Topic, start, memory, old, queue)
	} else {
		start.LastSeq = old.LastSeq
		result, err = r.Research(ctx, a.Run, plan.Topic, start, queue)
	}
	if err != nil {
		return end, stage.Error(fmt.Sprintf("research %q", a.Block.Title), err)
	}
	result.Fallbacks = append(fallbacks, result.Fallbacks...)
	if result.Cut && result.Claims > 0 {
		return endBlock(a, topicqueue.BlockCompleted, "cut short: no budget or time left for more", result), nil
	}
	if result.Cut {
		return endBlock(a, topicqueue.BlockFailed, "no budget or time left for it", result), nil
	}
	// withdrawing all claims is a result, too
	if withdrawn := known && len(old.Traces) > 0; result.Claims == 0 && !withdrawn {
		// If a call failed, it is unknown whether there is evidence, so the next night tries again.
		reason := strings.Join(append([]string{recurring.NothingFound}, result.Failures...), "; ")
		return endBlock(a, topicqueue.BlockFailed, reason, result), nil
	}
	return endBlock(a, topicqueue.BlockCompleted, "", result), nil
}

// blockQueue is the queue of topic blocks as seen by one block.
type blockQueue struct {
	a    *stage.Attempt
	view topicqueue.View
	last time.Time // start of the iteration
}

// Checkpoint stores an iteration and enqueues the blocks that it started.
func (b *blockQueue) Checkpoint(ctx context.Context, cp topicqueue.Checkpoint) (topicqueue.CheckpointResult, error) {
	var result topicqueue.CheckpointResult
	cp.Took = time.Since(b.last)
	most := b.a.Run.Options.QueueMaxLength
	if len(cp.Proposals) > 0 { // new topics must leave the others their depth
		room, err := b.a.Budget.RoomFor(ctx, len(cp.Proposals))
		if err != nil {
			return result, err
		}
		if room >= 0 {
			most = min(most, len(b.view.Blocks)+room)
		}
	}
	err := b.a.Commit(ctx, "checkpoint", func(ctx context.Context) (intents []redisqueue.Intent, err error) {
		result, intents, err = b.a.Queue.Checkpoint(ctx, b.a.Lease, cp, b.view, most)
		return intents, err
	})
	b.view, b.last = result.View, time.Now()
	return result, err
}

// patience returns how long a block waits for its model before it goes on without; the zero time: as long as it takes.
func patience(a *stage.Attempt) time.Time {
	limit := a.HardLimit()
	return a.Until(limit - limit/4)
}

// softLimit returns the time after which a block begins no new iteration. It is the block's own soft limit, or shortly
// before the run is sealed, so that the last iteration can end.
func softLimit(a *stage.Attempt) time.Time {
	limit := time.Duration(-1)
	if a.Run.Options.BlockSoft > 0 {
		limit = max(0, a.Run.Options.BlockSoft-a.Spent)
	}
	if a.Seal >= 0 {
		limit = earlier(limit, a.Seal-min(a.Seal/4, time.Minute))
	}
	return a.Until(limit)
}

// earlier returns the smaller of two limits, where negative = no limit.
func earlier(a, b time.Duration) time.Duration {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// blockTimeUp ends a block whose own time is over. The sweep handles the run's time, because it also sees runs that no
// worker has.
func blockTimeUp(ctx context.Context, a *stage.Attempt) (stage.Ending, error) {
	traces, err := a.Queue.Traces(ctx, a.Run.ID, a.Block.ID)
	if err != nil {
		return stage.Ending{}, err
	}
	if len(traces) > 0 {
		return endBlock(a, topicqueue.BlockCompleted, "cut short: its time was used up",
			researching.Result{Claims: countClaims(traces)}), nil
	}
	return endBlock(a, topicqueue.BlockFailed, "its time was used up before anything was found", researching.Result{}), nil
}

func endBlock(a *stage.Attempt, status topicqueue.BlockStatus, reason string, r researching.Result) stage.Ending {
	return stage.Ending{Doing: "end " + a.Block.ID, Reason: reason,
		Result: fmt.Sprintf("%s: %d claims", strings.ToLower(string(status)), r.Claims),
		Calls:  func(u topicqueue.Usage) bool { return u.Block == a.Block.ID },
		Commit: func(ctx context.Context) ([]redisqueue.Intent, error) {
			return a.Queue.EndBlock(ctx, a.Lease, status, reason, r.Fallbacks, r.Returned)
		}}
}
