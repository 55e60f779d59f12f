package api

import (
	"cmp"
	"net/http"

	desk "nightdesk/cmd/nightdesk/desk/schedules"
	"nightdesk/topicqueue/schedule"
)

// schedules serves the endpoints of schedules.
type schedules struct{ desk desk.Desk }

// PauseOptions are the options for pausing a schedule.
type PauseOptions struct {
	Reason string `json:"reason,omitempty" jsonschema:"what the list of schedules says of it"`
}

var scheduleParam = param{name: "name", in: inPath, about: "Name of a schedule", required: true, pattern: namePattern}

func (s schedules) endpoints() []endpoint {
	one := func(verb, about string, body, answer any, do func(*call) (any, error), refusals ...int) endpoint {
		return endpoint{method: http.MethodPost, path: "/schedules/{name}/" + verb, id: verb + "Schedule", about: about,
			params: []param{scheduleParam}, body: body, answer: answer, refusals: append(refusals, http.StatusNotFound), do: do}
	}
	return []endpoint{
		{method: http.MethodGet, path: "/schedules", id: "listSchedules", about: "Schedules with their next due times",
			answer: desk.ScheduleList{}, do: func(c *call) (any, error) { return s.desk.List(c.Context()) }},
		{method: http.MethodGet, path: "/schedules/{name}", id: "readSchedule", about: "One schedule",
			params: []param{scheduleParam}, answer: desk.Schedule{}, refusals: []int{http.StatusNotFound},
			do: func(c *call) (any, error) { return s.desk.Show(c.Context(), c.PathValue("name")) }},
		one("pause", "Pause a schedule", PauseOptions{}, desk.Schedule{}, func(c *call) (any, error) {
			why := cmp.Or(shown(c.body.(*PauseOptions).Reason), "by a program")
			return s.desk.Pause(c.Context(), c.PathValue("name"), why)
		}),
		one("resume", "Resume a paused schedule", Nothing{}, desk.Schedule{}, func(c *call) (any, error) {
			return s.desk.Resume(c.Context(), c.PathValue("name"))
		}),
		one("fire", "Enqueue the topics of a schedule now", Nothing{}, schedule.Firing{}, func(c *call) (any, error) {
			return s.desk.Fire(c.Context(), c.PathValue("name"))
		}, http.StatusConflict),
	}
}
