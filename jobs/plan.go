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
)

// plan plans a run and fills its DTQ.
func (w *Worker) plan(ctx context.Context, a *attempt) error {
	box, err := w.Toolbox(ctx, a.Run)
	if err != nil {
		return err
	}
	p := planning.Planner{
		Model: a.model(), Runner: w.runner(box), Sections: box.Sections, Emit: a.emit, Now: w.Now,
	}
	plan, err := p.Plan(ctx, a.Run)
	if err != nil {
		return stageError("plan the topic", err)
	}
	intents, err := w.Queue.CommitPlan(ctx, a.Lease, plan)
	if err != nil {
		return err
	}
	return w.Dispatcher.Dispatch(ctx, intents)
}

// runner makes the tool calls of one run.
func (w *Worker) runner(box Toolbox) *tools.Runner {
	return &tools.Runner{
		Tools: box.Tools, Pages: storage.Pages{Store: w.Store}, Timeout: w.settings.ToolTimeout, Limit: w.settings.ResultLimit,
	}
}

// model returns the run's access to models, which records what every call costs; nil without a model.
func (a *attempt) model() llm.Model {
	if a.w.Model == nil {
		return nil
	}
	return llm.Recorded(a.w.Model, func(ctx context.Context, u topicqueue.Usage) {
		saveCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
		defer cancel()
		if cost, known := a.w.Prices.Cost(u); known {
			u.CostUSD = &cost
		}
		if err := a.w.Queue.RecordUsage(saveCtx, a.Run.ID, u); err != nil {
			a.w.Log.Warn().Err(err).Str("run", a.Run.ID).Str("step", u.Step).Msg("usage not recorded")
		}
	})
}

// stageError says which errors of a stage end it: a model that cannot answer. Everything else is tried again.
func stageError(doing string, err error) error {
	if errors.Is(err, llm.ErrPermanent) || errors.Is(err, llm.ErrUnavailable) || errors.Is(err, llm.ErrAnswer) {
		return endedError{fmt.Errorf("%s: %w", doing, err)}
	}
	return fmt.Errorf("%s: %w", doing, err)
}
