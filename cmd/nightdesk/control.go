package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

func cancelCommand(p *program) *cobra.Command {
	var report bool
	var reason string
	cmd := &cobra.Command{
		Use: "cancel RUN|BATCH", Short: "End a run, or all runs of a batch, now; findings are kept",
		Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
			done := "cancelled"
			if report {
				done = "cancelled, what was found is written up"
			}
			return controlRuns(ctx, cfg, con, args[0], done,
				func(ctx context.Context, c jobs.Controls, run topicqueue.Run) error {
					return c.Cancel(ctx, run, reason, report)
				})
		}),
	}
	cmd.Flags().BoolVar(&report, "report", false, "write a report from the findings so far; the run ends as partial")
	cmd.Flags().StringVar(&reason, "reason", "cancelled by a person", "the reason that the run shows")
	return cmd
}

func pauseCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "pause RUN|BATCH", Short: "Pause a run, or all runs of a batch; their deadlines do not move",
		Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
			return controlRuns(ctx, cfg, con, args[0], "paused",
				func(ctx context.Context, c jobs.Controls, run topicqueue.Run) error { return c.Pause(ctx, run) })
		}),
	}
}

func resumeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "resume RUN|BATCH", Short: "Continue a paused run, or all paused runs of a batch", Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
			return controlRuns(ctx, cfg, con, args[0], "resumed",
				func(ctx context.Context, c jobs.Controls, run topicqueue.Run) error { return c.Resume(ctx, run) })
		}),
	}
}

func retryCommand(p *program) *cobra.Command {
	var report, all, notifications bool
	cmd := &cobra.Command{
		Use: "retry RUN|BATCH", Short: "Repeat what failed in a run, or in all failed and partial runs of a batch",
		Args: cobra.MaximumNArgs(1),
		Long: `Repeat what failed: topic blocks that failed or were cut short, and then the report. Earlier
findings are kept and not paid for again. A run that failed before it had a plan starts over. A run
can be retried for queue.state_expiry after it ended.

retry --notifications sends webhooks and mails again that have failed or are waiting for their next
attempt.`,
		RunE: p.command(func(ctx context.Context, cfg config.Config, con *view.Console, args []string) error {
			if notifications {
				if len(args) > 0 || report || all {
					return view.Usage(errors.New("--notifications applies to all runs: give no run or batch"))
				}
				return retryNotifications(ctx, cfg, con)
			}
			if len(args) == 0 {
				return view.Usage(errors.New("retry needs a run or a batch, or --notifications"))
			}
			what := redisqueue.RetryBlocks
			switch {
			case report && all:
				return view.Usage(errors.New("give either --report or --all"))
			case report:
				what = redisqueue.RetryReport
			case all:
				what = redisqueue.RetryAll
			}
			return retryGone(controlRuns(ctx, cfg, con, args[0], "to be tried again",
				func(ctx context.Context, c jobs.Controls, run topicqueue.Run) error {
					err := c.Retry(ctx, run, what)
					if errors.Is(err, jobs.ErrNothingFailed) {
						return jobs.Refusal(err.Error() + "; --report writes the report again, --all starts over")
					}
					return err
				}))
		}),
	}
	cmd.Flags().BoolVar(&report, "report", false, "write the report again, even if the run is completed")
	cmd.Flags().BoolVar(&all, "all", false, "start over with planning, even if the run is completed")
	cmd.Flags().BoolVar(&notifications, "notifications", false,
		"send undelivered webhooks and mails again")
	return cmd
}

// changed is one line of the --json output of a control command.
type changed struct {
	RunID   string `json:"run_id"`
	Changed bool   `json:"changed"`
	Reason  string `json:"reason,omitempty"` // why not
}

// controlRuns applies do to one run, or to all runs of a batch. A refusal is an error for a single run; runs of a batch
// that refuse are skipped.
func controlRuns(ctx context.Context, cfg config.Config, con *view.Console, name, done string,
	do func(context.Context, jobs.Controls, topicqueue.Run) error) (err error) {
	d, err := wiring.OpenDesk(ctx, cfg, con, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if name, err = fullID(ctx, cfg, d.Queue, name); err != nil {
		return err
	}
	gone := 0
	one := func(run topicqueue.Run) (string, error) {
		err := do(ctx, jobs.Controls{Queue: d.Queue, Dispatcher: d.Dispatcher}, run)
		var why jobs.Refusal
		switch {
		case errors.As(err, &why):
			return string(why), nil
		case errors.Is(err, redisqueue.ErrNotFound):
			gone++
			return "its state has expired, `nightdesk retry " + run.ID + "` says what can be done", nil
		}
		return "", err
	}
	show := func(run topicqueue.Run, why string) error {
		if con.JSON {
			return con.PrintJSON(changed{run.ID, why == "", why}, true)
		}
		return nil
	}
	run, err := d.Queue.Run(ctx, name)
	if err == nil {
		why, err := one(run)
		if err != nil {
			return err
		}
		if why != "" {
			return view.Usage(fmt.Errorf("run %s stays as it is: %s", name, why))
		}
		if !con.JSON {
			fmt.Fprintf(con.Out, "run %s: %s\n", name, done)
		}
		return show(run, why)
	}
	if !errors.Is(err, redisqueue.ErrNotFound) {
		return err
	}
	runs, n := 0, 0
	err = d.Queue.Runs(ctx, name, func(run topicqueue.Run) error {
		runs++
		why, err := one(run)
		if err != nil {
			return err
		}
		if why == "" {
			n++
		}
		return show(run, why)
	})
	switch {
	case err != nil:
		return err
	case runs == 0:
		return unknownName(ctx, cfg, name)
	case !con.JSON:
		fmt.Fprintf(con.Out, "batch %s: %d of %d runs %s\n", name, n, runs, done)
		if gone > 0 {
			con.Say("the state of %d of them has expired: `nightdesk retry RUN` shows for each what can be done", gone)
		}
	}
	return nil
}
