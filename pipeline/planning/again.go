package planning

import (
	"context"
	"fmt"

	"nightdesk/topicqueue"
)

// Again tells watchers that a run follows the plan of an earlier one, and returns that plan. since: the day of the
// earlier run. No model is asked. The error is that of Emit.
func (p *Planner) Again(ctx context.Context, run topicqueue.Run, plan topicqueue.Plan,
	since string) (topicqueue.Plan, error) {
	d := &draft{Planner: p, run: run}
	for _, s := range []struct{ key, info string }{
		{topicqueue.StepStartQueryRewriter, topicqueue.OneLine(run.Topic)},
		{topicqueue.StepEndQueryRewriterNoFeedback, "the topic is that of " + since},
		{topicqueue.StepStartSearchBackground, "looking at what was found on " + since},
		{topicqueue.StepEndSearchBackground, fmt.Sprintf("%d sub-topics", len(plan.SubTopics))},
		{topicqueue.StepStartResearchPlanner, "the plan is that of " + since},
	} {
		if err := d.step(ctx, s.key, "%s", s.info); err != nil {
			return topicqueue.Plan{}, err
		}
	}
	return plan, nil
}
