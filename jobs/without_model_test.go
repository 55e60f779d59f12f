package jobs_test

import (
	"net/http"
	"strings"
	"testing"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestModelThatGoesAway: whatever part of the research had to do without its model, its run has a report and is not
// completed.
func TestModelThatGoesAway(t *testing.T) {
	t.Parallel()
	ofBlock := func(q llmtest.Question) bool { return q.Name == "decide" || q.Name == "note" }
	for _, tc := range []struct {
		name   string
		stub   *llmtest.Stub
		reason string
	}{
		{"after planning, for good", &llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
			if ofBlock(q) {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			return ofBlock(q)
		}}, "report without the model: "},
		{"during research only", &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
			return "I would rather talk about boats.", ofBlock(q)
		}}, "research without the model: 2 of 2 topic blocks"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, redistest.InProcess(t), stubModel(t, tc.stub))
			w := b.start(jobs.Settings{})
			id := b.enqueue(topic, options(2, 2, 2), "")
			b.wait(id)
			w.Stop()
			run := b.run(id)
			if run.State != topicqueue.RunPartial || run.Report == "" || !strings.Contains(run.Reason, tc.reason) {
				t.Fatalf("state %s (%s)", run.State, run.Reason)
			}
			checkBundle(t, b.services.Store, id)
		})
	}
}
