package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
)

// listFlags select and sort the runs that are listed.
type listFlags struct {
	batch, state, search, since, sort string
	tags                              []string
	limit                             int // 0: no limit
}

// listLine is a listed run.
type listLine struct {
	runLine
	word string // shown state
}

// orders maps values of --sort, other than oldest and newest, to comparison functions.
var orders = map[string]func(x, y listLine) int{
	"ended": func(x, y listLine) int { return y.EndedAt.Compare(x.EndedAt) },
	"state": func(x, y listLine) int {
		return cmp.Compare(slices.Index(topicqueue.RunStates, x.State), slices.Index(topicqueue.RunStates, y.State))
	},
	"topic": func(x, y listLine) int { return strings.Compare(strings.ToLower(x.Topic), strings.ToLower(y.Topic)) },
}

// check validates the flags and returns the filter for runs. now is the reference time for --since.
func (f listFlags) check(now time.Time) (pick func(topicqueue.Run) bool, err error) {
	if f.state != "" && !slices.Contains(topicqueue.RunStates, topicqueue.RunState(f.state)) {
		var names []string
		for _, s := range topicqueue.RunStates {
			names = append(names, string(s))
		}
		return nil, view.Usage(fmt.Errorf("state %q is unknown: use one of %s", f.state, strings.Join(names, ", ")))
	}
	if !slices.Contains([]string{"", "oldest", "newest"}, f.sort) && orders[f.sort] == nil {
		return nil, view.Usage(fmt.Errorf("--sort %s: use oldest, newest, ended, state or topic", f.sort))
	}
	if f.limit < 0 {
		return nil, view.Usage(fmt.Errorf("--limit %d: give a number of runs, or 0 for all", f.limit))
	}
	since, err := sinceAt(f.since, now)
	if err != nil {
		return nil, err
	}
	return func(run topicqueue.Run) bool {
		lacks := func(tag string) bool { return !slices.Contains(run.Tags, tag) }
		switch {
		case f.state != "" && run.State != topicqueue.RunState(f.state), slices.ContainsFunc(f.tags, lacks):
			return false
		case run.CreatedAt.Before(since) && run.EndedAt.Before(since):
			return false
		}
		return run.Mentions(f.search)
	}, nil
}

// sinceAt parses a time in the past: a duration, with d for days, a date in local time, or RFC 3339. It returns the
// zero time for "".
func sinceAt(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", time.RFC3339} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{},
		view.Usage(fmt.Errorf("--since %q: give a duration (24h, 7d), a date (2026-03-01, 2026-03-01 07:00) or RFC 3339",
			text))
}

// order sorts and truncates a list.
func (f listFlags) order(lines []listLine) []listLine {
	by := f.sort
	if by == "" && f.limit > 0 {
		by = "newest"
	}
	switch by {
	case "", "oldest": // keep the order of reading
	case "newest":
		slices.Reverse(lines)
	default:
		slices.SortStableFunc(lines, orders[by])
	}
	if f.limit > 0 {
		lines = lines[:min(f.limit, len(lines))]
	}
	return lines
}

// showList prints runs as JSON, as a table fitted to the terminal, or as a table with all columns.
func showList(con *view.Console, lines []listLine) error {
	if con.JSON {
		for _, line := range lines {
			if err := con.PrintJSON(line.runLine, true); err != nil {
				return err
			}
		}
		return nil
	}
	if len(lines) == 0 {
		return nil
	}
	v := viewList(lines)
	if s := view.NewScreen(con.Out); s != nil {
		width, _ := s.Size()
		return view.PrintLines(con.Out, v.fitted(width))
	}
	table := tabwriter.NewWriter(con.Out, 0, 4, 2, ' ', 0)
	for _, row := range v.whole() {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	return table.Flush()
}

// listView is a list prepared for display.
type listView struct {
	lines   []listLine
	common  topicqueue.Common
	batches bool // the list has several batches
	refs    bool // topics have ids of their own
}

func viewList(lines []listLine) *listView {
	v := &listView{lines: lines}
	for _, l := range lines {
		v.common.Add(l.Topic)
		v.batches = v.batches || l.Batch != lines[0].Batch
		v.refs = v.refs || l.Ref != ""
	}
	return v
}

// whole returns the rows of a table with all columns, header first.
func (v *listView) whole() [][]string {
	rows := [][]string{{"RUN", "BATCH", "STATE", "REPORT", "ID", "TOPIC"}}
	for _, l := range v.lines {
		topic := view.Clip(v.common.Shorten(l.Topic, view.TopicColumns, view.Columns), view.TopicColumns) + tagText(l.Tags)
		rows = append(rows, []string{l.RunID, l.Batch, l.state(), l.Report, view.Clip(l.Ref, view.TopicColumns), topic})
	}
	if !v.refs {
		for i, row := range rows {
			rows[i] = slices.Delete(row, 4, 5)
		}
	}
	return rows
}

// state returns the state of a run and what it has spent of its budget.
func (l listLine) state() string {
	if spent := spentWords(l.Spent, l.Budget); spent != "" {
		return l.word + ", " + spent
	}
	return l.word
}

// Maximum column widths of a list on a terminal; leastTopic is the minimum width of the topic.
const (
	mostBatch, mostState, mostID = 24, 34, 20
	leastTopic                   = 20
)

// fitted returns the lines of a table that fits the terminal width.
func (v *listView) fitted(width int) []string {
	heads := []string{"RUN", "BATCH", "STATE", "ID"}
	cells := func(l listLine) []string { return []string{view.ShortID(l.RunID), l.Batch, l.state(), l.Ref} }
	widths := []int{10, 0, 0, 0}
	for _, l := range v.lines {
		for i, cell := range cells(l)[1:] {
			widths[i+1] = max(widths[i+1], view.Columns(cell))
		}
	}
	for i, most := range []int{10, min(mostBatch, width/4), min(mostState, width/4), min(mostID, width/5)} {
		widths[i] = min(max(widths[i], len(heads[i])), most)
	}
	if !v.batches {
		widths[1] = 0
	}
	if !v.refs {
		widths[3] = 0
	}
	line := func(cells []string, topic func(room int) string) string {
		var b strings.Builder
		for i, cell := range cells {
			if widths[i] > 0 {
				b.WriteString(view.Pad(cell, widths[i]) + "  ")
			}
		}
		room := max(leastTopic, width-1-view.Columns(b.String()))
		return strings.TrimRight(b.String()+view.Clip(topic(room), room), " ")
	}
	lines := []string{line(heads, func(int) string { return "TOPIC" })}
	for _, l := range v.lines {
		lines = append(lines, line(cells(l), func(room int) string {
			tags := tagText(l.Tags)
			return v.common.Shorten(topicqueue.OneLine(l.Topic), room-view.Columns(tags), view.Columns) + tags
		}))
	}
	return lines
}
