package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// Batch is the state of a batch for display: the number of runs by state, and the runs in progress.
type Batch struct {
	Name   string
	States map[topicqueue.RunState]int
	Runs   int
	Paused int         // of the runs that have not ended
	Worked []WorkedRun // in the order of enqueueing
}

// WorkedRun is a run that is in progress or waits for a person.
type WorkedRun struct {
	topicqueue.Run
	Progress topicqueue.Progress // in topic blocks; zero before planning is done
}

// Add counts a run.
func (v *Batch) Add(run topicqueue.Run) {
	v.Runs++
	v.States[run.State]++
	if run.State.Final() {
		return
	}
	if run.Paused {
		v.Paused++
	}
	if run.State != topicqueue.RunQueued {
		v.Worked = append(v.Worked, WorkedRun{Run: run})
	}
}

// Head describes the batch in one line.
func (v *Batch) Head() string {
	return fmt.Sprintf("batch %s: %d runs: %s", v.Name, v.Runs, v.Counts())
}

// ended returns the number of runs that have ended.
func (v *Batch) ended() int {
	n := 0
	for state, count := range v.States {
		if state.Final() {
			n += count
		}
	}
	return n
}

// whole is the weight of one run in the bar of a batch. Runs in progress count for a part of it.
const whole = 1000

// done returns how much of the batch is done, in units of 1/whole of a run.
func (v *Batch) done() int {
	n := v.ended() * whole
	for _, w := range v.Worked {
		if p := w.Progress; p.TotalTask > 0 {
			n += whole * p.ProcessedTasks / (p.TotalTask + 1) // the remaining task is the report
		}
	}
	return n
}

// Counts lists the states of the batch, the most urgent first: "1 failed, 2 completed, 3 queued".
func (v *Batch) Counts() string {
	var parts []string
	for _, state := range slices.Backward(topicqueue.RunStates) {
		if n := v.States[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if v.Paused > 0 {
		parts = append(parts, fmt.Sprintf("%d of them paused", v.Paused))
	}
	return strings.Join(parts, ", ")
}

// Column widths in the line of a run.
const (
	stateColumns = 13
	barColumns   = 12
	countColumns = 7
	idColumns    = 11
	refColumns   = 20
)

// Live returns the live lines of the batch. If there are more runs than rows, it counts the rest.
func (v *Batch) Live(now time.Time, width, rows int) []string {
	lines := []string{
		v.Head(),
		fmt.Sprintf("%s %d/%d runs have ended", drawBar(v.done(), v.Runs*whole, max(12, min(50, width-30))),
			v.ended(), v.Runs),
	}
	room := max(0, rows-len(lines))
	shown := v.Worked
	if len(shown) > room {
		shown = shown[:max(0, room-1)]
	}
	common := v.common()
	refs := 0
	for _, w := range shown {
		refs = max(refs, min(refColumns, Columns(w.Run.Ref)))
	}
	for _, w := range shown {
		lines = append(lines, w.line(now, width, refs, &common))
	}
	if more := len(v.Worked) - len(shown); more > 0 && room > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more in work", more))
	}
	return lines
}

// line returns the line of one run. refs is the width of the topic ids. common describes what the shown topics share,
// so that the line keeps the part that differs.
func (w WorkedRun) line(now time.Time, width, refs int, common *topicqueue.Common) string {
	p, run := w.Progress, w.Run
	bar, count := strings.Repeat(" ", barColumns), ""
	if p.TotalTask > 0 {
		bar, count = drawBar(p.ProcessedTasks, p.TotalTask, barColumns), fmt.Sprintf("%d/%d", p.ProcessedTasks, p.TotalTask)
	}
	word := string(run.State)
	switch {
	case run.Paused:
		word = "paused"
	case run.State == topicqueue.RunAwaitingInput:
		word = "waits for you"
	}
	fields := []string{" ", Pad(word, stateColumns), bar, Pad(count, countColumns)}
	if width >= 120 {
		fields = append(fields, Pad(ShortID(run.ID), idColumns))
	}
	if !run.StartedAt.IsZero() {
		fields = append(fields, fmt.Sprintf("%7s", Duration(now.Sub(run.StartedAt))))
	}
	if refs > 0 {
		fields = append(fields, Pad(run.Ref, refs))
	}
	line := strings.Join(fields, " ") + " "
	return line + common.Shorten(topicqueue.OneLine(run.Topic), width-1-Columns(line), Columns)
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

// common returns what the topics of the runs in progress share.
func (v *Batch) common() (c topicqueue.Common) {
	for _, w := range v.Worked {
		c.Add(w.Run.Topic)
	}
	return c
}
