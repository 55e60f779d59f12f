package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk/health"
	"nightdesk/cmd/nightdesk/lookup"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs/bundle"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

func statusCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "status RUN|BATCH", Short: "Show one run with its topic blocks, or the counts of a batch",
		Args: cobra.ExactArgs(1),
		RunE: p.command(showStatus),
	}
}

// runStatus is the JSON document of `status RUN --json`.
type runStatus struct {
	runResult
	Options   topicqueue.Options `json:"options"`
	CreatedAt time.Time          `json:"created_at"`
	StartedAt time.Time          `json:"started_at,omitzero"`
	EndedAt   time.Time          `json:"ended_at,omitzero"`
	List      []topicqueue.Block `json:"block_list"`

	Dialogue []topicqueue.Exchange `json:"dialogue,omitempty"` // questions and answers

	ToolCalls map[string]topicqueue.ToolCalls `json:"tool_calls"` // by tool
}

func showStatus(ctx context.Context, s *session, args []string) error {
	return s.withRuns(ctx, func(store storage.Store, d *wiring.Desk) error {
		name, err := lookup.FullID(ctx, s.cfg, d, args[0])
		if err != nil {
			return err
		}
		if d != nil {
			run, err := d.Queue.Run(ctx, name)
			if err == nil {
				if !run.State.Final() && tasks.SharedLane(run.Lane) {
					health.Checker{Config: s.cfg, Desk: d, Store: store, Console: s.Console}.Warn(ctx)
				}
				return showRunStatus(ctx, s.Console, d.Queue, store, run)
			}
			if !errors.Is(err, redisqueue.ErrNotFound) {
				return err
			}
		}
		if lookup.IsRunID(name) { // its state may have expired
			return storedStatus(ctx, s, store, name)
		}
		from, err := lookup.ListerOf(ctx, s.Console, store, d)
		if err != nil {
			return err
		}
		open, err := showBatchStatus(ctx, s.Console, from, name)
		if open && d != nil {
			health.Checker{Config: s.cfg, Desk: d, Store: store, Console: s.Console}.Warn(ctx)
		}
		return err
	})
}

// storedStatus shows the status of a run from its bundle.
func storedStatus(ctx context.Context, s *session, store storage.Store, name string) error {
	archive := bundle.Archive{Store: store}
	run, err := archive.Run(ctx, name)
	if errors.Is(err, bundle.ErrNoBundle) {
		return lookup.NoSuch(name)
	}
	if err != nil {
		return err
	}
	return showRunStatus(ctx, s.Console, archive, store, run)
}

// showRunStatus prints the status of one run.
func showRunStatus(ctx context.Context, con *view.Console, from runReader, store storage.Store,
	run topicqueue.Run) (err error) {
	s := runStatus{Options: run.Options, CreatedAt: run.CreatedAt, StartedAt: run.StartedAt, EndedAt: run.EndedAt,
		ToolCalls: run.ToolCalls, Dialogue: run.Dialogue}
	if s.runResult, err = resultOf(ctx, from, store, run, run.CreatedAt); err != nil {
		return err
	}
	switch {
	case run.StartedAt.IsZero(): // the run may still have ended
		s.TookMS = 0
	case run.EndedAt.IsZero():
		s.TookMS = time.Since(run.StartedAt).Milliseconds()
	default:
		s.TookMS = run.EndedAt.Sub(run.StartedAt).Milliseconds()
	}
	if s.List, err = from.Blocks(ctx, run.ID); err != nil {
		return err
	}
	if con.JSON {
		return con.PrintJSON(s, false)
	}
	return view.PrintLines(con.Out, append(s.lines(run), s.blockLines(run)...))
}

