package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/topicqueue"
)

func listCommand(p *program) *cobra.Command {
	var r desk.ListRequest
	cmd := &cobra.Command{
		Use: "list", Short: "List runs", Args: cobra.NoArgs,
		Long: `List runs, oldest first. On a terminal, each run is one line with the last ten characters of its id,
which all commands accept. Elsewhere, lines have the full id and the location of the report. Without
a queue, runs in storage are listed.`,
		RunE: p.command(func(ctx context.Context, s *session, _ []string) error { return list(ctx, s, r) }),
	}
	flags := cmd.Flags()
	flags.StringVar(&r.Batch, "batch", "", "only runs of this batch")
	flags.StringVar(&r.State, "state", "", "only runs in this state, such as failed")
	flags.StringSliceVar(&r.Tags, "tag", nil, "only runs with this tag; repeat it for runs that have several tags")
	flags.StringVar(&r.Query, "search", "", "only runs with this text in their topic, id or tags")
	flags.StringVar(&r.Since, "since", "", "only runs enqueued or ended since then: 24h, 7d, 2026-03-01 or RFC 3339")
	flags.StringVar(&r.Sort, "sort", "", "oldest (default), newest, ended (the latest first), state or topic")
	flags.IntVar(&r.Limit, "limit", 0, "maximum number of runs (without --sort: the newest)")
	return cmd
}

// list prints the runs that a request selects.
func list(ctx context.Context, s *session, r desk.ListRequest) error {
	if r.Sort == "" {
		r.Sort = map[bool]string{true: "newest", false: "oldest"}[r.Limit > 0]
	}
	return s.withDesk(ctx, desk.Open, func(d *desk.Desk) error {
		var lines []desk.RunSummary
		_, unreadable, err := d.Each(ctx, r, func(line desk.RunSummary) error {
			if s.JSON {
				return s.PrintJSON(line, true)
			}
			lines = append(lines, line)
			return nil
		})
		if err != nil {
			return err
		}
		if err := showList(s.Console, lines); err != nil || len(unreadable) == 0 {
			return err
		}
		return view.Ended(errors.New(strings.Join(unreadable, "\n")), view.ExitPartial)
	})
}

// tagText formats tags for display after a topic.
func tagText(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return " [" + view.Clip(strings.Join(tags, ", "), 40) + "]"
}

// showList prints runs as a table fitted to the terminal, or as a table with all columns.
func showList(con *view.Console, lines []desk.RunSummary) error {
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

// listColumn is a column of a list, before the topic.
type listColumn struct {
	head       string
	cell       func(desk.RunSummary) string
	most, part int  // maximum width on a terminal: columns, and a part of the width; 0: not on a terminal
	only       bool // only on a terminal
}

var listColumns = []listColumn{
	{"RUN", func(l desk.RunSummary) string { return l.RunID }, 0, 0, false},
	{"RUN", func(l desk.RunSummary) string { return view.ShortID(l.RunID) }, 10, 1, true},
	{"BATCH", func(l desk.RunSummary) string { return l.Batch }, 24, 4, false},
	{"STATE", stateOf, 34, 4, false},
	{"REPORT", func(l desk.RunSummary) string { return l.Report }, 0, 0, false},
	{"ID", func(l desk.RunSummary) string { return view.Clip(l.Ref, view.TopicColumns) }, 20, 5, false},
}

// cells returns the cells of a run, or the headings for nil.
func cells(columns []listColumn, l *desk.RunSummary) (out []string) {
	for _, c := range columns {
		if out = append(out, c.head); l != nil {
			out[len(out)-1] = c.cell(*l)
		}
	}
	return out
}

// listView is a list prepared for display.
type listView struct {
	lines   []desk.RunSummary
	common  topicqueue.Common
	batches bool // the list has several batches
	refs    bool // topics have ids of their own
}

func viewList(lines []desk.RunSummary) *listView {
	v := &listView{lines: lines}
	for _, l := range lines {
		v.common.Add(l.Topic)
		v.batches = v.batches || l.Batch != lines[0].Batch
		v.refs = v.refs || l.Ref != ""
	}
	return v
}

// columns returns the columns that tell something.
func (v *listView) columns(terminal bool) []listColumn {
	return slices.DeleteFunc(slices.Clone(listColumns), func(c listColumn) bool {
		same := map[string]bool{"ID": !v.refs, "BATCH": terminal && !v.batches}[c.head]
		elsewhere := c.only
		if terminal {
			elsewhere = c.most == 0
		}
		return same || elsewhere
	})
}

// whole returns the rows of a table with all columns, header first.
func (v *listView) whole() [][]string {
	columns := v.columns(false)
	rows := [][]string{append(cells(columns, nil), "TOPIC")}
	for _, l := range v.lines {
		topic := view.Clip(v.common.Shorten(l.Topic, view.TopicColumns, view.Columns), view.TopicColumns) + tagText(l.Tags)
		rows = append(rows, append(cells(columns, &l), topic))
	}
	return rows
}

// stateOf returns the state of a run and what it has spent of its budget.
func stateOf(l desk.RunSummary) string {
	if spent := spentWords(l.Spent, l.Budget); spent != "" {
		return l.Word() + ", " + spent
	}
	return l.Word()
}

// leastTopic is the minimum width of the topic on a terminal.
const leastTopic = 20

// fitted returns the lines of a table that fits the terminal width.
func (v *listView) fitted(width int) []string {
	columns := v.columns(true)
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = len(c.head)
		for _, l := range v.lines {
			widths[i] = max(widths[i], view.Columns(c.cell(l)))
		}
		widths[i] = min(widths[i], c.most, width/c.part)
	}
	line := func(cells []string, topic func(room int) string) string {
		var b strings.Builder
		for i, cell := range cells {
			b.WriteString(view.Pad(cell, widths[i]) + "  ")
		}
		room := max(leastTopic, width-1-view.Columns(b.String()))
		return strings.TrimRight(b.String()+view.Clip(topic(room), room), " ")
	}
	lines := []string{line(cells(columns, nil), func(int) string { return "TOPIC" })}
	for _, l := range v.lines {
		lines = append(lines, line(cells(columns, &l), func(room int) string {
			tags := tagText(l.Tags)
			return v.common.Shorten(topicqueue.OneLine(l.Topic), room-view.Columns(tags), view.Columns) + tags
		}))
	}
	return lines
}
