package wiring

import (
	"context"
	"testing"

	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// A run is planned while it is not yet known whether there is a sandbox. Its blocks wait for that, and have run_code.
func TestPlanningDoesNotWaitForTheSandbox(t *testing.T) {
	t.Parallel()
	found := make(chan tools.Tool)
	box := toolbox{own: &OwnTools{}, code: func(context.Context) tools.Tool { return <-found }}
	run := topicqueue.Run{State: topicqueue.RunPlanning, Options: topicqueue.Options{Tools: []string{"run_code"}}}
	planned, err := box.of(t.Context(), run)
	if err != nil || len(planned.Tools) != 0 {
		t.Errorf("planning has %v, %v", planned.Tools, err)
	}
	go func() { found <- tools.NewOpenPage(nil) }() // stands for it
	run.State = topicqueue.RunResearching
	researched, err := box.of(t.Context(), run)
	if err != nil || len(researched.Tools) != 1 {
		t.Errorf("a block has %v, %v", researched.Tools, err)
	}
}
