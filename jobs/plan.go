package jobs

import (
	"context"
	"errors"
	"fmt"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/planning"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// plan plans a run and fills its DTQ.
func (w *Worker) plan(ctx context.Context, a *attempt) error {
	box, err := w.Toolbox(ctx, a.Run)
	if err != nil {
		return err
	}
	p := planning.Planner{
		Model: a.model(), Runner: w.runner(a, box), Sections: box.Sections, Emit: a.emit, Now: w.Now,
	}
	memory, at, err := w.recall(ctx, a.Run)
	if err != nil {
		return err
	}
	if memory != nil {
		plan, err := p.Again(ctx, a.Run, memory.Remembered(), memory.Date)
		if err != nil {
			return stageError("plan the topic", err)
		}
		plan.Memory = at
		return a.commitPlan(ctx, plan)
	}
	run := a.Run
	if a.budgeted() {
		purse, _, err := a.purse(ctx, 0)
		if err != nil {
			return err
		}
		if n := a.affordable(purse, run.Options.SubTopics); n < run.Options.SubTopics {
			run.Options.SubTopics = n
			a.cut(ctx, topicqueue.CutBlocks)
		}
	}
	if n := a.pace(ctx).Breadth(run.Options.SubTopics); n < run.Options.SubTopics {
		run.Options.SubTopics = n
		a.cut(ctx, topicqueue.CutTime)
	}
	planCtx, cancel := ctx, func() {}
	if a.Seal >= 0 && p.Model != nil { // a plan without the model is better than a plan that comes too late
		planCtx, cancel = context.WithTimeoutCause(ctx, a.Seal/planShare, errTimeUp)
	}
	plan, err := p.Plan(planCtx, run)
	cancel()
	if errors.Is(context.Cause(planCtx), errTimeUp) && ctx.Err() == nil && err != nil {
		p.Model = nil
		if plan, err = p.Plan(ctx, run); err == nil {
			plan.Fallbacks = append(plan.Fallbacks, "the time for planning was over")
		}
	}
	if errors.Is(err, llm.ErrBudget) && ctx.Err() == nil {
		p.Model = nil
		if plan, err = p.Plan(ctx, run); err == nil {
			plan.Fallbacks = append(plan.Fallbacks, "the budget has nothing for planning")
		}
	}
	if err != nil {
		return stageError("plan the topic", err)
	}
	return a.commitPlan(ctx, plan)
}

func (a *attempt) commitPlan(ctx context.Context, plan topicqueue.Plan) error {
	return a.end(ctx, "commit the plan", func(ctx context.Context) ([]redisqueue.Intent, error) {
		return a.w.Queue.CommitPlan(ctx, a.Lease, plan)
	})
}

// planShare is the part of the time before a run's seal that planning with a model may take.
const planShare = 3

// runner makes the tool calls of one run.
func (w *Worker) runner(a *attempt, box Toolbox) *tools.Runner {
	return &tools.Runner{
		Tools: box.Tools, Pages: steadyPages{storage.Pages{Store: w.Store}, w}, Timeout: w.settings.ToolTimeout,
		Limit: w.settings.ResultLimit, Once: a.once,
		Shared: w.Shared, Scope: shareWith(a.Run, a.Epoch), Lifetime: w.settings.SharedLifetime,
	}
}

// shareWith names who shares with a run: its batch what is public, itself the rest. One that is retried is to find what
// there is now, and shares with nobody.
func shareWith(run topicqueue.Run, epoch int) tools.Scope {
	own := fmt.Sprintf("run\x00%s\x00%d", run.ID, epoch)
	if epoch > 0 {
		return tools.Scope{Public: own, Private: own}
	}
	return tools.Scope{Public: "batch\x00" + run.Batch, Private: own}
}

// withoutModel returns what has been asked already, and no more; nil without a model.
func (a *attempt) withoutModel() llm.Model {
	if a.w.Model == nil {
		return nil
	}
	return llm.Journaled(noModel{}, a.replay)
}

// noModel answers nothing.
type noModel struct{}

func (noModel) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, fmt.Errorf("it is not asked any more: %w", llm.ErrUnavailable)
}

// model returns the run's access to models, which asks nothing twice, records what every call costs, and spends no more
// than the run may; nil without a model.
func (a *attempt) model() llm.Model {
	if a.w.Model == nil {
		return nil
	}
	return llm.Journaled(a.w.Model, a.ask)
}

// stageError says which errors of a stage end it: a model that cannot answer. Everything else is tried again.
func stageError(doing string, err error) error {
	if errors.Is(err, llm.ErrPermanent) || errors.Is(err, llm.ErrUnavailable) || errors.Is(err, llm.ErrAnswer) {
		return endedError{fmt.Errorf("%s: %w", doing, err)}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
