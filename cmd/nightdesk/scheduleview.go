package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/topicqueue/schedule"
)

// shownNext is how many due times are shown of a schedule.
const shownNext = 5

// scheduleView is what `schedule list` and `schedule show` print as JSON.
type scheduleView struct {
	schedule.Record
	Topics string      `json:"topics"` // without a key that its address may hold
	Next   []time.Time `json:"next"`   // due times to come; none while it is paused
}

func viewOf(r schedule.Record, now time.Time) scheduleView {
	v := scheduleView{Record: r, Topics: shownSource(r.Topics), Next: []time.Time{}}
	if r.Paused == "" {
		if r.Since.After(now) {
			now = r.Since
		}
		v.Next = append(v.Next, r.Next(now, shownNext)...)
	}
	return v
}

func showDue(t time.Time) string { return t.Format("Mon 2006-01-02 15:04 MST") }

func scheduleList(ctx context.Context, cfg config.Config, con *view.Console) (err error) {
	d, err := openDesk(ctx, cfg, con, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	records, err := d.queue.Schedules(ctx)
	if err != nil {
		return err
	}
	if waiting := undeclared(cfg.Schedules, records); len(waiting) > 0 {
		con.Say("declared in the settings file, and taken up when a scheduler starts: %s", strings.Join(waiting, ", "))
	}
	if running, err := d.dispatcher.Schedulers(); err == nil && running == 0 && len(records) > 0 {
		con.Say("no scheduler is running: schedules will not fire; start one with `nightdesk scheduler`")
	}
	table := tabwriter.NewWriter(con.Out, 0, 4, 2, ' ', 0)
	if len(records) > 0 && !con.JSON {
		fmt.Fprintln(table, "SCHEDULE\tCRON\tZONE\tNEXT\tLAST\tTOPICS")
	}
	for _, r := range records {
		v := viewOf(r, d.clock.Now())
		if con.JSON {
			if err := con.PrintJSON(v, true); err != nil {
				return err
			}
			continue
		}
		next, last := "never", "never"
		if r.Paused != "" {
			next = "paused: " + view.Clip(r.Paused, 60)
		} else if len(v.Next) > 0 {
			next = showDue(v.Next[0])
		}
		if n := len(r.Firings); n > 0 {
			last = showFiring(r.Firings[n-1])
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", r.Name, r.Cron, r.Zone, next, last, v.Topics)
	}
	return table.Flush()
}

// undeclared returns the names of schedules of the settings file that no scheduler has taken up.
func undeclared(declared []schedule.Spec, records []schedule.Record) (names []string) {
	for _, s := range declared {
		if !slices.ContainsFunc(records, func(r schedule.Record) bool { return r.Name == s.Name }) {
			names = append(names, s.Name)
		}
	}
	return names
}

func scheduleShow(ctx context.Context, con *view.Console, d *desk, name string) error {
	r, err := d.queue.Schedule(ctx, name)
	if err != nil {
		return err
	}
	v := viewOf(r, d.clock.Now())
	if con.JSON {
		return con.PrintJSON(v, false)
	}
	fmt.Fprintf(con.Out, "schedule %s: %s in %s\n", r.Name, r.Cron, r.Zone)
	table := tabwriter.NewWriter(con.Out, 0, 4, 2, ' ', 0)
	for _, row := range [][2]string{
		{"topics", v.Topics}, {"template", r.Template}, {"tags", r.Tags}, {"preset", r.Preset}, {"language", r.Language},
		{"kb", r.KnowledgeBase}, {"strategy", r.Strategy}, {"sources", r.Sources},
		{"priority", r.Priority}, {"budget", r.Budget}, {"batch budget", r.BatchBudget}, {"deadline", r.Deadline},
		{"report template", r.ReportTemplate},
		{"incremental", map[bool]string{true: "each topic goes on from the last time"}[r.Incremental]},
		{"catch up", r.CatchUp}, {"overlap", r.Overlap},
		{"pause after", strconv.Itoa(r.PauseAfter) + " failed nights"}, {"paused", r.Paused},
	} {
		if row[1] != "" {
			fmt.Fprintf(table, "  %s\t%s\n", row[0], row[1])
		}
	}
	for i, next := range v.Next {
		fmt.Fprintf(table, "  %s\t%s\n", map[bool]string{true: "next due"}[i == 0], showDue(next))
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
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", showDue(f.Due.In(zone)), f.State, cmp.Or(f.Batch, "-"),
			cmp.Or(showRuns(f), "-"), f.Reason)
	}
	return table.Flush()
}

func showFiring(f schedule.Firing) string {
	if f.State == schedule.Open && f.Reason != "" { // what is in its way, until it is tried again
		return fmt.Sprintf("%s: %s", f.State, view.Clip(f.Reason, 60))
	}
	return strings.TrimSuffix(fmt.Sprintf("%s: %s", f.State, showRuns(f)), ": ")
}

// showRuns says what became of the runs of a firing.
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

// checkSchedules says whether what is scheduled will be fired. It says nothing without schedules, and without a Redis,
// which is a check of its own.
func checkSchedules(ctx context.Context, cfg config.Config, con *view.Console) []checkup {
	const name = "schedules"
	d, err := openDesk(ctx, cfg, con, false)
	if err != nil {
		return nil
	}
	defer d.Close()
	records, err := d.queue.Schedules(ctx)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	running, err := d.dispatcher.Schedulers()
	if err != nil {
		return []checkup{failure(name, err)}
	}
	waiting := undeclared(cfg.Schedules, records)
	if len(records)+len(waiting) == 0 && running == 0 {
		return nil
	}
	c := checkup{Name: name, Result: "ok", Text: fmt.Sprintf("%s, %s running", view.Counted(len(records), "schedule"),
		view.Counted(running, "scheduler"))}
	var first time.Time
	var what string
	var out []checkup
	for _, r := range records {
		v := viewOf(r, d.clock.Now())
		if r.Paused != "" {
			out = append(out, checkup{Name: name, Result: "note", Text: r.Name + " is paused: " + r.Paused,
				Hint: "Let it fire again with `nightdesk schedule resume " + r.Name + "`."})
		}
		if len(v.Next) > 0 && (first.IsZero() || v.Next[0].Before(first)) {
			first, what = v.Next[0], r.Name
		}
	}
	if what != "" {
		c.Text += fmt.Sprintf(", next due is %s at %s", what, showDue(first))
	}
	if len(waiting) > 0 {
		out = append(out, checkup{Name: name, Result: "note", Text: "declared in the settings file and not taken up yet: " +
			strings.Join(waiting, ", "),
			Hint: "A scheduler takes them up when it starts: start one, or start it again."})
	}
	if running == 0 {
		c.Result, c.Hint = "note", "Nothing is fired while none runs: start one with `nightdesk scheduler`."
	}
	return append([]checkup{c}, out...)
}
