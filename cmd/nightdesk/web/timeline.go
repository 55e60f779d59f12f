package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
)

// Parts of the timeline page.
type (
	timelinePage struct {
		RunURL, Topic string
		Live          bool
		Length        string
		Rows          []timelineRow
	}
	timelineRow struct {
		Name, When string
		From, Long int // in units of 1/timelineWidth
		Marks      []int
		Said       []timelineLine
	}
	timelineLine struct{ At, Text string }
)

// timelineWidth is the width of a row in units.
const timelineWidth = 1000

// timeline shows when each part of a run was processed, and what it did.
func (s *site) timeline(ctx context.Context, r *http.Request) (string, any, error) {
	id := r.PathValue("run")
	run, err := s.Find(ctx, id)
	if err != nil {
		return "", nil, err
	}
	blocks, err := run.Blocks(ctx)
	if err != nil {
		return "", nil, err
	}
	var events []topicqueue.Event
	for more := []topicqueue.Event{{}}; len(more) > 0; {
		if more, err = s.Events(ctx, run.ID, more[len(more)-1].Seq); err != nil {
			return "", nil, err
		}
		events = append(events, more...)
	}
	events = slices.DeleteFunc(events, func(e topicqueue.Event) bool { return e.Status == topicqueue.StatusGap })
	told, err := view.Tell(run.Options, events)
	if err != nil {
		return "", nil, err
	}
	p := timelinePage{RunURL: "../" + name(id), Topic: topicqueue.OneLine(run.Topic), Live: !run.State.Final()}
	if len(told) > 0 {
		begin, end := told[0].Time, told[len(told)-1].Time
		if p.Live {
			end = time.Now()
		}
		p.Length, p.Rows = view.Duration(end.Sub(begin)), timelineRows(told, begin, end)
	}
	for i, row := range p.Rows {
		if at := slices.IndexFunc(blocks, func(b topicqueue.Block) bool { return b.ID == row.Name }); at >= 0 {
			p.Rows[i].Name = blocks[at].Title
		}
	}
	return "How it was worked", p, nil
}

// timelineRows groups the events of a run into planning, topic blocks and report.
func timelineRows(told []view.Told, begin, end time.Time) []timelineRow {
	type lane struct{ wave, lane int }
	of := map[lane][]view.Told{}
	var lanes []lane
	for _, t := range told {
		l := lane{t.Placement.Wave, t.Placement.Lane}
		if l.wave == 1 && l.lane == 0 || len(t.Lines) == 0 && t.Status != topicqueue.StatusComplete {
			continue // the topic blocks show it
		}
		if of[l] == nil {
			lanes = append(lanes, l)
		}
		of[l] = append(of[l], t)
	}
	slices.SortFunc(lanes, func(a, b lane) int { return cmp.Or(a.wave-b.wave, a.lane-b.lane) })
	whole := max(end.Sub(begin), time.Millisecond)
	at := func(t time.Time) int { return int(timelineWidth * t.Sub(begin) / whole) }
	var rows []timelineRow
	for _, l := range lanes {
		events := of[l]
		first, last := events[0].Time, events[len(events)-1].Time
		row := timelineRow{Name: map[int]string{0: "Planning", 1: topicqueue.BlockID(l.lane), 2: "Report"}[l.wave],
			When: view.Duration(first.Sub(begin)) + " to " + view.Duration(last.Sub(begin)),
			From: at(first), Long: max(at(last)-at(first), 4)}
		for _, e := range events {
			if e.Status == topicqueue.StatusReference {
				row.Marks = append(row.Marks, at(e.Time))
			}
			for _, line := range e.Lines {
				row.Said = append(row.Said, timelineLine{view.Duration(e.Time.Sub(begin)), line})
			}
		}
		rows = append(rows, row)
	}
	return rows
}
