package main

import (
	"context"
	"errors"
	"strings"

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
		RunE: p.onDesk(desk.Open, func(ctx context.Context, s *session, d *desk.Desk, _ []string) error {
			return list(ctx, s, d, r)
		}),
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
func list(ctx context.Context, s *session, d *desk.Desk, r desk.ListRequest) error {
	if r.Sort == "" {
		r.Sort = map[bool]string{true: "newest", false: "oldest"}[r.Limit > 0]
	}
	found, err := d.List(ctx, r)
	if err != nil {
		return err
	}
	if err := showList(s.Console, found.Runs, view.IsTerminal(s.Out)); err != nil || len(found.Unreadable) == 0 {
		return err
	}
	return view.Ended(errors.New(strings.Join(found.Unreadable, "\n")), view.ExitPartial)
}

// tagText formats tags for display after a topic.
func tagText(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return " [" + view.Clip(strings.Join(tags, ", "), 40) + "]"
}

// showList prints runs as a table. On a terminal, its lines are short.
func showList(con *view.Console, runs []desk.RunSummary, terminal bool) error {
	head, room := []string{"RUN", "BATCH", "STATE", "REPORT"}, view.TopicColumns
	if terminal {
		head, room = head[:3], min(room, max(20, view.Width(con.Out)-40))
	}
	var common topicqueue.Common
	refs := false // topics have ids of their own
	for _, run := range runs {
		common.Add(run.Topic)
		refs = refs || run.Ref != ""
	}
	if refs {
		head = append(head, "ID")
	}
	table := view.NewTable(con, append(head, "TOPIC")...)
	for _, run := range runs {
		cells := []any{run.RunID, run.Batch, stateOf(run), run.Report}
		if terminal {
			cells = []any{view.ShortID(run.RunID), view.Clip(run.Batch, 24), stateOf(run)}
		}
		if refs {
			cells = append(cells, view.Clip(run.Ref, room))
		}
		topic := view.Clip(common.Shorten(topicqueue.OneLine(run.Topic), room, view.Columns), room) + tagText(run.Tags)
		if err := table.Row(run, append(cells, topic)...); err != nil {
			return err
		}
	}
	return table.End()
}

// stateOf returns the state of a run and what it has spent of its budget.
func stateOf(l desk.RunSummary) string {
	if spent := spentWords(l.Spent, l.Budget); spent != "" {
		return l.Word() + ", " + spent
	}
	return l.Word()
}
