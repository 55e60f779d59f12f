package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nightdesk/jobs/stage"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/planning"
	"nightdesk/pipeline/researching"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// planHandler plans runs.
type planHandler struct {
	toolbox  func(context.Context, topicqueue.Run) (Toolbox, error)
	memories *memories
	window   int // context window of the models in tokens; 0: unknown
	now      func() time.Time
}

// stage returns the stage of planning.
func (h planHandler) stage(ready func(context.Context, string) error) stage.Stage {
	return stage.Stage{Ready: ready, Work: h.work, Failed: failedRun, Limit: untilSeal,
		// less than others, because the calls of the topic blocks wait again
		Patience: func(limit time.Duration) time.Duration { return limit / (planShare + 1) }}
}

// work plans a run and fills its queue of topic blocks, or asks a person.
func (h planHandler) work(ctx context.Context, a *stage.Attempt) (stage.Ending, error) {
	remarks := h.memories.remarks(ctx, a.Run)
	plan, question, err := h.plan(ctx, a)
	if err != nil {
		return stage.Ending{}, err
	}
	if question != nil {
		return h.await(a, *question), nil
	}
	plan.Documents, plan.Remarks = a.Calls.Documents, remarks
	if a.Calls.Model() != nil {
		plan.Reviews = a.Run.Options.MaxLoops + 1
	}
	return stage.Ending{Doing: "commit the plan", Result: fmt.Sprintf("planned: %d topic blocks", len(plan.SubTopics)),
		Calls: ofStage("planning"),
		Commit: func(ctx context.Context) ([]redisqueue.Intent, error) {
			return a.Queue.CommitPlan(ctx, a.Lease, plan)
		}}, nil
}

// plan returns the plan of a run, or a question to a person that must be answered before.
func (h planHandler) plan(ctx context.Context, a *stage.Attempt) (plan topicqueue.Plan, _ *topicqueue.Question,
	err error) {
	box, err := h.toolbox(ctx, a.Run)
	if err != nil {
		return plan, nil, err
	}
	p := planning.Planner{
		Model: a.Calls.Model(), Runner: a.Calls.Runner(box.Tools), Sections: box.Sections, Emit: a.Emit, Now: h.now,
	}
	if box.Attached != nil {
		if a.Calls.Documents, err = planning.Summarize(ctx, a.Run.Topic, box.Attached); err != nil {
			return plan, nil, fmt.Errorf("summarize the attached documents: %w", err)
		}
	}
	path, why, err := h.path(ctx, a, p)
	if err != nil {
		return plan, nil, stage.Error("choose between an answer and research", err)
	}
	if path == topicqueue.PathShallow {
		plan, err = p.Direct(ctx, a.Run, why)
		return plan, nil, err
	}
	memory, at, err := h.memories.recall(ctx, a.Run)
	if err != nil {
		return plan, nil, err
	}
	if memory == nil && p.Model != nil {
		p.Collection = h.collection(ctx, box)
	}
	switch {
	case len(a.Run.Options.Plan) > 0:
		if plan, err = p.Given(ctx, a.Run); err != nil {
			return plan, nil, stage.Error("follow the plan", err)
		}
		plan.Memory = at
		if memory == nil {
			plan, err = h.read(ctx, a, p, plan)
		}
		return plan, nil, err
	case memory != nil:
		if plan, err = p.Again(ctx, a.Run, memory.Remembered(), memory.Date); err != nil {
			return plan, nil, stage.Error("plan the topic", err)
		}
		plan.Memory = at
		return plan, nil, nil
	}
	question, err := p.Clarify(ctx, a.Run)
	if err != nil || question != nil {
		return plan, question, stage.Error("clarify the topic", err)
	}
	run, err := p.Heard(ctx, a.Run)
	if err != nil {
		return plan, nil, stage.Error("have the plan approved", err)
	}
	if plan, err = h.planned(ctx, a, &p, run); err != nil {
		return plan, nil, stage.Error("plan the topic", err)
	}
	plan.Why = why
	if question, plan = p.Approve(run, plan); question != nil {
		return plan, question, nil
	}
	plan, err = h.read(ctx, a, p, plan)
	return plan, nil, err
}