// lines returns a description of the run.
func (s runStatus) lines(run topicqueue.Run) []string {
	lines := []string{
		fmt.Sprintf("run      %s (batch %s)", run.ID, run.Batch),
		"topic    " + view.Clip(run.Topic, 200) + tagText(run.Tags),
	}
	add := func(name, format string, args ...any) {
		lines = append(lines, fmt.Sprintf("%-8s %s", name, fmt.Sprintf(format, args...)))
	}
	if run.Ref != "" {
		add("id", "%s", run.Ref)
	}
	add("state", "%s", view.State(run))
	if run.Reason != "" {
		add("reason", "%s", run.Reason)
	}
	if n, q := run.Waiting(); n > 0 {
		add("asks", "%s", topicqueue.OneLine(q.Question.Text))
		add("", "`nightdesk answer %s` answers%s", run.ID, untilText(q.Until))
	}
	if run.Unpublished != "" {
		add("waiting", "the report is kept in the queue until it can be stored: %s", run.Unpublished)
	}
	if !run.FinalAt.IsZero() && run.EndedAt.IsZero() {
		add("time", "ends by %s, %s left", run.FinalAt.Local().Format("15:04:05"),
			max(0, time.Until(run.FinalAt)).Round(time.Second))
	}
	if s.Report != "" {
		add("report", "%s", s.Report)
	}
	if s.Page != "" {
		add("page", "%s", s.Page)
	}
	switch {
	case s.Audio != "":
		add("audio", "%s", s.Audio)
	case s.NoAudio != "":
		add("audio", "none: %s", s.NoAudio)
	}
	add("so far", "%s, %s, %s, %s", view.Counted(s.Sources, "source"), view.Counted(s.LLMCalls, "model call"),
		view.Counted(s.PromptTokens+s.CompletionTokens, "token"),
		(time.Duration(s.TookMS) * time.Millisecond).Round(100*time.Millisecond))
	if spent := spentWords(s.Spent, s.Budget); spent != "" {
		if len(s.Cuts) > 0 {
			spent += "; cut: " + strings.Join(s.Cuts, ", ")
		}
		add("budget", "%s", spent)
	}
	for _, tool := range slices.Sorted(maps.Keys(run.ToolCalls)) {
		n := run.ToolCalls[tool]
		add("calls", "%s: %d requested, %d made, %d shared", tool, n.Asked, n.Asked-n.Shared, n.Shared)
	}
	return lines
}

// untilText returns the deadline for an answer, or "" if there is none.
func untilText(until time.Time) string {
	if until.IsZero() {
		return ""
	}
	return "; the run goes on without at " + until.Local().Format("15:04:05")
}

// blockLines returns a table of the topic blocks.
func (s runStatus) blockLines(run topicqueue.Run) []string {
	if len(s.List) == 0 {
		return nil
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "\nBLOCK\tSTATUS\tITERATIONS\tSUB-TOPIC")
	for _, block := range s.List {
		title := view.Clip(block.Title, 70)
		if block.Reason != "" {
			title += " (" + view.Clip(block.Reason, 100) + ")"
		} else if block.Why != "" {
			title += " (added by a review: " + view.Clip(block.Why, 80) + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%d/%d\t%s\n", block.ID, block.Status, block.Iterations, run.Options.MaxIterations, title)
	}
	_ = table.Flush() // a Builder returns no errors
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

// batchStatus is the JSON document of `status BATCH --json`.
type batchStatus struct {
	Batch  string                      `json:"batch"`
	Runs   int                         `json:"runs"`
	States map[topicqueue.RunState]int `json:"states"`
	Paused int                         `json:"paused"`
	Budget topicqueue.Budget           `json:"budget,omitzero"` // of all runs together
	Spent  topicqueue.Budget           `json:"spent,omitzero"`  // by runs with a budget
	// runs that have ended and whose bundles are not complete in storage
	Unpublished int `json:"unpublished"`
}

// showBatchStatus prints the status of a batch. open reports whether a run waits for workers that all runs share.
func showBatchStatus(ctx context.Context, con *view.Console, from lookup.Lister, name string) (open bool, err error) {
	s := batchStatus{Batch: name, States: map[topicqueue.RunState]int{}}
	err = from.Runs(ctx, name, func(run topicqueue.Run) error {
		s.Runs++
		s.States[run.State]++
		open = open || !run.State.Final() && tasks.SharedLane(run.Lane)
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
		return false, err
	}
	if s.Runs == 0 {
		return false, lookup.NoSuch(name)
	}
	if con.JSON {
		return open, con.PrintJSON(s, false)
	}
	fmt.Fprintf(con.Out, "batch %s: %d runs\n", name, s.Runs)
	for _, state := range topicqueue.RunStates {
		if n := s.States[state]; n > 0 {
			fmt.Fprintf(con.Out, "  %-15s %d\n", state, n)
		}
	}
	switch spent := spentWords(s.Spent, s.Budget); {
	case spent != "":
		fmt.Fprintf(con.Out, "  %s spent\n", spent)
	case s.Spent.Amount() > 0:
		fmt.Fprintf(con.Out, "  %s spent\n", amountWords(s.Spent))
	}
	if s.Paused > 0 {
		fmt.Fprintf(con.Out, "  %d of them paused\n", s.Paused)
	}
	if s.Unpublished > 0 {
		fmt.Fprintf(con.Out, "  %d of them not yet in storage\n", s.Unpublished)
	}
	return open, nil
}
