package schedules_test

import (
	"testing"

	"nightdesk/cmd/nightdesk/desk/schedules"
	"nightdesk/topicqueue/schedule"
)

func TestOutcome(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]schedule.Firing{
		"firing: 3 of 9 enqueued":               {State: schedule.Open, Done: 3, Topics: 9},
		"firing: read the topics: no such file": {State: schedule.Open, Reason: "read the topics: no such file"},
		"ended: 1 failed, 2 completed":          {State: schedule.Ended, Topics: 3, Broken: 1, Completed: 2},
		"failed: no such file":                  {State: schedule.Failed, Reason: "no such file"},
		string(schedule.Missed):                 {State: schedule.Missed},
	} {
		if got := schedules.Outcome(f); got != want {
			t.Errorf("%+v is shown as %q, want %q", f, got, want)
		}
	}
}