// collection returns all passages of the documents of a run if they are to be read whole.
func (h planHandler) collection(ctx context.Context, box Toolbox) []topicqueue.Source {
	var shelves []researching.Shelf
	if box.Attached != nil {
		shelves = append(shelves, box.Attached)
	}
	if box.Documents != nil {
		shelves = append(shelves, box.Documents)
	}
	if _, ok := box.Tools.Retrieval(); !ok {
		return nil
	}
	return researching.Collection(ctx, h.window, shelves...)
}

// read notes the collection for all blocks of the plan. If the model does not answer in time, the blocks search for
// themselves.
func (h planHandler) read(ctx context.Context, a *stage.Attempt, p planning.Planner,
	plan topicqueue.Plan) (topicqueue.Plan, error) {
	if p.Model == nil || len(p.Collection) == 0 {
		return plan, nil
	}
	soon, cancel := within(ctx, a.Seal, a.LeftUntilSeal()/planShare)
	defer cancel()
	r := researching.Researcher{Model: p.Model, Runner: p.Runner, Now: h.now, Window: h.window}
	read, err := r.Read(soon, a.Run, plan, p.Collection)
	switch {
	case ctx.Err() != nil:
		return plan, context.Cause(ctx)
	case errors.Is(err, llm.ErrUnavailable), soon.Err() != nil && err != nil:
		plan.Fallbacks = append(plan.Fallbacks, topicqueue.Clip(topicqueue.OneLine(err.Error()), stage.MaxReason))
		return plan, nil
	case err != nil:
		return plan, stage.Error("read the documents", err)
	}
	return read, nil
}

// planned plans with the model, or without it if it is unavailable or takes too long.
func (h planHandler) planned(ctx context.Context, a *stage.Attempt, p *planning.Planner,
	run topicqueue.Run) (topicqueue.Plan, error) {
	n, err := a.Budget.SubTopics(ctx, run.Options.SubTopics)
	if err != nil {
		return topicqueue.Plan{}, err
	}
	run.Options.SubTopics = n
	planCtx, cancel := within(ctx, a.Seal, a.Seal/planShare) // a plan without the model is better than a late plan
	plan, err := p.Plan(planCtx, run)
	cancel()
	var why string
	switch {
	case ctx.Err() != nil || err == nil:
		return plan, err
	case errors.Is(context.Cause(planCtx), stage.ErrTimeUp):
		why = "the time for planning was used up"
	case errors.Is(err, llm.ErrBudget):
		why = "the budget leaves nothing for planning"
	case errors.Is(err, llm.ErrUnavailable):
		why = topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), stage.MaxReason)
	default:
		return plan, err
	}
	p.Model = nil
	if plan, err = p.Plan(ctx, run); err == nil {
		plan.Fallbacks = append(plan.Fallbacks, why)
	}
	return plan, err
}

// path returns the path of the run, and why if a model chose it. A conversation needs a model: without one, the topic
// is researched like with the preset quick. A topic with a memory is always researched.
func (h planHandler) path(ctx context.Context, a *stage.Attempt, p planning.Planner) (path, why string, err error) {
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
func (h planHandler) await(a *stage.Attempt, question topicqueue.Question) stage.Ending {
	told := topicqueue.NewEvent(fmt.Sprintf("%s %d", topicqueue.StatusWait, len(a.Run.Dialogue)+1),
		topicqueue.StatusWait, topicqueue.Wait{Question: question.Text})
	return stage.Ending{Doing: "ask a person", Result: "a person was asked", Calls: ofStage("planning"),
		Commit: func(ctx context.Context) ([]redisqueue.Intent, error) {
			return nil, a.Queue.Await(ctx, a.Lease, question, a.Run.Options.AnswerTime, told)
		}}
}

// planShare: planning with a model may take 1/planShare of the time before a run's seal.
const planShare = 3
