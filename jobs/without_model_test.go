package jobs_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/governor"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// TestModelThatGoesAway: if any part of the research had to do without its model, the run has a report and is partial.
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
		}}, "the model did not provide the notes of 2 of 2 topic blocks, the report (127.0.0.1:"},
		{"during research only", &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
			return "I would rather talk about boats.", ofBlock(q)
		}}, "the notes of 2 of 2 topic blocks, the report (the model's answer is unusable, even after a second question: the answer has no JSON object); use a larger model"},
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

// TestModelAwayForGood: whatever a model server does instead of answering, the run continues without it in time. It has
// a report that quotes its sources and states the reason. All runs wait at the same time.
func TestModelAwayForGood(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	end := make(chan struct{})
	cases := []struct {
		name, says string
		serve      func(w http.ResponseWriter, q llmtest.Question) bool
		bench      *bench
		run        string
	}{
		{name: "down", says: "answered 503", serve: func(w http.ResponseWriter, _ llmtest.Question) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}},
		{name: "a login page", says: "answered with an HTML page", serve: func(w http.ResponseWriter, _ llmtest.Question) bool {
			_, _ = io.WriteString(w, "<html>")
			return true
		}},
		{name: "a rest until tomorrow", says: "answered 429; it asks to wait 24h0m0s", serve: func(w http.ResponseWriter, _ llmtest.Question) bool {
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}},
		{name: "never an answer", says: "the time for planning was used up", serve: func(http.ResponseWriter, llmtest.Question) bool {
			<-end
			return false
		}},
		{name: "away after planning", says: "answered 502", serve: func(w http.ResponseWriter, q llmtest.Question) bool {
			planning := strings.HasPrefix(q.Name, "decompose")
			if !planning {
				w.WriteHeader(http.StatusBadGateway)
			}
			return !planning
		}},
	}
	for i := range cases {
		c := &cases[i]
		c.bench = setup(t, redistest.Server(t), nil)
		turns := governor.Start(t.Context(), c.bench.services.Redis, 0)
		t.Cleanup(func() { _ = turns.Close() })
		c.bench.services.Model = governedModel(t, llmtest.NewServer(t, &llmtest.Stub{Intercept: c.serve}), turns, 2)
		o := options(2, 2, 1) // one block after the other
		o.Duration, o.WritingTime = time.Minute, 15*time.Second
		c.run = c.bench.enqueue(topic, o, "")
		t.Cleanup(c.bench.start(jobs.Settings{}).Stop)
	}
	t.Cleanup(func() { close(end) }) // before anything stops
	for _, c := range cases {
		c.bench.wait(c.run)
		run := c.bench.run(c.run)
		if run.State != topicqueue.RunPartial || run.Report == "" || !strings.Contains(run.Reason, c.says) {
			t.Errorf("%s: state %s (%s)", c.name, run.State, run.Reason)
			continue
		}
		blocks, err := c.bench.services.Queue.Blocks(t.Context(), c.run)
		if err != nil || len(blocks) == 0 {
			t.Errorf("%s: %d blocks, %v", c.name, len(blocks), err)
		}
		for _, block := range blocks {
			if block.Status != topicqueue.BlockCompleted {
				t.Errorf("%s: %s is %s (%s)", c.name, block.ID, block.Status, block.Reason)
			}
		}
		checkBundle(t, c.bench.services.Store, c.run)
		t.Logf("%s: ended %s after its start: %s", c.name, run.EndedAt.Sub(run.StartedAt).Round(time.Millisecond), run.Reason)
	}
}
