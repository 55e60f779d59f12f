package intake

import (
	"cmp"
	"fmt"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
)

// Ways to handle topics that are nearly the same as an earlier one.
const (
	Keep  = "keep"
	Skip  = "skip"
	Merge = "merge"
)

// Plan determines which topics of a list are enqueued.
type Plan struct {
	merge    bool
	drop     bool                      // drop topics that are nearly the same as an earlier one
	Topics   int                       // number of topics to enqueue
	Known    int                       // of these, already in the batch
	Repeated int                       // same text or id as an earlier topic
	Similar  int                       // nearly the same as an earlier topic, or one in the batch
	Options  map[int]int               // number of new topics by index of their options
	Due      map[time.Time]map[int]int // the same for topics with a deadline, by deadline
	merged   map[int32]Topic           // by head: combined tags, lane and deadline of the topics merged into it
}

// NewPlan decides what happens to duplicate topics, and lists them.
func NewPlan(con *view.Console, list *List, dedupe string) *Plan {
	p := &Plan{merge: dedupe == Merge, drop: dedupe != Keep, Options: map[int]int{},
		Due: map[time.Time]map[int]int{}, merged: map[int32]Topic{}}
	var shown problemList
	for n, t := range list.Topics {
		i := int32(n)
		what := ""
		switch other := list.repeats[i]; {
		case list.same[i] >= 0:
			p.Repeated++
			shown.add("line %d repeats line %d, whose options are used: %s", t.Line, list.Topics[list.same[i]].Line,
				view.Clip(t.Topic, 80))
		case other >= 0:
			p.Similar++
			if p.drop {
				what = ", and is left out"
			}
			run := list.there.topics[other]
			shown.add("line %d is nearly the same as %s of batch %s%s: %s", t.Line, run.Ref, list.there.batch.Name, what,
				view.Clip(t.Topic, 80))
		case list.near[i] >= 0:
			p.Similar++
			what = map[string]string{Keep: "", Skip: ", and is left out",
				Merge: ", and becomes a part of it"}[dedupe]
			shown.add("line %d is nearly the same as line %d%s: %s", t.Line, list.Topics[list.near[i]].Line, what,
				view.Clip(t.Topic, 80))
		}
		switch head := list.head(i, p.drop); {
		case head == i:
			p.Topics++
			if list.there.has(t) {
				p.Known++
			} else {
				p.Options[t.Options]++
				if !t.Deadline.IsZero() {
					if p.Due[t.Deadline] == nil {
						p.Due[t.Deadline] = map[int]int{}
					}
					p.Due[t.Deadline][t.Options]++
				}
			}
		case p.merge && head >= 0:
			p.merged[head] = mergeTopic(p.merged[head], t)
		}
	}
	if shown.Count > 0 {
		more := ""
		if dedupe == Keep && p.Similar > 0 {
			more = fmt.Sprintf("\n  What is nearly the same (%s) gets a report of its own; --dedupe skip or --dedupe merge "+
				"changes that.", view.Counted(p.Similar, "topic"))
		}
		con.Say("%s of %s repeating others:\n  %s%s", view.Counted(shown.Count, "line"), list.Name, shown.text(), more)
	}
	return p
}

// mergeTopic combines two topics: all tags, the most urgent lane, and the earliest deadline.
func mergeTopic(into, t Topic) Topic {
	into.Tags = union(into.Tags, t.Tags)
	if into.Line == 0 || urgency(t.Lane) > urgency(into.Lane) {
		into.Lane = t.Lane
	}
	if into.Deadline.IsZero() || !t.Deadline.IsZero() && t.Deadline.Before(into.Deadline) {
		into.Deadline = t.Deadline
	}
	into.Line = cmp.Or(into.Line, t.Line)
	return into
}

func urgency(lane string) int {
	switch lane {
	case tasks.LaneHigh:
		return 2
	case tasks.LaneLow:
		return 0
	}
	return 1
}

// Each calls do for every topic to enqueue, in the order of the list, until do returns an error.
func (p *Plan) Each(list *List, do func(Topic) error) error {
	for n, t := range list.Topics {
		if list.head(int32(n), p.drop) != int32(n) {
			continue
		}
		if more, ok := p.merged[int32(n)]; ok {
			line := t.Line
			t = mergeTopic(t, more)
			t.Line = line
		}
		if err := do(t); err != nil {
			return err
		}
	}
	return nil
}

func laneOf(priority string) (string, error) {
	switch priority {
	case "high":
		return tasks.LaneHigh, nil
	case "normal", "":
		return "", nil
	case "low":
		return tasks.LaneLow, nil
	}
	return "", view.Usage(fmt.Errorf("priority %q is unknown: use high, normal or low", priority))
}
