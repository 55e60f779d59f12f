package intake

import (
	"cmp"
	"fmt"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs"
)

// What is done with topics that are nearly the same as one above them.
const (
	Keep  = "keep"
	Skip  = "skip"
	Merge = "merge"
)

// Plan is what is to be enqueued of a list.
type Plan struct {
	merge    bool
	drop     bool                      // topics that are nearly the same as one above
	Topics   int                       // that are to be enqueued
	Known    int                       // of these: that the batch has already
	Repeated int                       // that stand above word for word, or with the same id
	Similar  int                       // that are nearly the same as one above, or as one that the batch has
	Options  map[int]int               // how many of the topics that are new have which options
	Due      map[time.Time]map[int]int // the same of those with a deadline, by that
	merged   map[int32]Topic           // what becomes of those that take others in
}

// NewPlan decides what becomes of topics that stand there twice, and points them out.
func NewPlan(con *view.Console, list *List, dedupe string) (*Plan, error) {
	p := &Plan{merge: dedupe == Merge, drop: dedupe != Keep, Options: map[int]int{},
		Due: map[time.Time]map[int]int{}, merged: map[int32]Topic{}}
	var shown problemList
	err := list.spool.each(func(n int, t Topic) error {
		i := int32(n)
		what := ""
		switch other := list.repeats[i]; {
		case list.same[i] >= 0:
			p.Repeated++
			shown.add("line %d repeats line %d, whose options are used: %s", t.Line, list.Lines[list.same[i]],
				view.Clip(t.Topic, 80))
		case other >= 0:
			p.Similar++
			if p.drop {
				what = ", and is left out"
			}
			run, err := list.there.spool.at(int(other))
			if err != nil {
				return err
			}
			shown.add("line %d is nearly the same as %s of batch %s%s: %s", t.Line, run.Ref, list.there.batch.Name, what,
				view.Clip(t.Topic, 80))
		case list.near[i] >= 0:
			p.Similar++
			what = map[string]string{Keep: "", Skip: ", and is left out",
				Merge: ", and becomes a part of it"}[dedupe]
			shown.add("line %d is nearly the same as line %d%s: %s", t.Line, list.Lines[list.near[i]], what,
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
		return nil
	})
	if err != nil {
		return nil, err
	}
	if shown.Count > 0 {
		more := ""
		if dedupe == Keep && p.Similar > 0 {
			more = fmt.Sprintf("\n  What is nearly the same (%s) gets a report of its own; --dedupe skip or --dedupe merge "+
				"changes that.", view.Counted(p.Similar, "topic"))
		}
		con.Say("%s of %s repeating others:\n  %s%s", view.Counted(shown.Count, "line"), list.Name, shown.Text(), more)
	}
	return p, nil
}

// mergeTopic takes another topic into what a topic takes in.
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
	case jobs.LaneHigh:
		return 2
	case jobs.LaneLow:
		return 0
	}
	return 1
}

// Each calls do for every topic that is to be enqueued, in the order of the list.
func (p *Plan) Each(list *List, do func(Topic) error) error {
	return list.spool.each(func(n int, t Topic) error {
		if list.head(int32(n), p.drop) != int32(n) {
			return nil
		}
		if more, ok := p.merged[int32(n)]; ok {
			line := t.Line
			t = mergeTopic(t, more)
			t.Line = line
		}
		return do(t)
	})
}

func laneOf(priority string) (string, error) {
	switch priority {
	case "high":
		return jobs.LaneHigh, nil
	case "normal", "":
		return "", nil
	case "low":
		return jobs.LaneLow, nil
	}
	return "", view.Usage(fmt.Errorf("priority %q is unknown: use high, normal or low", priority))
}
