package jobs_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/jobs"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/scaletest"
)

// slowClock is a clock on which every iteration takes a fixed time, however fast the machine is. Each note of the model
// advances it and shortens the remaining time of the runs.
type slowClock struct {
	iteration time.Duration
	slots     int
	rdb       redis.UniversalClient
	t         *testing.T

	mu   sync.Mutex
	gone time.Duration
	runs []string
}

// passes shortens the remaining time of a run. KEYS: the run. ARGV: ms.
const passes = `for _, f in ipairs({ 'deadline', 'seal', 'final' }) do
  if (tonumber(redis.call('HGET', KEYS[1], f) or '0') or 0) > 0 then redis.call('HINCRBY', KEYS[1], f, -ARGV[1]) end
end`

// tick advances the clock by one iteration, divided by the number of slots.
func (c *slowClock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	each := c.iteration / time.Duration(c.slots)
	c.gone += each
	for _, id := range c.runs {
		if err := c.rdb.Eval(c.t.Context(), passes, []string{"nightdesk:{" + id + "}:run"}, each.Milliseconds()).Err(); err != nil && err != redis.Nil {
			c.t.Error(err)
		}
	}
}

func (c *slowClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.gone)
}

// readyDesk returns a bench with four slots whose iterations take two minutes, with that experience recorded.
func readyDesk(t *testing.T) (*spender, *slowClock) {
	t.Helper()
	s := newSpender(t)
	clock := &slowClock{iteration: 2 * time.Minute, slots: 4, rdb: s.services.Redis, t: t}
	const known = 1_000_000 // iterations, so that those of the test, which are fast, do not count
	if err := clock.rdb.HSet(t.Context(), "nightdesk:{index}:stats", "iterations", known, "iteration_ms", known*clock.iteration.Milliseconds()).Err(); err != nil {
		t.Fatal(err)
	}
	answer := s.model.stub.Answer
	s.model.stub.Answer = func(q llmtest.Question) (string, bool) {
		if strings.HasPrefix(q.Name, "note") {
			clock.tick()
		}
		return answer(q)
	}
	s.services.Now = clock.now
	return s, clock
}

// enqueueDue enqueues topics whose deadline leaves all slots together time for this many iterations. budget: for all of
// them, in tokens; 0: none.
func (c *slowClock) enqueueDue(s *spender, topics, iterations int, budget int64) []string {
	c.t.Helper()
	o := s.options()
	o.WritingTime = 6 * time.Minute
	o.Deadline = time.Now().Add(time.Duration(iterations)*c.iteration/time.Duration(c.slots) + o.WritingTime)
	o.BatchBudget.Tokens = budget
	for i := range topics {
		id := s.enqueue(fmt.Sprintf("How are the harbours of shore %d kept, and what does it cost?", i), o, "")
		c.mu.Lock()
		c.runs = append(c.runs, id)
		c.mu.Unlock()
	}
	return c.runs
}

// TestReadyBy works on more runs than there is time for at full depth. Iterations and blocks are trimmed according to
// experience, so that all reports are finished by the deadline.
func TestReadyBy(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	topics, full := scaletest.Of(5, 16), budgetBlocks*budgetIterations
	for name, tc := range map[string]struct {
		share       int // of the time that full depth takes, in percent
		budget      int // of the tokens that it takes, in percent; 0: no limit
		least, most int // iterations of all, in percent of full depth
	}{
		"time for all":                        {200, 0, 100, 100},
		"time for 60 %":                       {60, 0, 25, 65},
		"time for next to 0":                  {20, 0, 10, 40},
		"time for 60 %, and a budget of 50 %": {60, 50, 20, 60},
		"time for all, and a budget of 50 %":  {200, 50, 20, 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, clock := readyDesk(t)
			w := s.start(jobs.Settings{MaxActions: 1, Concurrency: clock.slots, ReportConcurrency: 4})
			defer w.Stop()
			limit := int64(0)
			if tc.budget > 0 {
				first := s.enqueue("How are the harbours of the coast kept, and what does it cost?", s.options(), "")
				s.wait(first)
				limit = s.counted() * int64(topics*tc.budget) / 100
			}
			before := s.counted()
			runs := clock.enqueueDue(s, topics, topics*full*tc.share/100, limit)
			done, byClock, trimmed, largest := 0, 0, 0, int64(0)
			for _, id := range runs {
				s.wait(id)
				run := s.run(id)
				done += s.iterations(id)
				_, most := s.recorded(id)
				largest = max(largest, most)
				if run.Report == "" {
					t.Errorf("run %s is %s: %s", id, run.State, run.Reason)
				}
				if run.Sealed != "" {
					byClock++
				}
				if slices.Contains(run.Cuts, topicqueue.CutTime) {
					trimmed++
				}
			}
			if spent := s.counted() - before; limit > 0 && spent > limit+largest*int64(s.model.atOnce()) {
				t.Errorf("%d tokens of %d", spent, limit)
			}
			t.Logf("%d of %d iterations, %d runs trimmed, %d cut by the clock", done, topics*full, trimmed, byClock)
			if percent := 100 * done / (topics * full); percent < tc.least || percent > tc.most {
				t.Errorf("%d %% of all iterations, want %d to %d", percent, tc.least, tc.most)
			}
			if tc.share >= 60 && byClock > 0 || tc.budget == 0 && (trimmed > 0) != (tc.share < 100) {
				t.Errorf("%d runs were cut by the clock, %d trimmed", byClock, trimmed)
			}
		})
	}
}
