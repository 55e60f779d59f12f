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
	if err := d.follow(ctx, "the topic is that of "+since, "looking at what was found on "+since,
		fmt.Sprintf("%d sub-topics", len(plan.SubTopics)), "the plan is that of "+since); err != nil {
		return topicqueue.Plan{}, err
	}
	return plan, nil
}
