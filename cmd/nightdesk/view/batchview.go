package view

import (
	"fmt"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// Batch is the state of a batch for display: the number of runs by state.
type Batch struct {
	Name   string
	States map[topicqueue.RunState]int
	Runs   int
	Paused int // of the runs that have not ended
}

// Add counts a run.
func (v *Batch) Add(run topicqueue.Run) {
	v.Runs++
	v.States[run.State]++
	if run.Paused && !run.State.Final() {
		v.Paused++
	}
}

// Head describes the batch in one line, the most urgent states first: "batch tonight: 6 runs: 1 failed, 2 completed,
// 3 queued".
func (v *Batch) Head() string {
	var parts []string
	for _, state := range slices.Backward(topicqueue.RunStates) {
		if n := v.States[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if v.Paused > 0 {
		parts = append(parts, fmt.Sprintf("%d of them paused", v.Paused))
	}
	return fmt.Sprintf("batch %s: %d runs: %s", v.Name, v.Runs, strings.Join(parts, ", "))
}

// Live returns the live line of the batch.
func (v *Batch) Live() string {
	ended := 0
	for state, n := range v.States {
		if state.Final() {
			ended += n
		}
	}
	return fmt.Sprintf("%s %d/%d  %s", drawBar(ended, v.Runs, 20), ended, v.Runs, v.Head())
}

// EndedLines returns the lines for a run that has ended: its id, reason and report.
func EndedLines(run topicqueue.Run, report string) []string {
	lines := []string{fmt.Sprintf("%s  %s: %s", run.ID, run.State, Clip(run.Topic, TopicColumns))}
	for _, part := range []string{run.Reason, report} {
		if part != "" {
			lines = append(lines, "    "+part)
		}
	}
	return lines
}
