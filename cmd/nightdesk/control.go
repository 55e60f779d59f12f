package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/lookup"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/tasks"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

func cancelCommand(p *program) *cobra.Command {
	var report bool
	var reason string
	cmd := &cobra.Command{
		Use: "cancel RUN|BATCH", Short: "End a run, or all runs of a batch, now; findings are kept",
		Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			done := "cancelled"
			if report {
				done = "cancelled, what was found is written up"
			}
			return controlRuns(ctx, s, args[0], done,
				func(c tasks.Controls, ctx context.Context, run topicqueue.Run) error {
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
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return controlRuns(ctx, s, args[0], "paused", tasks.Controls.Pause)
		}),
	}
}

func resumeCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "resume RUN|BATCH", Short: "Continue a paused run, or all paused runs of a batch", Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return controlRuns(ctx, s, args[0], "resumed", tasks.Controls.Resume)
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
			what := redisqueue.RetryBlocks
			switch {
			case report && all:
				return view.Usage(errors.New("give either --report or --all"))
			case report:
				what = redisqueue.RetryReport
			case all:
				what = redisqueue.RetryAll
			}
			return retryGone(controlRuns(ctx, s, args[0], "to be tried again",
				func(c tasks.Controls, ctx context.Context, run topicqueue.Run) error {
					err := c.Retry(ctx, run, what)
					if errors.Is(err, tasks.ErrNothingFailed) {
						return tasks.Refusal(err.Error() + "; --report writes the report again, --all starts over")
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
func controlRuns(ctx context.Context, s *session, name, done string,
	do func(tasks.Controls, context.Context, topicqueue.Run) error) error {
	return s.withDesk(ctx, func(d *wiring.Desk) error {
		c := control{session: s, desk: d, done: done, do: do}
		name, err := lookup.FullID(ctx, s.cfg, d, name)
		if err != nil {
			return err
		}
		run, err := d.Queue.Run(ctx, name)
		switch {
		case err == nil:
			return c.run(ctx, run)
		case errors.Is(err, redisqueue.ErrNotFound):
			return c.batch(ctx, name)
		}
		return err
	})
}

// control applies do to runs.
type control struct {
	*session
	desk *wiring.Desk
	done string // what do has done, for messages
	do   func(tasks.Controls, context.Context, topicqueue.Run) error
	gone int // runs whose state has expired
}

// run controls a single run.
func (c *control) run(ctx context.Context, run topicqueue.Run) error {
	why, err := c.one(ctx, run)
	switch {
	case err != nil:
		return err
	case why != "":
		return view.Usage(fmt.Errorf("run %s stays as it is: %s", run.ID, why))
	case !c.JSON:
		fmt.Fprintf(c.Out, "run %s: %s\n", run.ID, c.done)
	}
	return c.show(run, why)
}

// batch controls the runs of a batch.
func (c *control) batch(ctx context.Context, name string) error {
	runs, n := 0, 0
	err := c.desk.Queue.Runs(ctx, name, func(run topicqueue.Run) error {
		runs++
		why, err := c.one(ctx, run)
		if err != nil {
			return err
		}
		if why == "" {
			n++
		}
		return c.show(run, why)
	})
	switch {
	case err != nil:
		return err
	case runs == 0:
		return lookup.Unknown(ctx, c.cfg, name)
	case !c.JSON:
		fmt.Fprintf(c.Out, "batch %s: %d of %d runs %s\n", name, n, runs, c.done)
		if c.gone > 0 {
			c.Say("the state of %d of them has expired: `nightdesk retry RUN` shows for each what can be done", c.gone)
		}
	}
	return nil
}

// one controls one run. It returns why the run refuses.
func (c *control) one(ctx context.Context, run topicqueue.Run) (why string, err error) {
	err = c.do(tasks.Controls{Queue: c.desk.Queue, Dispatcher: c.desk.Dispatcher}, ctx, run)
	var refusal tasks.Refusal
	switch {
	case errors.As(err, &refusal):
		return string(refusal), nil
	case errors.Is(err, redisqueue.ErrNotFound):
		c.gone++
		return "its state has expired, `nightdesk retry " + run.ID + "` says what can be done", nil
	}
	return "", err
}

func (c *control) show(run topicqueue.Run, why string) error {
	if !c.JSON {
		return nil
	}
	return c.PrintJSON(changed{run.ID, why == "", why}, true)
}

// retryGone suggests alternatives to a retry if err is a lookup.GoneError.
func retryGone(err error) error {
	var gone lookup.GoneError
	if !errors.As(err, &gone) {
		return err
	}
	o := gone.Run.Options
	again := "printf '%s\\n' " + shellQuote(strings.Join(strings.Fields(gone.Run.Topic), " ")) +
		" | nightdesk enqueue - --preset " + shellQuote(o.Preset)
	if o.KnowledgeBase != "" {
		again += " --kb " + shellQuote(o.KnowledgeBase)
	}
	if o.Language != "" {
		again += " --language " + shellQuote(o.Language)
	}
	return view.Usage(view.Hint(gone,
		fmt.Sprintf("Write its report again from what it has found:\n    nightdesk replay %s --out report.md\n  Or "+
			"research its topic again, in a new batch:\n    %s", gone.Run.ID, again)))
}

// shellQuote quotes a text as one word for a POSIX shell.
func shellQuote(s string) string {
	if s != "" && strings.Trim(s, plainLetters+"-_./") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// retryNotifications resends notifications that could not be delivered.
func retryNotifications(ctx context.Context, s *session) error {
	webhooks, err := wiring.NewWebhooks(s.cfg.Webhook)
	if err != nil {
		return err
	}
	for _, w := range webhooks {
		defer w.Close()
	}
	var retried []tasks.Unsent
	err = s.withDesk(ctx, func(d *wiring.Desk) (err error) {
		retried, err = tasks.RetryNotifications(d.Redis)
		return err
	})
	if err != nil {
		return err
	}
	if s.JSON {
		for _, u := range retried {
			if err := s.PrintJSON(map[string]any{"queue": u.Queue, "notifications": u.Waiting}, true); err != nil {
				return err
			}
		}
		return nil
	}
	if len(retried) == 0 {
		s.Say("no notification waits to be retried")
	}
	for _, u := range retried {
		line := view.Counted(u.Waiting, "digest") + " by mail"
		if u.Webhook != "" {
			to := "an address that is not in webhook.url"
			if i := slices.IndexFunc(webhooks, func(w *notify.Webhook) bool { return w.Key() == u.Webhook }); i >= 0 {
				to = webhooks[i].Host()
			}
			line = view.Counted(u.Waiting, "event") + " for " + to
		}
		fmt.Fprintf(s.Out, "%s: a worker sends them now\n", line)
	}
	return nil
}
