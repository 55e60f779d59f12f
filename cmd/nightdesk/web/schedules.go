package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/schedule"
)

// Parts of the schedules page.
type (
	schedulesPage struct {
		Said      string // result of a form
		Schedules []scheduleLine
	}
	scheduleLine struct {
		Name, When, Topics, Paused string
		Next                       []string
		Firings                    []firingLine
	}
	firingLine struct{ Due, Batch, URL, Outcome string }
)

const (
	nextFirings = 3
	lastFirings = 5
)

// schedulePages show and change schedules.
type schedulePages struct {
	queue       *redisqueue.Queue
	shownSource func(source string) string
	fire        func(ctx context.Context, name string) (schedule.Firing, error)
}

// schedules lists the schedules.
func (s schedulePages) schedules(ctx context.Context, _ *http.Request) (string, any, error) {
	return s.scheduleList(ctx, "")
}

func (s schedulePages) scheduleList(ctx context.Context, said string) (string, any, error) {
	records, err := s.queue.Schedules(ctx)
	if err != nil {
		return "", nil, err
	}
	p := schedulesPage{Said: said}
	for _, r := range records {
		line := scheduleLine{Name: r.Name, When: strings.TrimSpace(r.Cron + " " + r.Zone), Paused: r.Paused,
			Topics: s.shownSource(r.Topics)}
		if r.Paused == "" {
			for _, due := range r.Upcoming(time.Now(), nextFirings) {
				line.Next = append(line.Next, view.DueTime(due))
			}
		}
		for _, f := range slices.Backward(r.Firings[max(0, len(r.Firings)-lastFirings):]) {
			line.Firings = append(line.Firings, firingLine{view.DueTime(f.Due), f.Batch, "./batches/" + name(f.Batch),
				outcomeOf(f)})
		}
		p.Schedules = append(p.Schedules, line)
	}
	return "Schedules", p, nil
}

// outcomeOf describes the result of a firing.
func outcomeOf(f schedule.Firing) string {
	if f.State != schedule.Ended || f.Reason != "" {
		return strings.TrimSpace(string(f.State) + " " + f.Reason)
	}
	var parts []string
	for _, of := range []struct {
		n    int
		what string
	}{{f.Completed, "completed"}, {f.Partial, "partial"}, {f.Broken, "failed"}, {f.Cancelled, "cancelled"}} {
		if of.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", of.n, of.what))
		}
	}
	return strings.Join(parts, ", ")
}

// changeSchedule pauses, resumes or fires a schedule.
func (s schedulePages) changeSchedule(ctx context.Context, r *http.Request) (string, any, error) {
	if err := r.ParseForm(); err != nil {
		return "", nil, wrong("This form cannot be read: " + err.Error())
	}
	id, said := r.PostForm.Get("schedule"), ""
	change := func(do func(*schedule.Record)) error {
		_, err := s.queue.ChangeSchedule(ctx, id, func(r *schedule.Record) error { do(r); return nil })
		return err
	}
	var err error
	switch r.PostForm.Get("do") {
	case "pause":
		said = "paused"
		err = change(func(r *schedule.Record) { r.Pause("on the page", time.Now()) })
	case "resume":
		said = "resumed"
		err = change(func(r *schedule.Record) { r.Resume(time.Now()) })
	case "fire":
		var f schedule.Firing
		f, err = s.fire(ctx, id)
		said = fmt.Sprintf("fired: %d topics are in batch %s", f.Topics, f.Batch)
	default:
		return "", nil, wrong("There is no such action.")
	}
	switch {
	case errors.Is(err, redisqueue.ErrNoSchedule):
		return "", nil, wrong(fmt.Sprintf("There is no schedule %q.", id))
	case view.IsUsage(err):
		return "", nil, wrong(err.Error() + "\n" + view.HintOf(err))
	case err != nil:
		return "", nil, err
	}
	return s.scheduleList(ctx, "Schedule "+id+" is "+said+".")
}
