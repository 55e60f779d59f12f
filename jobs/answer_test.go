package jobs_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

const question = "How much does the coefficient of performance of an air source heat pump fall in winter?"

// answerOptions are those of the preset shallow.
func answerOptions() topicqueue.Options {
	o := options(1, 1, 1)
	o.Preset, o.Path, o.MaxTurns, o.MaxToolCalls = "shallow", topicqueue.PathShallow, 10, 5
	o.Duration, o.WritingTime = 5*time.Minute, time.Minute
	return o
}

// answering is a model that searches once and then answers with what it was shown: the sentence on winter, with its
// marker.
func answering(q llmtest.Question) (string, []llmtest.Call, bool) {
	if len(q.Messages) == 1 && len(q.Tools) > 0 {
		return "", []llmtest.Call{{Name: "rag_hybrid", Arguments: `{"query":"coefficient of performance winter"}`}}, true
	}
	for _, m := range q.Messages {
		if m.Role != "tool" {
			continue
		}
		for part := range strings.SplitSeq(m.Text, "\n\n[") {
			if id := givenID.FindStringSubmatch("[" + strings.TrimPrefix(part, "[")); id != nil &&
				strings.Contains(part, "falls from 4.0") {
				return "The coefficient of performance of an air source heat pump falls from 4.0 at 10 degrees to about 2.3 at " +
					"minus 15 degrees [" + id[1] + "]. That is a loss of 1.7 [" + id[1] + "].", nil, true
			}
		}
	}
	return "", nil, false
}

// bundleFile reads a file of a run's bundle.
func bundleFile(t *testing.T, b *bench, runID, name string) string {
	t.Helper()
	body, err := b.services.Store.Get(t.Context(), storage.CacheKey(runID, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// A shallow run has one conversation, and its report is the answer: cited, checked, in a bundle that holds.
func TestAnswer(t *testing.T) {
	t.Parallel()
	model := newAsked()
	model.Converse, model.Answer = answering, goodAnswer
	b := setup(t, redistest.Server(t), stubModel(t, &model.Stub))
	w := b.start(jobs.Settings{})
	defer w.Stop()
	id := b.enqueue(question, answerOptions(), "")
	b.wait(id)
	run := b.run(id)
	if run.State != topicqueue.RunCompleted {
		t.Fatalf("the run is %s: %s", run.State, run.Reason)
	}
	report := reportOf(t, b.services.Store, id)
	for _, want := range []string{"falls from 4.0 at 10 degrees", "[[CIT-1-0", "## References", "Heat pumps"} {
		if !strings.Contains(report, want) {
			t.Errorf("the report lacks %q:\n%s", want, report)
		}
	}
	if check := b.check(id); len(check.Problems) > 0 {
		t.Errorf("the bundle does not hold: %v", check.Problems)
	}
	if _, total := model.repeated(); total > 4 {
		t.Errorf("%d model calls, 3 with the judge's are usual", total)
	}
	var verification struct {
		Counts struct{ Sentences, Supported int }
	}
	if err := json.Unmarshal([]byte(bundleFile(t, b, id, "verification.json")), &verification); err != nil {
		t.Fatal(err)
	}
	if verification.Counts.Sentences != 2 || verification.Counts.Supported < 1 {
		t.Errorf("the check says %+v\n%s", verification, report)
	}
	t.Log(report)
	_ = http.StatusOK
}
