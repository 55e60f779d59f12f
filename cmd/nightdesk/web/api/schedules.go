package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/schedule"
)

// schedules serves the endpoints of schedules.
type schedules struct {
	queue *redisqueue.Queue
	shown func(source string) string
	fire  func(ctx context.Context, name string) (schedule.Firing, error)
}

// Schedule is a schedule with its next due times.
type Schedule struct {
	schedule.Record
	Topics string      `json:"topics" jsonschema:"where its list of topics is read"`
	Next   []time.Time `json:"next" jsonschema:"due times to come; none while it is paused"`
}

// ScheduleList is the list of all schedules.
type ScheduleList struct {
	Schedules []Schedule `json:"schedules"`
}

// PauseOptions are the options for pausing a schedule.
type PauseOptions struct {
	Reason string `json:"reason,omitempty" jsonschema:"what the list of schedules says of it"`
}

var scheduleParam = param{name: "name", in: inPath, about: "Name of a schedule", required: true, pattern: namePattern}

func (s schedules) endpoints() []endpoint {
	none := []int{http.StatusNotFound}
	one := func(verb, about string, body, answer any, do func(*call) (any, error), refusals ...int) endpoint {
		return endpoint{method: http.MethodPost, path: "/schedules/{name}/" + verb, id: verb + "Schedule", about: about,
			params: []param{scheduleParam}, body: body, answer: answer, refusals: append(refusals, none...), do: do}
	}
	return []endpoint{
		{method: http.MethodGet, path: "/schedules", id: "listSchedules", about: "Schedules with their next due times",
			answer: ScheduleList{}, do: s.list},
		{method: http.MethodGet, path: "/schedules/{name}", id: "readSchedule", about: "One schedule",
			params: []param{scheduleParam}, answer: Schedule{}, refusals: none, do: s.read},
		one("pause", "Pause a schedule", PauseOptions{}, Schedule{}, s.pause),
		one("resume", "Resume a paused schedule", Nothing{}, Schedule{}, s.resume),
		one("fire", "Enqueue the topics of a schedule now", Nothing{}, schedule.Firing{}, s.fireNow, http.StatusConflict),
	}
}

func (s schedules) of(r schedule.Record) Schedule {
	const next = 5
	return Schedule{Record: r, Topics: s.shown(r.Topics), Next: list(r.Upcoming(time.Now(), next))}
}

func (s schedules) list(c *call) (any, error) {
	records, err := s.queue.Schedules(c.Context())
	if err != nil {
		return nil, err
	}
	out := ScheduleList{Schedules: []Schedule{}}
	for _, r := range records {
		out.Schedules = append(out.Schedules, s.of(r))
	}
	return out, nil
}

func (s schedules) read(c *call) (any, error) {
	r, err := s.queue.Schedule(c.Context(), c.PathValue("name"))
	if err != nil {
		return nil, noSchedule(c, err)
	}
	return s.of(r), nil
}

// noSchedule converts the error for an unknown schedule name.
func noSchedule(c *call, err error) error {
	if errors.Is(err, redisqueue.ErrNoSchedule) {
		return problem(http.StatusNotFound, "/v1/schedules lists those that there are.", "there is no schedule %q",
			c.PathValue("name"))
	}
	return err
}

func (s schedules) change(c *call, do func(*schedule.Record)) (any, error) {
	r, err := s.queue.ChangeSchedule(c.Context(), c.PathValue("name"), func(r *schedule.Record) error {
		do(r)
		return nil
	})
	if err != nil {
		return nil, noSchedule(c, err)
	}
	return s.of(r), nil
}

func (s schedules) pause(c *call) (any, error) {
	why := shown(c.body.(*PauseOptions).Reason)
	if why == "" {
		why = "by a program"
	}
	return s.change(c, func(r *schedule.Record) { r.Pause(why, time.Now()) })
}

func (s schedules) resume(c *call) (any, error) {
	return s.change(c, func(r *schedule.Record) { r.Resume(time.Now()) })
}

func (s schedules) fireNow(c *call) (any, error) {
	firing, err := s.fire(c.Context(), c.PathValue("name"))
	if err != nil {
		return nil, noSchedule(c, err)
	}
	return firing, nil
}
