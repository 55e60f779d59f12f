package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

var at = time.Date(2026, 3, 1, 20, 5, 0, 0, time.UTC)

// templated are runs whose topics come from one template.
func templated() (runs []topicqueue.Run) {
	for i, firm := range []string{"Aldor Chips", "Bolt & Sons", "Cern Oil"} {
		runs = append(runs, topicqueue.Run{
			ID: fmt.Sprintf("research_20260301_200000_abcdefghi%c", 'a'+i), Batch: "tonight", State: topicqueue.RunState([]string{"completed", "failed", "queued"}[i]),
			Topic:     "What are the results, plans and risks of " + firm + " in 2025?",
			CreatedAt: at.Add(time.Duration(i) * time.Hour),
		})
	}
	runs[1].Reason = "no evidence was found"
	return runs
}

func listed(runs []topicqueue.Run) (lines []desk.RunSummary) {
	for _, r := range runs {
		lines = append(lines, desk.RunSummary{RunID: r.ID, Batch: r.Batch, Topic: r.Topic, Labels: r.Labels, State: r.State})
	}
	return lines
}

// TestListFits checks that a list fits the terminal and shows in each line what tells its topic from the others.
func TestListFits(t *testing.T) {
	t.Parallel()
	runs := templated()
	for _, width := range []int{60, 80, 160} {
		lines := viewList(listed(runs)).fitted(width)
		for i, line := range lines {
			if view.Columns(line) >= width {
				t.Errorf("width %d: line of %d columns: %s", width, view.Columns(line), line)
			}
			if i > 0 && !strings.Contains(line, []string{"Aldor Chips", "Bolt & Sons", "Cern Oil"}[i-1]) {
				t.Errorf("width %d: what differs is not there: %s", width, line)
			}
		}
	}
	want := []string{
		"RUN         STATE      TOPIC",
		"abcdefghia  completed  What are the results, plans and risks of Aldor Chips in 2025?",
	}
	if d := cmp.Diff(want, viewList(listed(runs)).fitted(120)[:2]); d != "" {
		t.Error(d)
	}
	runs[0].Ref, runs[2].Batch, runs[1].Tags = "case-17", "tomorrow", []string{"chips"}
	want = []string{
		"RUN         BATCH     STATE      ID       TOPIC",
		"abcdefghia  tonight   completed  case-17  … Aldor Chips in 2025?",
		"abcdefghib  tonight   failed              … Bolt & Sons in 2025? [chips]",
		"abcdefghic  tomorrow  queued              … Cern Oil in 2025?",
	}
	if d := cmp.Diff(want, viewList(listed(runs)).fitted(80)); d != "" {
		t.Error(d)
	}
}

// TestWatchShowsWhatDiffers checks the same of runs that are worked and runs that have ended.
func TestWatchShowsWhatDiffers(t *testing.T) {
	t.Parallel()
	runs := templated()
	runs[2].Ref = "case-17"
	v := view.Batch{Name: "tonight", Runs: 9}
	for _, run := range runs {
		v.Worked = append(v.Worked, view.WorkedRun{Run: run, Pulse: redisqueue.Pulse{State: topicqueue.RunResearching}})
	}
	want := []string{
		"  researching                                … Aldor Chips in 2025?",
		"  researching                                … Bolt & Sons in 2025?",
		"  researching                        case-17 … Cern Oil in 2025?",
	}
	if d := cmp.Diff(want, v.Live(at, 79, 10)[2:]); d != "" {
		t.Error(d)
	}
	want = []string{
		"  completed     abcdefghia  … Aldor Chips in 2025?",
		"  failed        abcdefghib  … Bolt & Sons in 2025?",
		"      no evidence was found",
	}
	if d := cmp.Diff(want, v.EndedOn(79, runs[:2])); d != "" {
		t.Error(d)
	}
}
