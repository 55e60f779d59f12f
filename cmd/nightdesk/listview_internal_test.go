package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

func listed(runs []topicqueue.Run) (lines []listLine) {
	for _, r := range runs {
		lines = append(lines, listLine{lineOf(r, ""), view.State(r)})
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

func TestListOrder(t *testing.T) {
	t.Parallel()
	runs := templated()
	runs[0].EndedAt, runs[1].EndedAt = at.Add(9*time.Hour), at.Add(10*time.Hour)
	for name, tc := range map[string]struct {
		flags listFlags
		want  string // last letters of the ids
	}{
		"all":            {listFlags{}, "abc"},
		"newest":         {listFlags{sort: "newest"}, "cba"},
		"limit":          {listFlags{limit: 2}, "cb"},
		"oldest limited": {listFlags{sort: "oldest", limit: 2}, "ab"},
		"ended":          {listFlags{sort: "ended"}, "bac"},
		"state":          {listFlags{sort: "state"}, "cab"},
		"topic":          {listFlags{sort: "topic"}, "abc"},
		"search":         {listFlags{search: "BOLT"}, "b"},
		"since":          {listFlags{since: "2h"}, "abc"},
		"since a while":  {listFlags{since: "30m"}, "ab"},
		"of a state":     {listFlags{state: "failed"}, "b"},
	} {
		pick, err := tc.flags.check(at.Add(3 * time.Hour))
		if err != nil {
			t.Fatal(name, err)
		}
		var got []topicqueue.Run
		for _, r := range runs {
			if pick(r) {
				got = append(got, r)
			}
		}
		letters := ""
		for _, l := range tc.flags.order(listed(got)) {
			letters += l.RunID[len(l.RunID)-1:]
		}
		if letters != tc.want {
			t.Errorf("%s: %s, want %s", name, letters, tc.want)
		}
	}
	for _, wrong := range []listFlags{{sort: "cost"}, {limit: -1}, {since: "yesterday"}, {since: "-2h"}, {state: "asleep"}} {
		if _, err := wrong.check(at); view.ExitCode(err) != view.ExitUsage {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

func TestSinceAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 31, 22, 30, 0, 0, time.FixedZone("X", 3600))
	for text, want := range map[string]time.Time{
		"": {}, "90m": now.Add(-90 * time.Minute), "7d": time.Date(2026, 3, 24, 22, 30, 0, 0, now.Location()),
		"2026-03-01": time.Date(2026, 3, 1, 0, 0, 0, 0, now.Location()), "2026-03-01 07:15": time.Date(2026, 3, 1, 7, 15, 0, 0, now.Location()),
		"2026-03-01T07:00:00Z": time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC),
	} {
		if got, err := sinceAt(text, now); err != nil || !got.Equal(want) {
			t.Errorf("sinceAt(%q) = %v, %v; want %v", text, got, err, want)
		}
	}
}
