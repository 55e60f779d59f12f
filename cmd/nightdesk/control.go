package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue/redisqueue"
)

func cancelCommand(p *program) *cobra.Command {
	var o desk.CancelOptions
	cmd := &cobra.Command{
		Use: "cancel RUN|BATCH", Short: "End a run, or all runs of a batch, now; findings are kept",
		Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			done := "cancelled"
			if o.Report {
				done = "cancelled, what was found is written up"
			}
			return control(ctx, s, args[0], done, desk.Cancel(o))
		}),
	}
	cmd.Flags().BoolVar(&o.Report, "report", false, "write a report from the findings so far; the run ends as partial")
	cmd.Flags().StringVar(&o.Reason, "reason", "cancelled by a person", "the reason that the run shows")
	return cmd
}

func controlCommand(p *program, name, short, done string, do desk.Control) *cobra.Command {
	return &cobra.Command{Use: name + " RUN|BATCH", Short: short, Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return control(ctx, s, args[0], done, do)
		})}
}

func retryCommand(p *program) *cobra.Command {
	var report, all, notifications bool
	cmd := &cobra.Command{
		Use: "retry RUN|BATCH", Short: "Repeat what failed in a run, or in all failed and partial runs of a batch",
		Args: cobra.MaximumNArgs(1),
		Long: `Repeat what failed: topic blocks that failed or were cut short, and then the report. Earlier
findings are kept and not paid for again. A run that failed before it had a plan starts over. A run
can be retried for a week after it ended.

retry --notifications sends webhooks and mails again that have failed or are waiting for their next
attempt.`,
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			if notifications {
				if len(args) > 0 || report || all {
					return view.Usage(errors.New("--notifications applies to all runs: give no run or batch"))
				}
				return retryNotifications(ctx, s)
			}
			if len(args) == 0 {
				return view.Usage(errors.New("retry needs a run or a batch, or --notifications"))
			}
			var o desk.RetryOptions
			switch {
			case report && all:
				return view.Usage(errors.New("give either --report or --all"))
			case report:
				o.What = redisqueue.RetryReport
			case all:
				o.What = redisqueue.RetryAll
			}
			err := control(ctx, s, args[0], "to be tried again", desk.Retry(o))
			if errors.Is(err, tasks.ErrNothingFailed) {
				err = view.Hint(err, "--report writes the report again, --all starts over.")
			}
			return err
		}),
	}
	cmd.Flags().BoolVar(&report, "report", false, "write the report again, even if the run is completed")
	cmd.Flags().BoolVar(&all, "all", false, "start over with planning, even if the run is completed")
	cmd.Flags().BoolVar(&notifications, "notifications", false,
		"send undelivered webhooks and mails again")
	return cmd
}

// control applies do to one run, or to all runs of a batch. done says for messages what do has done. A refusal is an
// error for a single run; runs of a batch that refuse are skipped.
func control(ctx context.Context, s *session, name, done string, do desk.Control) error {
	return s.withDesk(ctx, desk.OpenQueue, func(d *desk.Desk) error {
		_, isBatch, err := d.RunOrBatch(ctx, name)
		if isBatch {
			return controlBatch(ctx, s.Console, d, name, done, do)
		}
		if err != nil {
			return err
		}
		one, err := d.ChangeRun(ctx, name, do)
		if err != nil {
			return err
		}
		return s.Row(one, "run %s: %s\n", one.RunID, done)
	})
}

// controlBatch applies do to all runs of a batch.
func controlBatch(ctx context.Context, con *view.Console, d *desk.Desk, name, done string, do desk.Control) error {
	all, err := d.ChangeBatch(ctx, desk.BatchRequest{Batch: name}, do)
	for _, one := range all.Results {
		if !con.JSON {
			break
		}
		if err := con.PrintJSON(one, true); err != nil {
			return err
		}
	}
	if err != nil || con.JSON {
		return err
	}
	fmt.Fprintf(con.Out, "batch %s: %d of %d runs %s\n", name, len(all.Changed), all.Runs, done)
	if all.Gone > 0 {
		con.Say("the state of %d of them has expired: `nightdesk replay RUN` writes a report again", all.Gone)
	}
	return nil
}

// retryNotifications resends notifications that could not be delivered.
func retryNotifications(ctx context.Context, s *session) error {
	return s.withDesk(ctx, desk.OpenQueue, func(d *desk.Desk) error {
		retried, err := tasks.RetryNotifications(d.Redis)
		if err == nil && len(retried) == 0 {
			s.Say("no notification waits to be retried")
		}
		for _, u := range retried {
			document := map[string]any{"queue": u.Queue, "notifications": u.Waiting}
			if err := s.Row(document, "%s of queue %s: a worker sends them now\n", view.Counted(u.Waiting, "notification"),
				u.Queue); err != nil {
				return err
			}
		}
		return err
	})
}
