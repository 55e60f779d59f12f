package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/planning"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// planHandler plans runs.
type planHandler struct {
	toolbox  func(context.Context, topicqueue.Run) (Toolbox, error)
	memories *memories
	now      func() time.Time
}

// work plans a run and fills its queue of topic blocks.
func (h planHandler) work(ctx context.Context, a *attempt) error {
	box, err := h.toolbox(ctx, a.Run)
	if err != nil {
		return err
	}
	p := planning.Planner{
		Model: a.calls.model(), Runner: a.calls.runner(box), Sections: box.Sections, Emit: a.emit, Now: h.now,
	}
	if a.calls.documents, err = h.documents(ctx, a, p, box.Attached); err != nil {
		return fmt.Errorf("summarize the attached documents: %w", err)
	}
	a.remarks = h.memories.remarks(ctx, a.Run)
	path, why, err := h.path(ctx, a, p)
	if err != nil {
		return stageError("choose between an answer and research", err)
	}
	if path == topicqueue.PathShallow {
		plan, err := p.Direct(ctx, a.Run, why)
		if err != nil {
			return err
		}
		return a.commitPlan(ctx, plan)
	}
	memory, at, err := h.memories.recall(ctx, a.Run)
	if err != nil {
		return err
	}
	if len(a.Run.Options.Plan) > 0 {
		plan, err := p.Given(ctx, a.Run)
		if err != nil {
			return stageError("follow the plan", err)
		}
		plan.Memory = at
		return a.commitPlan(ctx, plan)
	}
	if memory != nil {
		plan, err := p.Again(ctx, a.Run, memory.Remembered(), memory.Date)
		if err != nil {
			return stageError("plan the topic", err)
		}
		plan.Memory = at
		return a.commitPlan(ctx, plan)
	}
	question, err := p.Clarify(ctx, a.Run)
	if err != nil {
		return stageError("clarify the topic", err)
	}
	if question != nil {
		return a.await(ctx, *question)
	}
	run, err := p.Heard(ctx, a.Run)
	if err != nil {
		return stageError("have the plan approved", err)
	}
	plan, err := h.planned(ctx, a, p, run)
	if err != nil {
		return stageError("plan the topic", err)
	}
	plan.Why = why
	if question, plan = p.Approve(run, plan); question != nil {
		return a.await(ctx, *question)
	}
	return a.commitPlan(ctx, plan)
}

// documents returns the attached documents with their summaries. The model may use only part of the time for them.
func (h planHandler) documents(ctx context.Context, a *attempt, p planning.Planner,
	from planning.Attached) ([]topicqueue.Document, error) {
	if from == nil {
		return nil, nil
	}
	soon, cancel := ctx, func() {}
	if a.Seal >= 0 && p.Model != nil {
		soon, cancel = context.WithTimeout(ctx, a.Seal/(2*planShare))
	}
	defer cancel()
	documents, err := p.Summarize(soon, a.Run, from)
	if err != nil && soon.Err() != nil && ctx.Err() == nil {
		p.Model = nil
		documents, err = p.Summarize(ctx, a.Run, from)
	}
	return documents, err
}

// planned plans with the model, or without it if it is unavailable or takes too long.
func (h planHandler) planned(ctx context.Context, a *attempt, p planning.Planner,
	run topicqueue.Run) (topicqueue.Plan, error) {
	if a.budget.budgeted() {
		purse, _, err := a.budget.purse(ctx, 0)
		if err != nil {
			return topicqueue.Plan{}, err
		}
		if n := a.budget.affordable(purse, run.Options.SubTopics); n < run.Options.SubTopics {
			run.Options.SubTopics = n
			a.budget.cut(ctx, topicqueue.CutBlocks)
		}
	}
	if n := a.budget.pace(ctx).Breadth(run.Options.SubTopics); n < run.Options.SubTopics {
		run.Options.SubTopics = n
		a.budget.cut(ctx, topicqueue.CutTime)
	}
	planCtx, cancel := ctx, func() {}
	if a.Seal >= 0 && p.Model != nil { // a plan without the model is better than a late plan
		planCtx, cancel = context.WithTimeoutCause(ctx, a.Seal/planShare, errTimeUp)
	}
	plan, err := p.Plan(planCtx, run)
	cancel()
	if errors.Is(context.Cause(planCtx), errTimeUp) && ctx.Err() == nil && err != nil {
		p.Model = nil
		if plan, err = p.Plan(ctx, run); err == nil {
			plan.Fallbacks = append(plan.Fallbacks, "the time for planning was used up")
		}
	}
	if errors.Is(err, llm.ErrUnavailable) && ctx.Err() == nil {
		why := topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), maxReason)
		if errors.Is(err, llm.ErrBudget) {
			why = "the budget leaves nothing for planning"
		}
		p.Model = nil
		if plan, err = p.Plan(ctx, run); err == nil {
			plan.Fallbacks = append(plan.Fallbacks, why)
		}
	}
	return plan, err
}

// path returns the path of the run, and why if a model chose it. A conversation needs a model: without one, the topic
// is researched like with the preset quick. A topic with a memory is always researched.
func (h planHandler) path(ctx context.Context, a *attempt, p planning.Planner) (path, why string, err error) {
	switch {
	case p.Model == nil, a.Run.Options.Path == topicqueue.PathDeep, len(a.Run.Options.Plan) > 0:
		return topicqueue.PathDeep, "", nil
	case a.Run.Options.Path == topicqueue.PathShallow:
		return topicqueue.PathShallow, "", nil
	}
	if memory, _, err := h.memories.recall(ctx, a.Run); err != nil || memory != nil {
		return topicqueue.PathDeep, "it continues from the last report on this topic", err
	}
	if a.Seal >= 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.Seal/(2*planShare))
		defer cancel()
	}
	return p.Route(ctx, a.Run)
}

// await suspends the run until a person answers. It frees its slot; an answer, or the end of the waiting time, plans
// the run again.
func (a *attempt) await(ctx context.Context, question topicqueue.Question) error {
	return a.end(ctx, "ask a person", func(ctx context.Context) ([]redisqueue.Intent, error) {
		told := topicqueue.NewEvent(fmt.Sprintf("%s %d", topicqueue.StatusWait, len(a.Run.Dialogue)+1),
			topicqueue.StatusWait, topicqueue.Wait{Question: question.Text})
		return nil, a.queue.Await(ctx, a.Lease, question, a.Run.Options.AnswerTime, told)
	})
}

func (a *attempt) commitPlan(ctx context.Context, plan topicqueue.Plan) error {
	plan.Documents, plan.Remarks = a.calls.documents, a.remarks
	plan.Unreviewed = a.calls.model() == nil
	return a.end(ctx, "commit the plan", func(ctx context.Context) ([]redisqueue.Intent, error) {
		return a.queue.CommitPlan(ctx, a.Lease, plan)
	})
}

// planShare: planning with a model may take 1/planShare of the time before a run's seal.
const planShare = 3
