package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/topicqueue/schedule"
)

// checkSchedules checks whether schedules will be fired. It returns nothing if there are no schedules, or if Redis,
// which has its own check, is unavailable.
func checkSchedules(ctx context.Context, cfg config.Config, con *view.Console) []checkup {
	const name = "schedules"
	d, err := wiring.OpenDesk(ctx, cfg, con, false)
	if err != nil {
		return nil
	}
	defer d.Close()
	records, err := d.Queue.Schedules(ctx)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	running, err := d.Dispatcher.Schedulers()
	if err != nil {
		return []checkup{failure(name, err)}
	}
	waiting := schedule.Missing(cfg.Schedules, records)
	if len(records)+len(waiting) == 0 && running == 0 {
		return nil
	}
	c := checkup{Name: name, Result: "ok", Text: fmt.Sprintf("%s, %s running", view.Counted(len(records), "schedule"),
		view.Counted(running, "scheduler"))}
	var first time.Time
	var what string
	var out []checkup
	for _, r := range records {
		if r.Paused != "" {
			out = append(out, checkup{Name: name, Result: "note", Text: r.Name + " is paused: " + r.Paused,
				Hint: "Resume it with `nightdesk schedule resume " + r.Name + "`."})
		}
		if next := r.Upcoming(d.Clock.Now(), 1); len(next) > 0 && (first.IsZero() || next[0].Before(first)) {
			first, what = next[0], r.Name
		}
	}
	if what != "" {
		c.Text += fmt.Sprintf(", next due is %s at %s", what, view.DueTime(first))
	}
	if len(waiting) > 0 {
		out = append(out, checkup{Name: name, Result: "note", Text: "in the settings file but not loaded yet: " +
			strings.Join(waiting, ", "),
			Hint: "A scheduler loads them when it starts: start or restart one."})
	}
	if running == 0 {
		c.Result, c.Hint = "note", "Schedules do not fire without one: start it with `nightdesk scheduler`."
	}
	return append([]checkup{c}, out...)
}
