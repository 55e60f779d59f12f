package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"nightdesk/cmd/nightdesk/desk/schedules"
	"nightdesk/topicqueue/schedule"
)

// schedulesPage is the data of the page.
type schedulesPage struct {
	schedules.ScheduleList
	Said string // result of a form
}

func (s *site) schedules(ctx context.Context, _ *http.Request) (string, any, error) {
	return s.schedulesPage(ctx, "")
}

func (s *site) schedulesPage(ctx context.Context, said string) (string, any, error) {
	const next, last = 3, 5
	all, err := s.Schedules().List(ctx)
	for i, one := range all.Schedules {
		all.Schedules[i].Next = one.Next[:min(next, len(one.Next))]
		all.Schedules[i].Firings = slices.Clone(one.Firings[max(0, len(one.Firings)-last):])
		slices.Reverse(all.Schedules[i].Firings)
	}
	return "Schedules", schedulesPage{all, said}, err
}

// change pauses, resumes or fires a schedule.
func (s *site) changeSchedule(ctx context.Context, r *http.Request) (string, any, error) {
	if err := r.ParseForm(); err != nil {
		return "", nil, wrong("This form cannot be read: " + err.Error())
	}
	id, said := r.PostForm.Get("schedule"), ""
	var err error
	switch r.PostForm.Get("do") {
	case "pause":
		said = "paused"
		_, err = s.Schedules().Pause(ctx, id, "on the page")
	case "resume":
		said = "resumed"
		_, err = s.Schedules().Resume(ctx, id)
	case "fire":
		var f schedule.Firing
		f, err = s.Schedules().Fire(ctx, id)
		said = fmt.Sprintf("fired: %d topics are in batch %s", f.Topics, f.Batch)
	default:
		err = wrong("There is no such action.")
	}
	if err != nil {
		return "", nil, err
	}
	return s.schedulesPage(ctx, "Schedule "+id+" is "+said+".")
}
