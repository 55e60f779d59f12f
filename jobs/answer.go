package jobs

import (
	"context"
	"strings"

	"nightdesk/pipeline/answering"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/researching"
	"nightdesk/topicqueue"
)

// answerHandler answers runs in one conversation. Such a run has one block, which this works; its report is the answer.
type answerHandler struct {
	blocks blockHandler
	window int // of the writer's model, in tokens; 0 = not known
}

// noAnswer is a step that a model should have done, see topicqueue.Block.Fallbacks.
const noAnswer = "answer: "

// work answers a run. Without a model, and where the model is away before anything was found, its question is
// researched as the preset quick does it.
func (h answerHandler) work(ctx context.Context, a *attempt) error {
	model := a.calls.model()
	if model == nil {
		return h.blocks.work(ctx, a)
	}
	if a.Block.Iterations > 0 { // the worker that stored it died before it ended the block
		fallbacks := a.Memory.Fallbacks
		if a.Memory.Answer == "" && len(fallbacks) == 0 {
			fallbacks = []string{noAnswer + "the model gave none"}
		}
		return a.endBlock(ctx, topicqueue.BlockCompleted, "", researching.Result{Fallbacks: fallbacks})
	}
	if a.budget.budgeted() || !a.Run.Options.Deadline.IsZero() {
		if may, err := a.budget.mayIterate(ctx, 1); err != nil {
			return err
		} else if !may {
			return a.endBlock(ctx, topicqueue.BlockFailed, "there is no budget or no time for it", researching.Result{})
		}
	}
	result, err := h.answer(ctx, a, model)
	if err != nil {
		return stageError("answer the question", err)
	}
	var fallbacks []string
	if result.Why != "" {
		fallbacks = []string{noAnswer + result.Why}
	}
	if len(result.Traces) == 0 && result.Away {
		return h.blocks.research(ctx, a, nil, fallbacks)
	}
	if len(result.Traces) == 0 {
		reason := strings.Join(append([]string{recurring.NothingFound}, result.Failures...), "; ")
		return a.endBlock(ctx, topicqueue.BlockFailed, reason, researching.Result{Fallbacks: fallbacks})
	}
	cp := result.Checkpoint()
	cp.Memory.Fallbacks = fallbacks
	queue := &blockQueue{a: a, view: a.View, last: a.begun}
	if _, err := queue.Checkpoint(ctx, cp); err != nil {
		return err
	}
	return a.endBlock(ctx, topicqueue.BlockCompleted, "", researching.Result{Fallbacks: fallbacks})
}

// answer holds the conversation.
func (h answerHandler) answer(ctx context.Context, a *attempt, model llm.Model) (answering.Result, error) {
	box, err := h.blocks.toolbox(ctx, a.Run)
	if err != nil {
		return answering.Result{}, err
	}
	answerer := answering.Answerer{Model: model, Runner: a.calls.runner(box), Emit: a.emit, Now: h.blocks.now,
		Window: h.window, SoftLimit: a.softLimit()}
	if limit := a.hardLimit(); limit >= 0 {
		answerer.Patience = a.until(limit - limit/4)
	}
	return answerer.Answer(ctx, a.Run, a.Block)
}
