package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/jobs"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status RUN|BATCH", Short: "Show one run with its topic blocks, or the counts of a batch", Args: cobra.ExactArgs(1),
		RunE: a.command(func(cmd *cobra.Command, args []string) error { return a.status(cmd.Context(), args[0]) }),
	}
}

// runStatus is what `status RUN --json` prints.
type runStatus struct {
	runResult
	Options   topicqueue.Options `json:"options"`
	CreatedAt time.Time          `json:"created_at"`
	StartedAt time.Time          `json:"started_at,omitzero"`
	EndedAt   time.Time          `json:"ended_at,omitzero"`
	List      []topicqueue.Block `json:"block_list"`

	ToolCalls map[string]topicqueue.ToolCalls `json:"tool_calls"` // by tool
}

func (a *app) status(ctx context.Context, name string) (err error) {
	d, err := a.openDesk(ctx, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	run, err := d.queue.Run(ctx, name)
	if errors.Is(err, redisqueue.ErrNotFound) {
		return a.batchStatus(ctx, d, name)
	}
	if err != nil {
		return err
	}
	store, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	s := runStatus{Options: run.Options, CreatedAt: run.CreatedAt, StartedAt: run.StartedAt, EndedAt: run.EndedAt, ToolCalls: run.ToolCalls}
	if s.runResult, err = a.result(ctx, d.queue, store, run.ID, run.CreatedAt); err != nil {
		return err
	}
	switch {
	case run.StartedAt.IsZero(): // it may have ended all the same
		s.TookMS = 0
	case run.EndedAt.IsZero():
		s.TookMS = time.Since(run.StartedAt).Milliseconds()
	default:
		s.TookMS = run.EndedAt.Sub(run.StartedAt).Milliseconds()
	}
	if s.List, err = d.queue.Blocks(ctx, run.ID); err != nil {
		return err
	}
	if !run.State.Final() && jobs.SharedLane(run.Lane) {
		a.warnOfTroubles(ctx, d, store)
	}
	if a.json {
		return a.printJSON(s, false)
	}
	fmt.Fprintf(a.stdout, "run      %s (batch %s)\ntopic    %s\nstate    %s\n", run.ID, run.Batch, clipColumns(run.Topic, 200)+tagText(run.Tags), stateWord(run))
	if run.Reason != "" {
		fmt.Fprintf(a.stdout, "reason   %s\n", run.Reason)
	}
	if run.Unpublished != "" {
		fmt.Fprintf(a.stdout, "waiting  its report is kept in the queue until it can be stored: %s\n", run.Unpublished)
	}
	if !run.FinalAt.IsZero() && run.EndedAt.IsZero() {
		fmt.Fprintf(a.stdout, "time     ends by %s, %s left\n", run.FinalAt.Local().Format("15:04:05"), max(0, time.Until(run.FinalAt)).Round(time.Second))
	}
	if s.Report != "" {
		fmt.Fprintf(a.stdout, "report   %s\n", s.Report)
	}
	fmt.Fprintf(a.stdout, "so far   %d sources, %d model calls, %d tokens, %s\n", s.Sources, s.LLMCalls, s.PromptTokens+s.CompletionTokens, (time.Duration(s.TookMS) * time.Millisecond).Round(100*time.Millisecond))
	if spent := spentWords(s.Spent, s.Budget); spent != "" {
		if len(s.Cuts) > 0 {
			spent += "; cut: " + strings.Join(s.Cuts, ", ")
		}
		fmt.Fprintf(a.stdout, "budget   %s\n", spent)
	}
	for _, tool := range slices.Sorted(maps.Keys(run.ToolCalls)) {
		n := run.ToolCalls[tool]
		fmt.Fprintf(a.stdout, "calls    %s: %d asked for, %d made, %d shared\n", tool, n.Asked, n.Asked-n.Shared, n.Shared)
	}
	if len(s.List) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(a.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "\nBLOCK\tSTATUS\tITERATIONS\tSUB-TOPIC")
	for _, b := range s.List {
		title := clipColumns(b.Title, 70)
		if b.Reason != "" {
			title += " (" + clipColumns(b.Reason, 100) + ")"
		} else if b.Why != "" {
			title += " (added by a review: " + clipColumns(b.Why, 80) + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%d/%d\t%s\n", b.ID, b.Status, b.Iterations, run.Options.MaxIterations, title)
	}
	return table.Flush()
}

// batchStatus is what `status BATCH --json` prints.
type batchStatus struct {
	Batch       string                      `json:"batch"`
	Runs        int                         `json:"runs"`
	States      map[topicqueue.RunState]int `json:"states"`
	Paused      int                         `json:"paused"`
	Budget      topicqueue.Budget           `json:"budget,omitzero"` // of all runs together
	Spent       topicqueue.Budget           `json:"spent,omitzero"`  // by runs with a budget
	Unpublished int                         `json:"unpublished"`     // that have ended and whose bundles are not yet whole in storage
}

func (a *app) batchStatus(ctx context.Context, d *desk, name string) error {
	s, open := batchStatus{Batch: name, States: map[topicqueue.RunState]int{}}, false
	err := d.queue.Runs(ctx, name, func(run topicqueue.Run) error {
		s.Runs++
		s.States[run.State]++
		open = open || !run.State.Final() && jobs.SharedLane(run.Lane)
		if spent, _ := spentOf(run); spent.Amount() > 0 && spent.SameUnit(s.Spent) {
			s.Spent = spent.Of(spent.Amount() + s.Spent.Amount())
		}
		if b := run.Options.BatchBudget; b.Amount() > 0 {
			s.Budget = b
		}
		if run.Paused {
			s.Paused++
		}
		if run.State.Final() && run.PublishedAt.IsZero() {
			s.Unpublished++
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.Runs == 0 {
		return a.gone(ctx, name)
	}
	if store, err := a.openStore(ctx); err == nil && open {
		a.warnOfTroubles(ctx, d, store)
	}
	if a.json {
		return a.printJSON(s, false)
	}
	fmt.Fprintf(a.stdout, "batch %s: %d runs\n", name, s.Runs)
	for _, state := range topicqueue.RunStates {
		if n := s.States[state]; n > 0 {
			fmt.Fprintf(a.stdout, "  %-15s %d\n", state, n)
		}
	}
	switch spent := spentWords(s.Spent, s.Budget); {
	case spent != "":
		fmt.Fprintf(a.stdout, "  %s spent\n", spent)
	case s.Spent.Amount() > 0:
		fmt.Fprintf(a.stdout, "  %s spent\n", amountWords(s.Spent))
	}
	if s.Paused > 0 {
		fmt.Fprintf(a.stdout, "  %d of them paused\n", s.Paused)
	}
	if s.Unpublished > 0 {
		fmt.Fprintf(a.stdout, "  %d of them not yet in storage\n", s.Unpublished)
	}
	return nil
}

// citedIn returns how many citations a run's report has; 0 when there is no metadata (yet).
func citedIn(ctx context.Context, store storage.Store, runID string) (int, error) {
	data, err := store.Get(ctx, storage.MetadataKey(runID))
	if errors.Is(err, storage.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	var m struct {
		Citations []string `json:"citations"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return 0, fmt.Errorf("decode %s: %w", storage.MetadataKey(runID), err)
	}
	return len(m.Citations), nil
}
