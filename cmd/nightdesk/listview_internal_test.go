package main

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
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

// TestList checks that a list on a terminal is short, and that elsewhere it has all columns.
func TestList(t *testing.T) {
	t.Parallel()
	runs := templated()
	runs[0].Ref, runs[2].Batch, runs[1].Tags = "case-17", "tomorrow", []string{"chips"}
	for terminal, want := range map[bool]string{
		true: `RUN         BATCH     STATE      ID       TOPIC
abcdefghia  tonight   completed  case-17  What are the results, plans and risks of Aldor Chips in 2025?
abcdefghib  tonight   failed              What are the results, plans and risks of Bolt & Sons in 2025? [chips]
abcdefghic  tomorrow  queued              What are the results, plans and risks of Cern Oil in 2025?
`,
		false: `RUN                                  BATCH     STATE      REPORT  ID       TOPIC
research_20260301_200000_abcdefghia  tonight   completed          case-17  What are the results, plans and risks of Aldor Chips in 2025?
research_20260301_200000_abcdefghib  tonight   failed                      What are the results, plans and risks of Bolt & Sons in 2025? [chips]
research_20260301_200000_abcdefghic  tomorrow  queued                      What are the results, plans and risks of Cern Oil in 2025?
`} {
		var out bytes.Buffer
		if err := showList(&view.Console{Out: &out}, listed(runs), terminal); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, out.String()); d != "" {
			t.Error(d)
		}
	}
}
