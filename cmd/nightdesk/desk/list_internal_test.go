package desk

import (
	"testing"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
)

var at = time.Date(2026, 3, 1, 20, 5, 0, 0, time.UTC)

// firms are runs of one batch.
func firms() (runs []topicqueue.Run) {
	for i, firm := range []string{"Aldor Chips", "Bolt & Sons", "Cern Oil"} {
		runs = append(runs, topicqueue.Run{ID: "research_20260301_200000_abcdefghi" + string(rune('a'+i)),
			State: topicqueue.RunState([]string{"completed", "failed", "queued"}[i]), Topic: "What are the plans of " + firm,
			CreatedAt: at.Add(time.Duration(i) * time.Hour)})
	}
	runs[1].Tags = []string{"Iron"}
	return runs
}

func TestListOrder(t *testing.T) {
	t.Parallel()
	runs := firms()
	runs[0].EndedAt, runs[1].EndedAt = at.Add(9*time.Hour), at.Add(10*time.Hour)
	for name, tc := range map[string]struct {
		flags ListRequest
		want  string // last letters of the ids
	}{
		"all":            {ListRequest{}, "abc"},
		"newest":         {ListRequest{Sort: "newest"}, "cba"},
		"limit":          {ListRequest{Page: Page{Limit: 2}, Sort: "newest"}, "cb"},
		"oldest limited": {ListRequest{Sort: "oldest", Page: Page{Limit: 2}}, "ab"},
		"ended":          {ListRequest{Sort: "ended"}, "bac"},
		"state":          {ListRequest{Sort: "state"}, "cab"},
		"topic":          {ListRequest{Sort: "topic"}, "abc"},
		"search":         {ListRequest{Query: "BOLT"}, "b"},
		"since":          {ListRequest{Since: "2h"}, "abc"},
		"since a while":  {ListRequest{Since: "30m"}, "ab"},
		"tag":            {ListRequest{Tags: []string{"iron"}}, "b"},
		"of a state":     {ListRequest{State: "failed"}, "b"},
	} {
		pick, err := tc.flags.filter(at.Add(3 * time.Hour))
		if err != nil {
			t.Fatal(name, err)
		}
		var got []RunSummary
		for _, r := range runs {
			if pick(r) {
				got = append(got, (&Desk{}).Summary(r))
			}
		}
		letters := ""
		for _, l := range tc.flags.order(got) {
			letters += l.RunID[len(l.RunID)-1:]
		}
		if letters != tc.want {
			t.Errorf("%s: %s, want %s", name, letters, tc.want)
		}
	}
	for _, wrong := range []ListRequest{{Sort: "cost"}, {Page: Page{Limit: -1}}, {Since: "yesterday"}, {Since: "-2h"}, {State: "asleep"}} {
		if _, err := wrong.filter(at); view.ExitCode(err) != view.ExitUsage {
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
