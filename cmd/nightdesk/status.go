package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
)

func statusCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "status RUN|BATCH", Short: "Show one run with its topic blocks, or the counts of a batch",
		Args: cobra.ExactArgs(1),
		RunE: p.onDesk(desk.Open, showStatus),
	}
}

func showStatus(ctx context.Context, s *session, d *desk.Desk, args []string) error {
	found, isBatch, err := d.RunOrBatch(ctx, args[0])
	switch {
	case err != nil:
		return err
	case isBatch:
		return batchStatus(ctx, s, d, args[0])
	}
	if found.Queued && !found.State.Final() && tasks.SharedLane(found.Lane) {
		d.Checks().Warn(ctx)
	}
	detail, err := d.Detail(ctx, found)
	if err != nil {
		return err
	}
	return s.Lines(detail, append(statusLines(detail, found.Run), blockLines(detail)...))
}

// statusLines returns a description of a run.
func statusLines(s desk.RunDetail, run topicqueue.Run) []string {
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
func blockLines(s desk.RunDetail) []string {
	if len(s.List) == 0 {
		return nil
	}
	rows := [][]string{{"BLOCK", "STATUS", "ITERATIONS", "SUB-TOPIC"}}
	for _, block := range s.List {
		title := view.Clip(block.Title, 70)
		if block.Reason != "" {
			title += " (" + view.Clip(block.Reason, 100) + ")"
		} else if block.Why != "" {
			title += " (added by a review: " + view.Clip(block.Why, 80) + ")"
		}
		rows = append(rows, []string{block.ID, string(block.Status),
			fmt.Sprintf("%d/%d", block.Iterations, s.Options.MaxIterations), title})
	}
	return append([]string{""}, view.Align(rows)...)
}

// batchStatus prints the status of a batch.
func batchStatus(ctx context.Context, con *session, d *desk.Desk, name string) error {
	s, err := d.Batch(ctx, desk.BatchRequest{Batch: name})
	if err != nil {
		return err
	}
	err = con.Lines(s, batchLines(s))
	if s.Working && d.HasQueue() {
		d.Checks().Warn(ctx)
	}
	if err == nil && len(s.Unreadable) > 0 {
		err = view.Ended(errors.New(strings.Join(s.Unreadable, "\n")), view.ExitFailed)
	}
	return err
}

// batchLines returns a description of a batch.
func batchLines(s desk.BatchStatus) []string {
	lines := []string{fmt.Sprintf("batch %s: %d runs", s.Name, s.Runs)}
	for _, state := range topicqueue.RunStates {
		if n := s.States[state]; n > 0 {
			lines = append(lines, fmt.Sprintf("  %-15s %d", state, n))
		}
	}
	switch spent := spentWords(s.Spent, s.Budget); {
	case spent != "":
		lines = append(lines, "  "+spent+" spent")
	case s.Spent.Amount() > 0:
		lines = append(lines, "  "+amountWords(s.Spent)+" spent")
	}
	if s.Paused > 0 {
		lines = append(lines, fmt.Sprintf("  %d of them paused", s.Paused))
	}
	if s.Unpublished > 0 {
		lines = append(lines, fmt.Sprintf("  %d of them not yet in storage", s.Unpublished))
	}
	return lines
}

// spentWords returns text such as "$0.12 of $2.50", or "" without a budget.
func spentWords(spent, limit topicqueue.Budget) string {
	if limit.Amount() == 0 {
		return ""
	}
	text := "nothing"
	if spent.Amount() > 0 {
		text = amountWords(spent)
	}
	return text + " of " + amountWords(limit)
}

// amountWords formats a budget; money is rounded to four decimal places.
func amountWords(b topicqueue.Budget) string {
	if b.Money() {
		return fmt.Sprintf("$%.4f", b.USD)
	}
	return b.String()
}
