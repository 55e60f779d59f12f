package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"nightdesk/storage"
)

var (
	moneyTopics = flag.Int("money.topics", 20, "topics of TestMoneyOfANight")
	moneyShare  = flag.Int("money.share", 60, "its budget, in percent of what full depth costs")
)

// moneyPrices are those of the model of TestMoneyOfANight: USD per million tokens of questions, answers, and
// questions from the cache.
const moneyPrices = "2/8/0.50"

// moneyIterations of each topic block, at full depth.
const moneyIterations = 4

// nanos is what the model server charges for a call, in billionths of a USD.
func (c soakCall) nanos() int64 {
	u := c.usage
	return int64(2000*(u.Prompt-u.Details.Cached) + 500*u.Details.Cached + 8000*u.Completion)
}

// bill is what the model server charges for all calls that it has answered, the dearest of them, and how many were in
// flight at once.
func (m *soakModel) bill() (sum, dearest int64, atOnce int) {
	calls := m.all()
	for _, c := range calls {
		if c.answered {
			sum, dearest = sum+c.nanos(), max(dearest, c.nanos())
		}
		n := 0
		for _, o := range calls {
			if !o.from.After(c.from) && (o.to.IsZero() || o.to.After(c.from)) {
				n++
			}
		}
		atOnce = max(atOnce, n)
	}
	return sum, dearest, atOnce
}

// hooks collects the events that workers tell of.
type hooks struct {
	mu     sync.Mutex
	events []hookEvent
}

type hookEvent struct {
	Type string
	Data struct {
		Batch, Budget, Night string
		Limit                struct{ USD float64 }
	}
}

