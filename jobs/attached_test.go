package jobs_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestAttached: the documents of a run are summarized once, even if the worker is replaced, and the prompts that decide
// what to look up show the summaries. If the model writes none, the summaries are made from the documents.
func TestAttached(t *testing.T) {
	t.Parallel()
	const written = `{"summaries":[{"document":1,"summary":"All about heat pumps."},` +
		`{"document":2,"summary":"On radiators."}]}`
	for name, tt := range map[string]struct{ answer, want string }{
		"model":    {written, "All about heat pumps."},
		"no model": {"I cannot.", "Heat pumps | A heat pump moves heat"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := newAsked()
			model.Answer = func(q llmtest.Question) (string, bool) {
				return tt.answer, strings.HasPrefix(q.Name, "summarize")
			}
			b := setup(t, redistest.Server(t), stubModel(t, &model.Stub))
			b.services.Toolbox = func(context.Context, topicqueue.Run) (jobs.Toolbox, error) {
				return jobs.Toolbox{Tools: tools.Set{tools.NewRAGHybrid(b.base, 6)}, Sections: b.base, Attached: b.base}, nil
			}
			reached := make(chan struct{}, 10)
			model.onEach(func(_ int, q llmtest.Question) {
				if strings.HasPrefix(q.Name, "summarize") {
					reached <- struct{}{}
				}
			})
			o := options(1, 1, 1)
			o.UserInfo = "A plumber of forty years"
			w := b.start(jobs.Settings{})
			id := b.enqueue(topic, o, "")
			<-reached
			w.Stop() // as SIGTERM does
			w = b.start(jobs.Settings{})
			b.wait(id)
			w.Stop()

			var plan struct {
				Documents []topicqueue.Document `json:"available_documents"`
			}
			if err := json.Unmarshal([]byte(bundleFile(t, b, id, "step1_planning.json")), &plan); err != nil {
				t.Fatal(err)
			}
			if d := plan.Documents; len(d) != 2 || d[0].FileName != "heat-pumps.md" || !strings.HasPrefix(d[0].Summary,
				tt.want) {
				t.Errorf("the documents are %+v", d)
			}
			model.mu.Lock()
			defer model.mu.Unlock()
			for question, n := range model.questions {
				name, _, _ := strings.Cut(question, "\n")
				if !strings.Contains(question, "Today: ") || !strings.Contains(question, o.UserInfo) {
					t.Errorf("%s does not say who asks, and when:\n%s", name, question)
				}
				decides := strings.HasPrefix(name, "decompose") || strings.HasPrefix(name, "decide")
				if decides != strings.Contains(question, "- heat-pumps.md: "+tt.want[:10]) {
					t.Errorf("%s shows the documents: %v\n%s", name, !decides, question)
				}
				if tt.answer == written && strings.HasPrefix(name, "summarize") && n != 1 {
					t.Errorf("%s was asked %d times", name, n)
				}
			}
		})
	}
}
