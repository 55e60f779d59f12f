package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/benchtest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
)

var (
	pickUps    = flag.Int("pickup.samples", 8, "runs of TestPickUp")
	pickUpMost = flag.Duration("pickup.most", 0, "what its 99th percentile may be, where the machine has nothing else to do: 100ms is promised; 0: the figures are only shown")
)

// TestPickUp measures how long an idle worker process with default settings takes from the moment at which a topic is
// enqueued to the begin of its planning, and from the end of a run's last block to the begin of its report:
// go test ./cmd/nightdesk -run TestPickUp -v -args -pickup.samples 50 -pickup.most 100ms
func TestPickUp(t *testing.T) {
	t.Parallel()
	socket := redistest.Socket(t)
	f := newDeskAt(t, "redis-socket://"+socket)
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	defer rdb.Close()
	q := redisqueue.New(rdb, redisqueue.DefaultTiming)
	w := f.worker(20)
	var planned, reported []time.Duration
	for i := range *pickUps {
		topic := fmt.Sprintf("How does the harbour inspect its %s and %s in year %d?\n", benchtest.Subjects[i%16], benchtest.Subjects[(i+5)%16], i)
		if err := writeFile(filepath.Join(f.dir, "topic.txt"), topic); err != nil {
			t.Fatal(err)
		}
		var line struct {
			RunID string `json:"run_id"`
		}
		if err := json.Unmarshal([]byte(f.output("enqueue", "topic.txt", "--batch", "fleet", "--kb", "docs", "--preset", "quick", "--json")), &line); err != nil {
			t.Fatal(err)
		}
		var run topicqueue.Run
		until(t, "the end of a run", func() bool {
			var err error
			if run, err = q.Run(t.Context(), line.RunID); err != nil {
				t.Fatal(err)
			}
			return !run.PublishedAt.IsZero()
		})
		events, err := q.Events(t.Context(), run.ID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		planned = append(planned, run.StartedAt.Sub(run.CreatedAt))
		reported = append(reported, timeOf(t, events, topicqueue.StepStartAuthor).Sub(timeOf(t, events, topicqueue.StatusQuestionDone)))
	}
	f.stop(w)
	for what, samples := range map[string][]time.Duration{"enqueued to planning": planned, "last block to report": reported} {
		slices.Sort(samples)
		p99 := samples[(len(samples)*99+99)/100-1]
		t.Logf("%s: %d samples, p50 %s, p99 %s", what, len(samples), samples[len(samples)/2], p99)
		if *pickUpMost > 0 && p99 > *pickUpMost {
			t.Errorf("%s: p99 is %s, at most %s is allowed", what, p99, *pickUpMost)
		}
	}
}

// timeOf returns the time of the last event with this status, or of this step.
func timeOf(t *testing.T, events []topicqueue.Event, what string) time.Time {
	t.Helper()
	for _, e := range slices.Backward(events) {
		if e.Status == what || strings.Contains(string(e.Content), `"`+what+`"`) {
			return e.Time
		}
	}
	t.Fatalf("there is no %s", what)
	return time.Time{}
}