func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var e hookEvent
	if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
		http.Error(w, "no event", http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

func (h *hooks) of(kind string) (out []hookEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.events {
		if e.Type == kind {
			out = append(out, e)
		}
	}
	return out
}

// moneyRun is what a run's bundle says of its money.
type moneyRun struct {
	State, Reason, Batch string
	Budget               struct {
		Spent, Limit struct{ USD float64 }
		Cuts         []string
	}
	iterations int
	costs      string
}

// TestMoneyOfANight works two batches in one night, with two worker processes and a budget of the night in dollars
// that does not suffice for them: every run has a report, those of high priority in the first batch at full depth;
// the accounts are the provider's to the billionth of a dollar, and exceed the budget by no more than the calls in
// flight; digests and one event tell of it. go test ./cmd/nightdesk -run TestMoneyOfANight -v -args -money.topics 100
func TestMoneyOfANight(t *testing.T) {
	t.Parallel()
	told := &hooks{}
	hook := httptest.NewServer(told)
	t.Cleanup(hook.Close)
	s := newSoak(t, "LLM_PRICES=stub="+moneyPrices, "NIGHTDESK_RESEARCHING_MAX_ITERATIONS="+fmt.Sprint(moneyIterations),
		"NIGHTDESK_WEBHOOK_URL="+hook.URL, "NIGHTDESK_WEBHOOK_SECRET=whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	began := time.Now()
	s.enqueue(1)
	workers := []*process{s.start("worker1", 4), s.start("worker2", 4)}
	s.checkReports(1, s.wait(1))
	full, _, _ := s.model.bill()
	estimated := s.estimated("topics.txt")

	topics := *moneyTopics
	limit := full * int64(topics) * int64(*moneyShare) / 100
	s.env = append(s.env, fmt.Sprintf("NIGHTDESK_LIMITS_NIGHT_BUDGET=%.9f", float64(limit)/1e9))
	s.enqueueMoney("evening", 0, topics/2)
	until(t, "calls of the first batch", func() bool { return s.model.open("", true) > 0 })
	s.enqueueMoney("later", topics/2, topics)
	until(t, "two digests", func() bool { return len(told.of("batch.ended")) == 3 })
	s.forgotten()
	for _, w := range workers {
		s.end(w)
	}
	if noon := time.Date(began.Year(), began.Month(), began.Day(), 12, 0, 0, 0, time.Local); began.Before(noon) && time.Now().After(noon) {
		t.Skip("one night has ended in the middle, and another one has begun")
	}

	all, dearest, atOnce := s.model.bill()
	billed, spent := all-full, int64(0)
	states, depth, number := map[string]int{}, map[string]int{}, map[string]int{}
	for priority, runs := range s.moneyRuns() {
		for _, r := range runs {
			states[r.State]++
			t.Logf("%-6s %s, %d iterations, $%.6f of $%.6f: %s", priority, r.State, r.iterations, r.Budget.Spent.USD, r.Budget.Limit.USD, r.Reason)
			spent += int64(r.Budget.Spent.USD*1e9 + 0.5)
			depth[priority], number[priority] = depth[priority]+r.iterations, number[priority]+1
			if priority == "high" && r.Batch == "evening" && r.iterations != soakParts*moneyIterations { // those that come later find what is left
				t.Errorf("a run of high priority is %s after %d iterations: %s", r.State, r.iterations, r.Reason)
				t.Logf("%s", r.costs)
			}
			if r.State == "partial" && !strings.Contains(r.Reason, "the budget of the night: ") {
				t.Errorf("a run is partial: %s", r.Reason)
			}
		}
	}
	if states["completed"]+states["partial"] != topics || states["partial"] == 0 {
		t.Errorf("states %v of %d topics", states, topics)
	}
	if spent != billed {
		t.Errorf("the accounts have $%.9f, the provider charges $%.9f", float64(spent)/1e9, float64(billed)/1e9)
	}
	if most := limit + dearest*int64(atOnce); billed > most {
		t.Errorf("$%.6f spent of $%.6f", float64(billed)/1e9, float64(limit)/1e9)
	}
	reached := told.of("budget.reached")
	if len(reached) != 1 || reached[0].Data.Budget != "night" || reached[0].Data.Night == "" || int64(reached[0].Data.Limit.USD*1e9+0.5) != limit {
		t.Errorf("told of budgets: %+v", reached)
	}
	for _, batch := range []string{"evening", "later"} {
		if text := s.output("digest", batch); !strings.Contains(text, "(the night has ") || !strings.Contains(text, "shortened to stay within budget") {
			t.Errorf("the digest of %s does not tell of the budget:\n%s", batch, text)
		}
	}
	t.Logf("%d topics in two batches of one night: $%.4f billed of $%.4f (%.1f%%), full depth $%.4f; %v; iterations of a run, of %d: high %.1f, normal %.1f, low %.1f; a run estimated at $%.4f costs $%.4f",
		topics, float64(billed)/1e9, float64(limit)/1e9, 100*float64(billed)/float64(limit), float64(full)*float64(topics)/1e9, states, soakParts*moneyIterations,
		float64(depth["high"])/float64(number["high"]), float64(depth["normal"])/float64(number["normal"]), float64(depth["low"])/float64(number["low"]), estimated, float64(full)/1e9)
}

// moneyPriority is the priority of a topic, by its number.
func moneyPriority(i int) string { return []string{"normal", "normal", "high", "normal", "low"}[i%5] }

func (s *soak) enqueueMoney(batch string, from, to int) {
	s.t.Helper()
	var list strings.Builder
	list.WriteString("topic,priority,tags\n")
	for i := from; i < to; i++ {
		fmt.Fprintf(&list, "How is harbour number %d operated and maintained?,%s,%s\n", 100+i, moneyPriority(i), moneyPriority(i))
	}
	if err := writeFile(filepath.Join(s.dir, batch+".csv"), list.String()); err != nil {
		s.t.Fatal(err)
	}
	s.output("enqueue", batch+".csv", "--batch", batch, "--kb", "docs")
}

// estimated is what a dry run says that a list costs, in USD.
func (s *soak) estimated(list string) float64 {
	s.t.Helper()
	var e struct {
		Cost float64 `json:"cost_usd"`
	}
	if err := json.Unmarshal([]byte(s.output("enqueue", list, "--kb", "docs", "--dry-run", "--json")), &e); err != nil {
		s.t.Fatal(err)
	}
	return e.Cost
}

// moneyRuns returns the runs with a budget by their priority.
func (s *soak) moneyRuns() map[string][]moneyRun {
	s.t.Helper()
	out := map[string][]moneyRun{}
	for _, batch := range []string{"evening", "later"} {
		for line := range strings.Lines(s.output("list", "--batch", batch, "--json")) {
			var l struct {
				RunID string `json:"run_id"`
				Tags  []string
			}
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				s.t.Fatal(err)
			}
			var r moneyRun
			s.readJSON(storage.MetadataKey(l.RunID), &r)
			var queue struct {
				Blocks []struct {
					Iterations int `json:"iteration_count"`
				}
			}
			s.readJSON(storage.CacheKey(l.RunID, "queue.json"), &queue)
			for _, b := range queue.Blocks {
				r.iterations += b.Iterations
			}
			r.costs = string(s.read(storage.CacheKey(l.RunID, "token_cost_summary.json")))
			out[l.Tags[0]] = append(out[l.Tags[0]], r)
		}
	}
	return out
}
