package jobs_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

// TestClockJumps: a run loses no time if any clock jumps by two hours during the run.
func TestClockJumps(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	for name, tc := range map[string]struct{ redis, worker bool }{
		"Redis": {redis: true}, "the worker": {worker: true}, "a suspended machine with both": {true, true},
	} {
		for _, step := range []string{"decide", "note", "outline"} {
			t.Run(name+", "+step, func(t *testing.T) {
				t.Parallel()
				rdb, jump := redistest.Jumping(t)
				var ahead atomic.Int64
				var once sync.Once
				stub := &llmtest.Stub{Intercept: func(_ http.ResponseWriter, q llmtest.Question) bool {
					if strings.HasPrefix(q.Name, step) {
						once.Do(func() {
							if tc.redis {
								jump(2 * time.Hour)
							}
							if tc.worker {
								ahead.Store(int64(2 * time.Hour))
							}
						})
					}
					return false
				}}
				b := setup(t, rdb, nil)
				b.services.Model = stubModel(t, stub)
				b.services.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
				o := options(3, 2, 2)
				o.Duration, o.WritingTime, o.BlockSoft, o.BlockHard = 10*time.Minute, 2*time.Minute, 5*time.Minute, 8*time.Minute
				id := b.enqueue(topic, o, "")
				w := b.start(jobs.Settings{})
				defer w.Stop()
				run := b.until(id, "ended", func(r topicqueue.Run) bool { return r.State.Final() })
				if run.Sealed != "" || run.Report == "" || strings.Contains(run.Reason, "ended early") {
					t.Errorf("state %s (%s)", run.State, run.Reason)
				}
				blocks, err := b.services.Queue.Blocks(t.Context(), id)
				if err != nil {
					t.Fatal(err)
				}
				for _, block := range blocks {
					if block.Iterations != 2 {
						t.Errorf("%s is %s after %d of 2 iterations (%s)", block.ID, block.Status, block.Iterations, block.Reason)
					}
				}
			})
		}
	}
}
