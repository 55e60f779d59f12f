package jobs_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"nightdesk/jobs"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestAttached: the prompts that decide what to look up show the summaries of a run's documents.
func TestAttached(t *testing.T) {
	t.Parallel()
	const want = "Heat pumps | A heat pump moves heat"
	model := newAsked()
	b := setup(t, redistest.Server(t), stubModel(t, &model.Stub))
	b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
		return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(b.base, 6)}, Sections: b.base, Attached: b.base}, nil
	}
	o := options(1, 1, 1)
	o.UserInfo = "A plumber of forty years"
	w := b.start(jobs.Settings{})
	id := b.enqueue(topic, o, "")
	b.wait(id)
	w.Stop()

	var plan struct {
		Documents []topicqueue.Document `json:"available_documents"`
	}
	if err := json.Unmarshal([]byte(bundleFile(t, b, id, "step1_planning.json")), &plan); err != nil {
		t.Fatal(err)
	}
	if d := plan.Documents; len(d) != 2 || d[0].FileName != "heat-pumps.md" || !strings.HasPrefix(d[0].Summary, want) {
		t.Errorf("the documents are %+v", d)
	}
	model.mu.Lock()
	defer model.mu.Unlock()
	for question := range model.questions {
		name, _, _ := strings.Cut(question, "\n")
		if !strings.Contains(question, "Today: ") || !strings.Contains(question, o.UserInfo) {
			t.Errorf("%s does not say who asks, and when:\n%s", name, question)
		}
		decides := strings.HasPrefix(name, "decompose") || strings.HasPrefix(name, "decide")
		if decides != strings.Contains(question, "- heat-pumps.md: "+want[:10]) {
			t.Errorf("%s shows the documents: %v\n%s", name, !decides, question)
		}
	}
}
