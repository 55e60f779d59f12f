package jobs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hibiken/asynq"

	"nightdesk/jobs"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// TestHeldRunsHoldUpNobody: runs that wait for their share of a batch's budget block no slots for runs without a
// budget, although there are only two slots. If the worker that held them back is gone, any other worker begins them
// when shares are returned.
func TestHeldRunsHoldUpNobody(t *testing.T) {
	t.Parallel()
	s := newSpender(t)
	const budget = 1_000_000
	small := options(1, 1, 1)
	o := small
	o.BatchBudget.Tokens = budget
	early := topicqueue.Run{ID: "research_20260301_190000_earlyearly", Batch: "night", Options: o}
	if _, err := s.services.Queue.DrawBatch(t.Context(), early, redisqueue.Claim{Limit: budget, Wants: budget, Needs: budget, Least: 1}); err != nil {
		t.Fatal(err)
	}
	var late []string
	for i := range 10 { // an enqueueing gives places to eight
		late = append(late, s.enqueue(fmt.Sprintf("How is harbour %d of the coast kept?", i), o, ""))
	}
	var others []string
	for len(others) == 0 || slices.Max(others) < slices.Max(late) { // until one has its turn after all of them, which is by the ids
		others = append(others, s.enqueue(fmt.Sprintf("How many ferries cross the sound of island %d?", len(others)), small, ""))
	}
	w := s.start(jobs.Settings{MaxActions: 1, Concurrency: 2})
	for _, id := range others {
		s.wait(id)
	}
	inspector := asynq.NewInspectorFromRedisClient(s.services.Redis)
	for _, id := range late {
		info, err := inspector.GetTaskInfo("planning", "plan:"+id+":1")
		if err != nil || s.run(id).State != topicqueue.RunQueued || info.Retried != 0 {
			t.Errorf("run %s is %s, its task %+v, %v", id, s.run(id).State, info, err)
		}
	}
	w.Stop()
	if err := s.services.Queue.LeaveBudgets(t.Context(), early, s.services.Now()); err != nil {
		t.Fatal(err)
	}
	defer s.start(jobs.Settings{MaxActions: 1}).Stop()
	for _, id := range late {
		s.wait(id)
		if run := s.run(id); run.State != topicqueue.RunCompleted {
			t.Errorf("run %s is %s (%s)", id, run.State, run.Reason)
		}
	}
}
