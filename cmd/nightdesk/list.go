package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/lookup"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

func listCommand(p *program) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List runs", Args: cobra.NoArgs,
		Long: `List runs, oldest first. On a terminal, each run is one line with the last ten characters of its id,
which all commands accept. Elsewhere, lines have the full id and the lookup.Location of the report. Without
a queue, runs in storage are listed.`,
		RunE: p.command(f.run),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.batch, "batch", "", "only runs of this batch")
	flags.StringVar(&f.state, "state", "", "only runs in this state, such as failed")
	flags.StringSliceVar(&f.tags, "tag", nil, "only runs with this tag; repeat it for runs that have several tags")
	flags.StringVar(&f.search, "search", "", "only runs with this text in their topic, id or tags")
	flags.StringVar(&f.since, "since", "", "only runs enqueued or ended since then: 24h, 7d, 2026-03-01 or RFC 3339")
	flags.StringVar(&f.sort, "sort", "", "oldest (default), newest, ended (the latest first), state or topic")
	flags.IntVar(&f.limit, "limit", 0, "maximum number of runs (without --sort: the newest)")
	return cmd
}

// runLine is one line of `list --json`.
type runLine struct {
	RunID string `json:"run_id"`
	Batch string `json:"batch"`
	Topic string `json:"topic"`
	topicqueue.Labels
	Line      int                 `json:"line,omitempty"` // line number in the enqueued list
	State     topicqueue.RunState `json:"state"`
	Reason    string              `json:"reason,omitempty"`
	Paused    bool                `json:"paused,omitempty"`
	Waits     string              `json:"unpublished,omitempty"` // why the report is not in storage yet
	Report    string              `json:"report"`                // path or URL; empty without a report
	Budget    topicqueue.Budget   `json:"budget,omitzero"`       // limit of the run
	Spent     topicqueue.Budget   `json:"spent,omitzero"`        // part of budget
	Created   *bool               `json:"created,omitempty"`
	CreatedAt time.Time           `json:"created_at"`
	EndedAt   time.Time           `json:"ended_at,omitzero"`
	Tally     *topicqueue.Tally   `json:"tally,omitempty"` // result counts; absent while nothing is in storage
}

func lineOf(run topicqueue.Run, report string, created ...bool) runLine {
	l := runLine{RunID: run.ID, Batch: run.Batch, Topic: run.Topic, Labels: run.Labels, State: run.State,
		Reason: run.Reason, Paused: run.Paused, Waits: run.Unpublished, Report: report, Tally: run.Tally,
		CreatedAt: run.CreatedAt, EndedAt: run.EndedAt}
	l.Spent, l.Budget = spentOf(run)
	if len(created) > 0 {
		l.Created = &created[0]
	}
	return l
}

func (f *listFlags) run(ctx context.Context, s *session, _ []string) error {
	pick, err := f.check(time.Now())
	if err != nil {
		return err
	}
	return s.withRuns(ctx, func(store storage.Store, d *wiring.Desk) error {
		from, err := lookup.ListerOf(ctx, s.Console, store, d)
		if err != nil {
			return err
		}
		return f.list(ctx, s, store, from, pick)
	})
}

// list prints the runs that pick accepts.
func (f *listFlags) list(ctx context.Context, s *session, store storage.Store, from lookup.Lister,
	pick func(topicqueue.Run) bool) error {
	batches, err := from.Batches(ctx)
	if err != nil {
		return err
	}
	if f.batch != "" {
		known := batches
		batches = slices.DeleteFunc(slices.Clone(batches), func(b redisqueue.Batch) bool { return b.Name != f.batch })
		if len(batches) == 0 {
			return lookup.NoBatch(f.batch, known)
		}
	}
	stream := s.JSON && f.sort == "" && f.limit == 0 // unbounded output
	var lines []listLine
	var broken []error
	for _, b := range batches {
		err := from.Runs(ctx, b.Name, func(run topicqueue.Run) error {
			if !pick(run) {
				return nil
			}
			line := listLine{lineOf(run, lookup.Location(store, run)), view.State(run)}
			if stream {
				return s.PrintJSON(line.runLine, true)
			}
			lines = append(lines, line)
			return nil
		})
		var unread *redisqueue.BrokenError
		if errors.As(err, &unread) {
			broken = append(broken, err)
		} else if err != nil {
			return err
		}
	}
	if err := showList(s.Console, f.order(lines)); err != nil || len(broken) == 0 {
		return err
	}
	return view.Ended(errors.Join(broken...), view.ExitPartial)
}

// tagText formats tags for display after a topic.
func tagText(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return " [" + view.Clip(strings.Join(tags, ", "), 40) + "]"
}
