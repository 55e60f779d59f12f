package main

import (
	"testing"

	"nightdesk/topicqueue/schedule"
)

func TestShowFiring(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]schedule.Firing{
		"firing: 3 of 9 enqueued":               {State: schedule.Open, Done: 3, Topics: 9},
		"firing: read the topics: no such file": {State: schedule.Open, Reason: "read the topics: no such file"},
		"ended: 1 failed, 2 completed":          {State: schedule.Ended, Topics: 3, Broken: 1, Completed: 2},
		string(schedule.Failed):                 {State: schedule.Failed, Reason: "show has it"},
	} {
		if got := showFiring(f); got != want {
			t.Errorf("%+v is shown as %q, want %q", f, got, want)
		}
	}
}
