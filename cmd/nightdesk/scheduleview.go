package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/topicqueue/schedule"
)

// shownNext is the number of due times shown for a schedule.
const shownNext = 5

// scheduleView is the JSON document of `schedule list` and `schedule show`.
type scheduleView struct {
	schedule.Record
	Topics string      `json:"topics"` // source without a key in its address
	Next   []time.Time `json:"next"`   // upcoming due times; none while paused
}

func viewOf(r schedule.Record, now time.Time) scheduleView {
	return scheduleView{Record: r, Topics: intake.ShownSource(r.Topics), Next: append([]time.Time{}, r.Upcoming(now,
		shownNext)...)}
}

func scheduleList(ctx context.Context, s *session, d *wiring.Desk) error {
	records, err := d.Queue.Schedules(ctx)
	if err != nil {
		return err
	}
	if waiting := schedule.Missing(s.cfg.Schedules, records); len(waiting) > 0 {
		s.Say("in the settings file; loaded when a scheduler starts: %s", strings.Join(waiting, ", "))
	}
	if running, err := d.Dispatcher.Schedulers(); err == nil && running == 0 && len(records) > 0 {
		s.Say("no scheduler is running: schedules will not fire; start one with `nightdesk scheduler`")
	}
	table := view.NewTable(s.Console, "SCHEDULE", "CRON", "ZONE", "NEXT", "LAST", "TOPICS")
	for _, r := range records {
		v := viewOf(r, d.Clock.Now())
		next, last := "never", "never"
		if r.Paused != "" {
			next = "paused: " + view.Clip(r.Paused, 60)
		} else if len(v.Next) > 0 {
			next = view.DueTime(v.Next[0])
		}
		if n := len(r.Firings); n > 0 {
			last = showFiring(r.Firings[n-1])
		}
		if err := table.Row(v, r.Name, r.Cron, r.Zone, next, last, v.Topics); err != nil {
			return err
		}
	}
	return table.End()
}

func scheduleShow(ctx context.Context, s *session, d *wiring.Desk, name string) error {
	r, err := d.Queue.Schedule(ctx, name)
	if err != nil {
		return err
	}
	v := viewOf(r, d.Clock.Now())
	if s.JSON {
		return s.PrintJSON(v, false)
	}
	fmt.Fprintf(s.Out, "schedule %s: %s in %s\n", r.Name, r.Cron, r.Zone)
	table := tabwriter.NewWriter(s.Out, 0, 4, 2, ' ', 0)
	for _, row := range [][2]string{
		{"topics", v.Topics}, {"template", r.Template}, {"tags", r.Tags}, {"preset", r.Preset}, {"language", r.Language},
		{"kb", r.KnowledgeBase}, {"strategy", r.Strategy}, {"sources", r.Sources},
		{"priority", r.Priority}, {"budget", r.Budget}, {"batch budget", r.BatchBudget}, {"deadline", r.Deadline},
		{"report template", r.ReportTemplate}, {"audio", r.Audio},
		{"incremental", map[bool]string{true: "update the last report on each topic"}[r.Incremental]},
		{"catch up", r.CatchUp}, {"overlap", r.Overlap},
		{"pause after", strconv.Itoa(r.PauseAfter) + " failed nights"}, {"paused", r.Paused},
	} {
		if row[1] != "" {
			fmt.Fprintf(table, "  %s\t%s\n", row[0], row[1])
		}
	}
	for i, next := range v.Next {
		fmt.Fprintf(table, "  %s\t%s\n", map[bool]string{true: "next due"}[i == 0], view.DueTime(next))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(r.Firings) == 0 {
		return nil
	}
	const most = 10
	zone := scheduleZone(r.Spec)
	fmt.Fprintln(table, "DUE\tSTATE\tBATCH\tRUNS\tREASON")
	for i, f := range slices.Backward(r.Firings) {
		if len(r.Firings)-i > most {
			break
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", view.DueTime(f.Due.In(zone)), f.State, cmp.Or(f.Batch, "-"),
			cmp.Or(showRuns(f), "-"), f.Reason)
	}
	return table.Flush()
}

func showFiring(f schedule.Firing) string {
	if f.State == schedule.Open && f.Reason != "" { // the obstacle, until the next attempt
		return fmt.Sprintf("%s: %s", f.State, view.Clip(f.Reason, 60))
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s", f.State, showRuns(f)), ": ")
}

// showRuns summarizes the results of the runs of a firing.
func showRuns(f schedule.Firing) string {
	if f.State == schedule.Open {
		return fmt.Sprintf("%d of %d enqueued", f.Done, f.Topics)
	}
	var parts []string
	for _, c := range []struct {
		n    int
		word string
	}{{f.Broken, "failed"}, {f.Cancelled, "cancelled"}, {f.Partial, "partial"}, {f.Completed, "completed"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	if len(parts) == 0 && f.Topics > 0 {
		return fmt.Sprintf("%d topics", f.Topics)
	}
	return strings.Join(parts, ", ")
}
