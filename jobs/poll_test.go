package jobs_test

import (
	"regexp"
	"strconv"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/retry"
)

// TestIdleWorker: an idle worker sends Redis one command per round, whatever the number of queues, and takes new tasks.
func TestIdleWorker(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	b := setup(t, rdb, nil)
	w := b.start(jobs.Settings{})
	defer w.Stop()
	calls := func(command string) int {
		stats, err := rdb.Info(t.Context(), "commandstats").Result()
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`cmdstat_` + command + `:calls=(\d+)`).FindStringSubmatch(stats)
		if m == nil {
			return 0
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for begun := calls("exists"); calls("exists") < begun+20; {
		if err := retry.Sleep(t.Context(), 5*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if n := calls("rpoplpush"); n > 0 {
		t.Errorf("%d times a task was looked for in an empty queue", n)
	}
	id := b.enqueue("How do heat pumps work in winter?", options(1, 1, 1), "")
	b.wait(id)
	if run := b.run(id); run.State != topicqueue.RunCompleted {
		t.Errorf("%s (%s)", run.State, run.Reason)
	}
}
