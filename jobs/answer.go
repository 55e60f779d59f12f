package jobs

import (
	"context"
	"errors"
	"strings"

	"nightdesk/jobs/bundle"
	"nightdesk/jobs/stage"
	"nightdesk/jobs/steady"
	"nightdesk/pipeline/answering"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/researching"
	"nightdesk/storage"
	"nightdesk/topicqueue"
)

// answerHandler answers runs in one conversation. Such a run has a single block, which is the conversation; its report
// is the answer.
type answerHandler struct {
	blocks blockHandler
	window int // context window of the writer's model in tokens; 0 = unknown
	store  storage.Store
}

// noAnswer is the prefix of a fallback where the model should have answered, see topicqueue.Block.Fallbacks.
const noAnswer = "answer: "

// work answers a run. Without a model, or if the model is unavailable before anything is found, the question is
// researched like with the preset quick.
func (h answerHandler) work(ctx context.Context, a *stage.Attempt) (end stage.Ending, err error) {
	model := a.Calls.Model()
	if model == nil {
		return h.blocks.work(ctx, a)
	}
	if a.Block.Iterations > 0 { // the worker that stored it died before it ended the block
		fallbacks := a.Memory.Fallbacks
		if a.Memory.Answer == "" && len(fallbacks) == 0 {
			fallbacks = []string{noAnswer + "the model gave no answer"}
		}
		return endBlock(a, topicqueue.BlockCompleted, "", researching.Result{Fallbacks: fallbacks,
			Claims: countClaims(a.Traces)}), nil
	}
	if a.Budget.Limited() {
		if may, err := a.Budget.MayIterate(ctx, 1); err != nil {
			return end, err
		} else if !may {
			return endBlock(a, topicqueue.BlockFailed, "no budget or time left for it", researching.Result{}), nil
		}
	}
	result, err := h.answer(ctx, a, model)
	if err != nil {
		return end, stage.Error("answer the question", err)
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
		return endBlock(a, topicqueue.BlockFailed, reason, researching.Result{Fallbacks: fallbacks}), nil
	}
	cp := result.Checkpoint()
	cp.Memory.Fallbacks = fallbacks
	queue := &blockQueue{a: a, view: a.View, last: a.Until(0)}
	if _, err := queue.Checkpoint(ctx, cp); err != nil {
		return end, err
	}
	return endBlock(a, topicqueue.BlockCompleted, "", researching.Result{Fallbacks: fallbacks,
		Claims: countClaims(result.Traces)}), nil
}

// followed returns the report that a run asks about, without its references. It is empty if there is no such report or
// it was deleted.
func (h answerHandler) followed(ctx context.Context, run topicqueue.Run) (string, error) {
	if run.Options.Follows == "" {
		return "", nil
	}
	return steady.Get(ctx, "read the report that is asked about", func(ctx context.Context) (string, error) {
		report, err := bundle.Report(ctx, h.store, run.Options.Follows)
		if errors.Is(err, storage.ErrNotExist) {
			return "", nil
		}
		return report.Body(nil), err
	})
}

// answer runs the conversation.
func (h answerHandler) answer(ctx context.Context, a *stage.Attempt, model llm.Model) (answering.Result, error) {
	box, err := h.blocks.toolbox(ctx, a.Run)
	if err != nil {
		return answering.Result{}, err
	}
	report, err := h.followed(ctx, a.Run)
	if err != nil {
		return answering.Result{}, err
	}
	plan, err := a.Queue.Plan(ctx, a.Run.ID)
	if err != nil {
		return answering.Result{}, err
	}
	a.Calls.Documents = plan.Documents
	answerer := answering.Answerer{Model: model, Runner: a.Calls.Runner(box.Tools), Emit: a.Emit, Now: h.blocks.now,
		Window: h.window, SoftLimit: softLimit(a), Patience: patience(a), Report: report, Remarks: plan.Remarks}
	return answerer.Answer(ctx, a.Run, a.Block)
}
