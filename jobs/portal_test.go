package jobs_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/governor"
	"nightdesk/topicqueue/redisqueue/redistest"
)

// TestCaptivePortal: a network that answers every request with its login page is an outage. All runs wait for the model
// server and complete.
func TestCaptivePortal(t *testing.T) {
	t.Parallel()
	var portal atomic.Bool
	var pages atomic.Int64
	stub := &llmtest.Stub{Answer: goodAnswer, Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
		if q.Number == 20 { // in the middle of the night
			portal.Store(true)
		}
		if !portal.Load() {
			return false
		}
		pages.Add(1)
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Hotel Wi-Fi</title>")
		return true
	}}
	b := setup(t, redistest.Server(t), nil)
	turns := governor.Start(t.Context(), b.services.Redis, 0)
	t.Cleanup(func() { _ = turns.Close() })
	b.services.Model = governedModel(t, llmtest.NewServer(t, stub), turns, 10)
	const runs = 6
	ids := make([]string, runs)
	for i := range ids {
		ids[i] = b.enqueue(fmt.Sprintf("%s, question %d", topic, i), options(2, 1, 2), "")
	}
	w := b.start(jobs.Settings{})
	until(t, "the outage is found and its reason told", func() bool {
		stats, err := governor.Stats(t.Context(), b.services.Redis)
		return err == nil && len(stats) == 1 && !stats[0].Down.IsZero() &&
			strings.Contains(stats[0].Why, `answered with an HTML page "Hotel Wi-Fi", not with a chat completion`)
	})
	portal.Store(false)
	for _, id := range ids {
		b.wait(id)
		if run := b.run(id); run.State != topicqueue.RunCompleted {
			t.Errorf("state %s (%s)", run.State, run.Reason)
		}
	}
	w.Stop()
	t.Logf("%d runs; %d answers of the portal", runs, pages.Load())
}

// until waits for a condition set by another goroutine.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}
