package jobs_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"nightdesk/jobs"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
)

var (
	budgetTopics = flag.Int("budget.topics", 20, "topics of TestBatchBudget")
	budgetShare  = flag.Int("budget.share", 60, "its budget, in percent of what full depth costs")
)

// Sizes of the runs in these tests.
const (
	budgetBlocks     = 3
	budgetIterations = 3
)

// spender is a bench whose model counts its tokens.
type spender struct {
	*bench
	model *callLog
}

func newSpender(t *testing.T) *spender {
	t.Helper()
	m := newCallLog(budgetBlocks)
	m.groups = nil // calls wait for nobody
	m.stub.Latency = 5 * time.Millisecond
	b := setup(t, redistest.Server(t), modelAt(t, llmtest.NewServer(t, m)))
	b.services.Toolbox = yearbooks
	return &spender{b, m}
}

// counted returns the tokens counted by the model.
func (s *spender) counted() int64 {
	stats := s.model.stub.Stats()
	return int64(stats.PromptTokens + stats.CompletionTokens)
}

// recorded returns the tokens in the accounts of a run, and the tokens of its largest call.
func (s *spender) recorded(runID string) (sum, largest int64) {
	s.t.Helper()
	usage, err := s.services.Queue.Usage(s.t.Context(), runID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, u := range usage {
		n := int64(u.PromptTokens + u.CompletionTokens)
		sum, largest = sum+n, max(largest, n)
	}
	return sum, largest
}

func (s *spender) options() topicqueue.Options {
	o := options(budgetBlocks, budgetIterations, 3)
	o.MaxLoops = 1
	return o
}

// iterations returns the number of iterations of a run.
func (s *spender) iterations(runID string) (n int) {
	s.t.Helper()
	blocks, err := s.services.Queue.Blocks(s.t.Context(), runID)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, b := range blocks {
		n += b.Iterations
	}
	return n
}

// TestRunBudget gives a run less and less money. It always has a report and never spends more than its budget and the
// calls in flight. It loses its review first, then iterations, then blocks, and last the model's text.
func TestRunBudget(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	s := newSpender(t)
	w := s.start(jobs.Settings{MaxActions: 1, Concurrency: 8})
	defer w.Stop()
	first := s.enqueue("How are the harbours of the coast kept, and what does it cost?", s.options(), "")
	s.wait(first)
	full, _ := s.recorded(first)
	if full != s.counted() {
		t.Fatalf("the accounts have %d tokens, the model has counted %d", full, s.counted())
	}
	before := slices.Max([]int{s.iterations(first)})
	for _, percent := range []int{160, 90, 70, 50, 35, 20, 8, 1} {
		o := s.options()
		o.Budget.Tokens = full * int64(percent) / 100
		counted := s.counted()
		id := s.enqueue(fmt.Sprintf("How are the harbours of the coast kept for %d percent?", percent), o, "")
		s.wait(id)
		run, n := s.run(id), s.iterations(id)
		spent, largest := s.recorded(id)
		t.Logf("%3d%%: %s, %d iterations, %d of %d tokens; cuts %v (%s)", percent, run.State, n, spent, o.Budget.Tokens, run.Cuts, run.Reason)
		if run.Report == "" || run.State != topicqueue.RunPartial && run.State != topicqueue.RunCompleted {
			t.Errorf("with %d%%: %s without a report: %s", percent, run.State, run.Reason)
		}
		if spent != s.counted()-counted || run.Spent != spent {
			t.Errorf("with %d%%: the accounts have %d and %d tokens, the model has counted %d", percent, spent, run.Spent, s.counted()-counted)
		}
		if spent > o.Budget.Tokens+largest*int64(s.model.atOnce()) {
			t.Errorf("with %d%%: %d tokens of %d", percent, spent, o.Budget.Tokens)
		}
		if n > before && percent >= 20 { // without the model they cost nothing
			t.Errorf("with %d%%: %d iterations, with more %d", percent, n, before)
		}
		before = n
		switch {
		case percent > 100 && (run.State != topicqueue.RunCompleted || len(run.Cuts) > 0):
			t.Errorf("with %d%% something is cut: %v", percent, run.Cuts)
		case percent < 100 && !slices.Contains(run.Cuts, topicqueue.CutReview):
			t.Errorf("with %d%% the review is not cut: %v", percent, run.Cuts)
		}
	}
}

// TestBudgetIsTold: a run that does less because of its budget announces that once, whatever is cut.
func TestBudgetIsTold(t *testing.T) {
	t.Parallel()
	s := newSpender(t)
	r := newReceiver(t, func(string, int) int { return 204 })
	s.services.Webhooks = r.webhooks()
	s.services.Dispatcher.Announce([]string{notify.BudgetReached, notify.RunEnded}, s.services.Webhooks, false)
	w := s.start(jobs.Settings{MaxActions: 1, Concurrency: 8})
	defer w.Stop()
	o := s.options()
	o.Budget.Tokens = 20_000
	id := s.enqueue("How are the harbours of the coast kept, and what does it cost?", o, "")
	s.wait(id)
	if run := s.run(id); len(run.Cuts) == 0 {
		t.Fatalf("nothing is cut: %+v", run)
	}
	told := map[string]int{}
	for told[notify.RunEnded] == 0 || told[notify.BudgetReached] == 0 {
		d := r.next()
		told[d.Type]++
		if d.Data.RunID != id {
			t.Errorf("told of %+v", d)
		}
	}
	if told[notify.BudgetReached] != 1 {
		t.Errorf("told %v", told)
	}
}

// TestBatchBudget works on a batch whose budget is less than the cost of full depth. Every run has a report, the total
// is at most the budget and the calls in flight, and runs of high priority lose nothing.
func TestBatchBudget(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	s := newSpender(t)
	w := s.start(jobs.Settings{MaxActions: 1})
	first := s.enqueue("How are the harbours of the coast kept, and what does it cost?", s.options(), "")
	s.wait(first)
	w.Stop()
	full, largest := s.recorded(first)
	o := s.options()
	o.BatchBudget.Tokens = full * int64(*budgetTopics) * int64(*budgetShare) / 100
	counted := s.counted()
	lanes := map[string]string{}
	var runs []string
	for i := range *budgetTopics {
		lane := []string{"", "", tasks.LaneHigh, "", tasks.LaneLow}[i%5]
		id := s.enqueue(fmt.Sprintf("How are the harbours of coast %d kept, and what does it cost?", i), o, lane)
		runs, lanes[id] = append(runs, id), lane
	}
	w = s.start(jobs.Settings{MaxActions: 1, Concurrency: 16, ReportConcurrency: 4})
	defer w.Stop()
	spent, depth, number := int64(0), map[string]int{}, map[string]int{}
	for _, id := range runs {
		s.wait(id)
		run, lane := s.run(id), lanes[id]
		if run.Report == "" {
			t.Errorf("run %s of lane %q is %s: %s", id, lane, run.State, run.Reason)
		}
		n := s.iterations(id)
		depth[lane] += n
		number[lane]++
		if lane == tasks.LaneHigh && (run.State != topicqueue.RunCompleted || n < budgetBlocks*budgetIterations) {
			t.Errorf("a run of high priority is %s after %d iterations: %s", run.State, n, run.Reason)
		}
		sum, most := s.recorded(id)
		spent, largest = spent+sum, max(largest, most)
		t.Logf("%q %s %d iterations %d of %d %v", lane, run.State, n, sum, run.Limit, run.Cuts)
	}
	if spent != s.counted()-counted {
		t.Errorf("the accounts have %d tokens, the model has counted %d", spent, s.counted()-counted)
	}
	if most := o.BatchBudget.Tokens + largest*int64(s.model.atOnce()); spent > most {
		t.Errorf("%d tokens of %d", spent, o.BatchBudget.Tokens)
	}
	pool, err := s.services.Queue.BatchPool(t.Context(), "night")
	if err != nil || pool.Spent != spent || pool.Granted != 0 || pool.HasEnded != *budgetTopics {
		t.Errorf("the pool has %+v (%v), %d were spent", pool, err, spent)
	}
	t.Logf("%d topics: %d of %d tokens (%.1f%%; full depth %d); iterations of a run: high %.1f, normal %.1f, low %.1f",
		*budgetTopics, spent, o.BatchBudget.Tokens, 100*float64(spent)/float64(o.BatchBudget.Tokens), full*int64(*budgetTopics),
		float64(depth[tasks.LaneHigh])/float64(number[tasks.LaneHigh]), float64(depth[""])/float64(number[""]), float64(depth[tasks.LaneLow])/float64(number[tasks.LaneLow]))
}

// atOnce returns the maximum number of concurrent calls.
func (m *callLog) atOnce() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	most := 0
	for _, c := range m.calls {
		n := 0
		for _, o := range m.calls {
			if !o.begin.After(c.begin) && (o.end.IsZero() || o.end.After(c.begin)) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// TestPoorBatchBudget works on a batch whose budget suffices for two of its runs, with a model that ignores max_tokens.
// The run of high priority gets everything it needs. The budget is not exceeded, except by the first answer of a role,
// which shows that the model ignores the limit.
func TestPoorBatchBudget(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	s := newSpender(t)
	w := s.start(jobs.Settings{MaxActions: 1})
	first := s.enqueue("How are the harbours of the coast kept, and what does it cost?", s.options(), "")
	s.wait(first)
	w.Stop()
	full, _ := s.recorded(first)
	counted, o := s.counted(), s.options()
	o.BatchBudget.Tokens = 2 * full
	var runs []string
	for i := range 12 {
		lane := ""
		if i == 7 {
			lane = tasks.LaneHigh
		}
		runs = append(runs, s.enqueue(fmt.Sprintf("How are the harbours of coast %d kept, and what does it cost?", i), o, lane))
	}
	w = s.start(jobs.Settings{MaxActions: 1, Concurrency: 8, ReportConcurrency: 2})
	defer w.Stop()
	for i, id := range runs {
		s.wait(id)
		run, n := s.run(id), s.iterations(id)
		spent, _ := s.recorded(id)
		t.Logf("%q %s %d iterations %d of %d %v", run.Lane, run.State, n, spent, run.Limit, run.Cuts)
		if i == 7 && (run.State != topicqueue.RunCompleted || n < budgetBlocks*budgetIterations) {
			t.Errorf("the run of high priority is %s after %d iterations: %s", run.State, n, run.Reason)
		}
	}
	over := map[string][]int64{} // answers longer than they may be, by role
	for _, id := range runs {
		usage, err := s.services.Queue.Usage(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, u := range usage {
			if u.OverLimit {
				over[u.Role] = append(over[u.Role], int64(u.CompletionTokens))
			}
		}
	}
	allowed := o.BatchBudget.Tokens
	for _, answers := range over {
		if len(answers) == 1 { // the first of a role, which nobody could foresee
			allowed += answers[0]
		}
	}
	if spent := s.counted() - counted; spent > allowed {
		t.Errorf("%d tokens of %d, answers beyond their limit %v", spent, o.BatchBudget.Tokens, over)
	}
}

// longest returns the longest answer beyond its limit of each role, in tokens.
func (s *spender) longest() map[string]int64 {
	s.t.Helper()
	stats, err := s.services.Queue.Stats(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	longest := map[string]int64{}
	for _, m := range stats.Models {
		longest[m.Role] = m.Longest
	}
	return longest
}

// unforeseen returns by how many tokens answers of a run were longer than any that its role had given before, and what
// the run spent.
func (s *spender) unforeseen(id string, longest map[string]int64) (unseen, spent int64) {
	s.t.Helper()
	usage, err := s.services.Queue.Usage(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, u := range usage {
		if u.OverLimit {
			unseen += max(0, int64(u.CompletionTokens)-longest[u.Role])
		}
	}
	spent, _ = s.recorded(id)
	return unseen, spent
}

// TestAnswersBeyondTheirLimit: if a server ignores max_tokens, the observed length of its answers is reserved. A run
// whose budget is nearly spent does without them. A budget is exceeded only by what an answer is longer than any that
// its role had given when the worker started, because nobody can reserve that.
func TestAnswersBeyondTheirLimit(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	s := newSpender(t)
	settings := jobs.Settings{MaxActions: 1, Concurrency: 8}
	w := s.start(settings)
	first := s.enqueue("How are the harbours of the coast kept, and what does it cost?", s.options(), "")
	s.wait(first)
	full, _ := s.recorded(first)
	longest := s.longest()
	if longest["note"] < 500 || longest["researcher"] > 0 { // of which 500 tokens are allowed
		t.Errorf("the longest answers beyond their limit are %v", longest)
	}
	for shown := range 2 { // at first a role that was never bounded shows what it does
		w.Stop()
		longest = s.longest()
		w = s.start(settings)                      // which looks at the figures anew
		for share := 30; share < 120; share += 6 { // in thousandths: answers are bounded
			o := s.options()
			o.Budget.Tokens = full * int64(share) / 1000
			id := s.enqueue(fmt.Sprintf("How are the harbours of the coast kept for %d and %d?", share, shown), o, "")
			s.wait(id)
			unseen, spent := s.unforeseen(id, longest)
			if spent > o.Budget.Tokens+unseen {
				t.Errorf("%d tokens of %d, %d of them in answers longer than any before", spent, o.Budget.Tokens, unseen)
			}
		}
	}
	w.Stop()
}
