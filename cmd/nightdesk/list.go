package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

func (a *app) listCommand() *cobra.Command {
	var batch, state string
	var tags []string
	cmd := &cobra.Command{
		Use: "list", Short: "List runs", Args: cobra.NoArgs,
		RunE: a.command(func(cmd *cobra.Command, _ []string) error { return a.list(cmd.Context(), batch, state, tags) }),
	}
	cmd.Flags().StringVar(&batch, "batch", "", "runs of this batch only")
	cmd.Flags().StringVar(&state, "state", "", "runs in this state only, such as failed")
	cmd.Flags().StringSliceVar(&tags, "tag", nil, "runs with this tag only; with all of them when it is given several times")
	return cmd
}

// runLine is one line of `list --json`.
type runLine struct {
	RunID string `json:"run_id"`
	Batch string `json:"batch"`
	Topic string `json:"topic"`
	topicqueue.Labels
	Line      int                 `json:"line,omitempty"` // of the list that was enqueued
	State     topicqueue.RunState `json:"state"`
	Reason    string              `json:"reason,omitempty"`
	Paused    bool                `json:"paused,omitempty"`
	Waits     string              `json:"unpublished,omitempty"` // why the report is not in storage yet
	Report    string              `json:"report"`                // path or URL; empty when there is none
	Budget    topicqueue.Budget   `json:"budget,omitzero"`       // that the run may spend
	Spent     topicqueue.Budget   `json:"spent,omitzero"`        // of it
	Created   *bool               `json:"created,omitempty"`
	CreatedAt time.Time           `json:"created_at"`
	EndedAt   time.Time           `json:"ended_at,omitzero"`
}

func lineOf(run topicqueue.Run, report string, created ...bool) runLine {
	l := runLine{RunID: run.ID, Batch: run.Batch, Topic: run.Topic, Labels: run.Labels, State: run.State, Reason: run.Reason, Paused: run.Paused, Waits: run.Unpublished, Report: report, CreatedAt: run.CreatedAt, EndedAt: run.EndedAt}
	l.Spent, l.Budget = spentOf(run)
	if len(created) > 0 {
		l.Created = &created[0]
	}
	return l
}

func (a *app) list(ctx context.Context, batch, state string, tags []string) (err error) {
	if state != "" && !slices.Contains(topicqueue.RunStates, topicqueue.RunState(state)) {
		var names []string
		for _, s := range topicqueue.RunStates {
			names = append(names, string(s))
		}
		return usageError{fmt.Errorf("state %q is unknown: use one of %s", state, strings.Join(names, ", "))}
	}
	d, err := a.openDesk(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	batches, err := d.queue.Batches(ctx)
	if err != nil {
		return err
	}
	if batch != "" {
		known := batches
		batches = slices.DeleteFunc(slices.Clone(batches), func(b redisqueue.Batch) bool { return b.Name != batch })
		if len(batches) == 0 {
			return noBatch(batch, known)
		}
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	shown := 0
	var broken []error
	for _, b := range batches {
		err := d.queue.Runs(ctx, b.Name, func(run topicqueue.Run) error {
			if state != "" && run.State != topicqueue.RunState(state) {
				return nil
			}
			if slices.ContainsFunc(tags, func(tag string) bool { return !slices.Contains(run.Tags, tag) }) {
				return nil
			}
			line := lineOf(run, location(store, run))
			if a.json {
				return a.printJSON(line, true)
			}
			if shown == 0 {
				fmt.Fprintln(table, "RUN\tBATCH\tSTATE\tTOPIC\tREPORT")
			}
			shown++
			word := stateWord(run)
			if spent := spentWords(line.Spent, line.Budget); spent != "" {
				word += ", " + spent
			}
			_, err := fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", run.ID, run.Batch, word, clipColumns(run.Topic, 50)+tagText(run.Tags), line.Report)
			return err
		})
		var unread *redisqueue.BrokenError
		if errors.As(err, &unread) {
			broken = append(broken, err)
		} else if err != nil {
			return err
		}
	}
	if err := table.Flush(); err != nil || len(broken) == 0 {
		return err
	}
	return resultError{errors.Join(broken...), exitPartial}
}

// tagText shows tags behind a topic.
func tagText(tags []string) string {
	if len(tags) == 0 {
		return ""
	}
	return " [" + clipColumns(strings.Join(tags, ", "), 40) + "]"
}

// noBatch is the error for a name that is no batch's.
func noBatch(name string, batches []redisqueue.Batch) error {
	return usageError{hintError{noBatchError(name), "There are: " + batchNames(batches)}}
}

// noBatchError is the name of a batch that is not there.
type noBatchError string

func (e noBatchError) Error() string { return fmt.Sprintf("there is no batch %q", string(e)) }

func batchNames(batches []redisqueue.Batch) string {
	var names []string
	for _, b := range batches {
		names = append(names, b.Name)
	}
	if len(names) == 0 {
		return "none yet"
	}
	if n := len(names); n > 20 {
		names = names[n-20:]
	}
	return strings.Join(names, ", ")
}

func location(store storage.Store, run topicqueue.Run) string {
	if run.Report == "" || run.PublishedAt.IsZero() {
		return ""
	}
	return store.Location(run.Report)
}
