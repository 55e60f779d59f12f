package main

import (
	"cmp"
	"fmt"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs"
)

// listPlan is what is to be enqueued of a list.
type listPlan struct {
	merge    bool
	drop     bool                      // topics that are nearly the same as one above
	topics   int                       // that are to be enqueued
	known    int                       // of these: that the batch has already
	repeated int                       // that stand above word for word, or with the same id
	similar  int                       // that are nearly the same as one above, or as one that the batch has
	options  map[int]int               // how many of the topics that are new have which options
	due      map[time.Time]map[int]int // the same of those with a deadline, by that
	merged   map[int32]spooledTopic    // what becomes of those that take others in
}

// planList decides what becomes of topics that stand there twice, and points them out.
func planList(con *view.Console, list *topicList, dedupe string) (*listPlan, error) {
	p := &listPlan{merge: dedupe == dedupeMerge, drop: dedupe != dedupeKeep, options: map[int]int{},
		due: map[time.Time]map[int]int{}, merged: map[int32]spooledTopic{}}
	var shown problemList
	err := list.spool.each(func(n int, t spooledTopic) error {
		i := int32(n)
		what := ""
		switch other := list.repeats[i]; {
		case list.same[i] >= 0:
			p.repeated++
			shown.add("line %d is line %d again, whose options count: %s", t.Line, list.lines[list.same[i]],
				view.Clip(t.Topic, 80))
		case other >= 0:
			p.similar++
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
			p.similar++
			what = map[string]string{dedupeKeep: "", dedupeSkip: ", and is left out",
				dedupeMerge: ", and becomes a part of it"}[dedupe]
			shown.add("line %d is nearly the same as line %d%s: %s", t.Line, list.lines[list.near[i]], what,
				view.Clip(t.Topic, 80))
		}
		switch head := list.head(i, p.drop); {
		case head == i:
			p.topics++
			if list.there.has(t) {
				p.known++
			} else {
				p.options[t.Options]++
				if !t.Deadline.IsZero() {
					if p.due[t.Deadline] == nil {
						p.due[t.Deadline] = map[int]int{}
					}
					p.due[t.Deadline][t.Options]++
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
	if shown.count > 0 {
		more := ""
		if dedupe == dedupeKeep && p.similar > 0 {
			more = fmt.Sprintf("\n  What is nearly the same (%s) gets a report of its own; --dedupe skip or --dedupe merge "+
				"changes that.", view.Counted(p.similar, "topic"))
		}
		con.Say("%s of %s repeating others:\n  %s%s", view.Counted(shown.count, "line"), list.name, shown.text(), more)
	}
	return p, nil
}

// mergeTopic takes another topic into what a topic takes in.
func mergeTopic(into, t spooledTopic) spooledTopic {
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

// each calls do for every topic that is to be enqueued, in the order of the list.
func (p *listPlan) each(list *topicList, do func(spooledTopic) error) error {
	return list.spool.each(func(n int, t spooledTopic) error {
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
