package main_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"nightdesk/storage"
	"nightdesk/topicqueue/scaletest"
)

// TestAccountsUnderKills kills workers with -9 in the middle of runs with budgets: the accounts of the runs have what
// the model server has counted, to the token, but for the calls that were in flight in a worker that was killed, and
// each question is in them once.
func TestAccountsUnderKills(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	const topics = 6
	kills := scaletest.Of(2, 3)
	want, questions := undisturbed(t, topics)
	s := newSoak(t, "NIGHTDESK_LIMITS_RUN_BUDGET=10M tokens")
	s.enqueue(topics, "--batch-budget", "100M tokens")
	for n := range kills { // one at a time: beside another one it might find no work
		w := s.start(fmt.Sprintf("worker1.%d", n), 3)
		s.inBlocks(w, 2)
		s.kill(w)
	}
	workers := []*process{s.start(fmt.Sprintf("worker1.%d", kills), 3), s.start("worker2.0", 3)}
	states := s.wait(topics)
	for _, w := range workers {
		s.end(w)
	}
	s.checkReports(topics, states)
	runs := s.runs()
	checkSameRuns(t, runs, want)
	repeated, inFlight := s.checkCalls(questions, runs)

	asked := 0
	for _, n := range questions {
		asked += n
	}
	recorded, spent, calls := 0, 0, 0
	for _, id := range s.ids() {
		var costs struct {
			Summary struct {
				Calls  int `json:"total_calls"`
				Tokens int `json:"total_tokens"`
			} `json:"summary"`
		}
		s.readJSON(storage.CacheKey(id, "token_cost_summary.json"), &costs)
		var metadata struct {
			Budget struct {
				Spent struct{ Tokens int } `json:"spent"`
			} `json:"budget"`
		}
		s.readJSON(storage.MetadataKey(id), &metadata)
		recorded, calls, spent = recorded+costs.Summary.Tokens, calls+costs.Summary.Calls, spent+metadata.Budget.Spent.Tokens
	}
	if calls != asked {
		t.Errorf("the accounts have %d calls, undisturbed %d are made", calls, asked)
	}
	if recorded != spent {
		t.Errorf("the records of calls have %d tokens, the accounts of the budgets %d", recorded, spent)
	}
	// What is asked again has the same answer: the server has counted the accounts and the first tries of these.
	told, twice, answers := 0, 0, map[string]int{}
	for _, c := range s.model.all() {
		if !c.answered {
			continue
		}
		told += c.usage.tokens()
		if answers[c.hash]++; answers[c.hash] > questions[c.hash] {
			twice += c.usage.tokens()
		}
	}
	if told-twice != recorded {
		t.Errorf("the model server has counted %d tokens, %d of them for what it has answered twice; the accounts have %d", told, twice, recorded)
	}
	t.Logf("%d topics, %d kills with %d calls in flight: %d tokens counted by the server, %d in the accounts, %d for what was answered twice; %d calls repeated, recorded at most %s before a kill",
		topics, kills, inFlight, told, recorded, twice, repeated.all(), repeated.lateBy.Round(time.Millisecond))
}

// ids are those of the runs whose bundles are whole.
func (s *soak) ids() (ids []string) {
	files, _ := filepath.Glob(filepath.Join(s.dir, "nightdesk-data", "cache", "*", "manifest.json"))
	for _, f := range files {
		ids = append(ids, filepath.Base(filepath.Dir(f)))
	}
	return ids
}
