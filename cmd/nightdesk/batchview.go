package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// batchView is what a batch shows: how many runs are in which state, and those that are worked now.
type batchView struct {
	name   string
	states map[topicqueue.RunState]int
	runs   int
	paused int         // of those that have not ended
	worked []workedRun // in the order of enqueueing
}

// workedRun is a run that is worked, or waits for a person.
type workedRun struct {
	run   topicqueue.Run
	pulse redisqueue.Pulse
}

// ended counts the runs that have ended.
func (v *batchView) ended() int {
	n := 0
	for state, count := range v.states {
		if state.Final() {
			n += count
		}
	}
	return n
}

// whole is one run in the bar of a batch, to which runs that are worked add a part.
const whole = 1000

// done is how much of the batch is done, in parts of a run.
func (v *batchView) done() int {
	n := v.ended() * whole
	for _, w := range v.worked {
		if p := w.pulse.Progress; p.TotalTask > 0 {
			n += whole * p.ProcessedTasks / (p.TotalTask + 1) // the report is the rest
		}
	}
	return n
}

// counts lists the states of the batch, what a person must see first: "1 failed, 2 completed, 3 queued".
func (v *batchView) counts() string {
	var parts []string
	for _, state := range slices.Backward(topicqueue.RunStates) {
		if n := v.states[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if v.paused > 0 {
		parts = append(parts, fmt.Sprintf("%d of them paused", v.paused))
	}
	return strings.Join(parts, ", ")
}

// Columns of a worked run's line.
const (
	stateColumns = 13
	barColumns   = 12
	countColumns = 7
	idColumns    = 11
	refColumns   = 20
)

// live returns the lines that show where the batch stands. Runs that do not fit rows are counted.
func (v *batchView) live(now time.Time, width, rows int) []string {
	lines := []string{
		fmt.Sprintf("batch %s: %d runs: %s", v.name, v.runs, v.counts()),
		fmt.Sprintf("%s %d/%d runs have ended", drawBar(v.done(), v.runs*whole, max(12, min(50, width-30))),
			v.ended(), v.runs),
	}
	room := max(0, rows-len(lines))
	shown := v.worked
	if len(shown) > room {
		shown = shown[:max(0, room-1)]
	}
	common := v.common()
	refs := 0
	for _, w := range shown {
		refs = max(refs, min(refColumns, columns(w.run.Ref)))
	}
	for _, w := range shown {
		lines = append(lines, w.line(now, width, refs, &common))
	}
	if more := len(v.worked) - len(shown); more > 0 && room > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more in work", more))
	}
	return lines
}

// line is one run. refs: columns for the ids of topics. common: of the topics that are shown with it, of which the line
// keeps what differs.
func (w workedRun) line(now time.Time, width, refs int, common *topicqueue.Common) string {
	p := w.pulse.Progress
	run := w.run
	run.State = w.pulse.State
	bar, count := strings.Repeat(" ", barColumns), ""
	if p.TotalTask > 0 {
		bar, count = drawBar(p.ProcessedTasks, p.TotalTask, barColumns), fmt.Sprintf("%d/%d", p.ProcessedTasks, p.TotalTask)
	}
	word := string(run.State)
	switch {
	case w.pulse.Paused:
		word = "paused"
	case run.State == topicqueue.RunAwaitingInput:
		word = "waits for you"
	}
	fields := []string{" ", padColumns(word, stateColumns), bar, padColumns(count, countColumns)}
	if width >= 120 {
		fields = append(fields, padColumns(shortOf(run.ID), idColumns))
	}
	if !run.StartedAt.IsZero() {
		fields = append(fields, fmt.Sprintf("%7s", short(now.Sub(run.StartedAt))))
	}
	if refs > 0 {
		fields = append(fields, padColumns(run.Ref, refs))
	}
	line := strings.Join(fields, " ") + " "
	return line + common.Shorten(topicqueue.OneLine(run.Topic), width-1-columns(line), columns)
}

// endedLines tell of a run that has ended: with its id, reason and report.
func endedLines(run topicqueue.Run, report string) []string {
	lines := []string{fmt.Sprintf("%s  %s: %s", run.ID, run.State, clipColumns(run.Topic, topicColumns))}
	for _, part := range []string{run.Reason, report} {
		if part != "" {
			lines = append(lines, "    "+part)
		}
	}
	return lines
}

// endedOn returns the lines that tell a terminal of runs that have ended: one for each, and one for the reason of a
// bad end.
func (v *batchView) endedOn(width int, ended []topicqueue.Run) (lines []string) {
	common, refs := v.common(), 0
	for _, run := range ended {
		common.Add(run.Topic)
		refs = max(refs, columns(run.Ref))
	}
	for _, run := range ended {
		line := "  " + padColumns(string(run.State), stateColumns) + " " + shortOf(run.ID) + "  "
		if refs > 0 {
			line += padColumns(run.Ref, min(refs, refColumns)) + "  "
		}
		room := width - 1 - columns(line)
		lines = append(lines, line+clipColumns(common.Shorten(topicqueue.OneLine(run.Topic), room, columns), room))
		if run.Reason != "" {
			lines = append(lines, "      "+run.Reason)
		}
	}
	return lines
}

// common knows what the topics that are worked have in common.
func (v *batchView) common() (c topicqueue.Common) {
	for _, w := range v.worked {
		if w.run.Topic != "" { // of those that have room on the screen
			c.Add(w.run.Topic)
		}
	}
	return c
}
