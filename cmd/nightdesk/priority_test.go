package main_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPriorities enqueues runs of low, normal and high priority, in this order, for a worker with one slot and one for
// reports, and one more of high priority while those of normal priority are worked. The log shows in which order the
// tasks began: lane by lane, and a run's plan never before all topic blocks of the one that was planned before it.
func TestPriorities(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 10*time.Millisecond, "NIGHTDESK_RESEARCHING_MAX_ITERATIONS=1")
	for _, lane := range []string{"low", "normal", "high"} {
		f.enqueue(2, "--preset", "medium", "--priority", lane, "--batch", lane)
	}
	normal := f.runsOf("normal")
	log, stop := f.loggedWorker("1")
	until(t, "a topic block of normal priority", func() bool {
		_, starts, _ := log.worked()
		return slices.Contains(starts, normal[0]+" block_1")
	})
	f.enqueue(1, "--preset", "medium", "--priority", "high", "--batch", "late")
	late := f.runsOf("late")[0]
	until(t, "the end of all", func() bool {
		return strings.Count(f.output("list", "--state", "completed", "--json"), "\n") == 7
	})
	stop()

	_, starts, _ := log.worked()
	starts = slices.DeleteFunc(slices.Clone(starts), func(s string) bool { // these have a slot of their own
		return strings.HasSuffix(s, " review") || strings.HasSuffix(s, " report") || strings.HasSuffix(s, " publish")
	})
	at := slices.Index(starts, late+" plan")
	var want []string
	for _, run := range slices.Concat(f.runsOf("high"), normal, f.runsOf("low")) {
		want = append(want, run+" plan", run+" block_1", run+" block_2", run+" block_3", run+" block_4", run+" block_5")
	}
	t.Logf("the late run of high priority was the %d. task of %d to begin", at+1, len(starts))
	want = slices.Insert(want, at, late+" plan", late+" block_1", late+" block_2", late+" block_3", late+" block_4", late+" block_5")
	if !slices.Equal(starts, want) {
		t.Errorf("tasks began in this order:\n%s\nwant\n%s", strings.Join(starts, "\n"), strings.Join(want, "\n"))
	}
}

// runsOf returns the runs of a batch in their order.
func (f *fleet) runsOf(batch string) []string {
	f.t.Helper()
	var runs []string
	for dec := json.NewDecoder(strings.NewReader(f.output("list", "--batch", batch, "--json"))); dec.More(); {
		var line struct {
			RunID string `json:"run_id"`
		}
		if err := dec.Decode(&line); err != nil {
			f.t.Fatal(err)
		}
		runs = append(runs, line.RunID)
	}
	return runs
}
