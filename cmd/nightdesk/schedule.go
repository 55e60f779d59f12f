package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/desk/schedules"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
	"nightdesk/topicqueue/schedule"
)

func scheduleCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "schedule", Short: "Recurring batches: add, list, show, remove, pause, resume, fire",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	named := func(use, short string, do func(context.Context, *session, schedules.Desk, string) error) *cobra.Command {
		return &cobra.Command{Use: use + " NAME", Short: short, Args: cobra.ExactArgs(1),
			RunE: p.onDesk(desk.OpenQueue, func(ctx context.Context, s *session, d *desk.Desk, args []string) error {
				return do(ctx, s, d.Schedules(), args[0])
			})}
	}
	var reason string
	pause := named("pause", "Stop a schedule from firing until it is resumed; a running batch continues",
		func(ctx context.Context, s *session, d schedules.Desk, name string) error {
			r, err := d.Pause(ctx, name, reason)
			return printChanged(s.Console, r, "paused", err)
		})
	pause.Flags().StringVar(&reason, "reason", "by a person", "what list and show say")
	cmd.AddCommand(scheduleAddCommand(p),
		&cobra.Command{Use: "list", Short: "List schedules", Args: cobra.NoArgs,
			RunE: p.onDesk(desk.OpenQueue, listSchedules)},
		named("show", "Show one schedule: its settings, next due times, and the results of the last ones", showSchedule),
		named("remove", "Remove a schedule; its batches are kept", removeSchedule),
		pause,
		named("resume", "Resume a paused schedule",
			func(ctx context.Context, s *session, d schedules.Desk, name string) error {
				r, err := d.Resume(ctx, name)
				return printChanged(s.Console, r, "resumed", err)
			}),
		named("fire", "Fire a schedule now, whatever its due times", fireSchedule))
	return cmd
}

func schedulerCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: "scheduler", Short: "Fire schedules until stopped",
		Long: `Fire schedules until stopped: those added with "schedule add" and those of the settings file. You
can run any number of schedulers, on any machines. Each due time fires once.`,
		Args: cobra.NoArgs,
		RunE: p.serviceCommand(serviceScheduler, func(ctx context.Context, s *session, _ []string) error {
			return s.withDesk(ctx, desk.OpenWorking, func(d *desk.Desk) error { return d.Schedules().Run(ctx) })
		}),
	}
}

func scheduleAddCommand(p *program) *cobra.Command {
	var replace bool
	values := map[string]string{}
	cmd := &cobra.Command{
		Use:   "add NAME --cron EXPRESSION --topics FILE|URL|s3://BUCKET/KEY",
		Short: "Add a schedule, which `nightdesk scheduler` fires",
		Long: `Add a schedule, which "nightdesk scheduler" fires. At each due time, the list of topics is read and
enqueued as batch NAME-YYYYMMDDTHHMMSSZ. Topics can contain these variables of the due time: ` +
			strings.Join(schedule.Variables(), " ") + `.

EXPRESSION has five fields (minute, hour, day of month, month, day of week), or is @hourly, @daily, @weekly, @monthly,
@yearly or @every 6h. When clocks change, a time that is skipped fires at the end of the gap, and a time that occurs
twice fires once, at the first.`,
		Example: "  nightdesk schedule add nightly --cron '0 1 * * *' --tz Europe/Berlin --topics topics.txt " +
			"--preset quick --deadline 07:00",
		Args: cobra.ExactArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			spec, err := config.NewSchedule(args[0], values)
			if err != nil {
				return view.Usage(err)
			}
			return s.withDesk(ctx, desk.OpenWorking, func(d *desk.Desk) error {
				return addSchedule(ctx, s, d.Schedules(), spec, replace)
			})
		}),
	}
	short := map[string]string{"timezone": "tz", "tags": "tag"}
	for _, setting := range config.ScheduleSettings(schedule.Spec{}) {
		set := func(value string) error { values[setting.Key] = value; return nil }
		name, usage := strings.ReplaceAll(cmp.Or(short[setting.Key], setting.Key), "_", "-"), setting.Doc
		for _, s := range intake.Settings {
			if s.Path == setting.Overrides {
				usage = s.Usage
			}
		}
		if setting.Key == "incremental" {
			cmd.Flags().BoolFunc(name, usage, set)
		} else {
			cmd.Flags().Func(name, usage, set)
		}
	}
	cmd.Flags().BoolVar(&replace, "replace", false, "replace an existing schedule of this name; its history is kept")
	return cmd
}

func addSchedule(ctx context.Context, s *session, d schedules.Desk, spec schedule.Spec, replace bool) error {
	added, err := d.Add(ctx, spec, replace)
	if err != nil {
		return err
	}
	if running, err := d.Dispatcher.Schedulers(); err == nil && running == 0 {
		s.Say("no scheduler is running: start one with `nightdesk scheduler`")
	}
	return s.Row(added, "schedule %s %s: %d topics%s\n", added.Name, added.Did, added.Count, nextDue(added.Next))
}

// printChanged prints a schedule that was changed.
func printChanged(con *view.Console, r schedules.Schedule, done string, err error) error {
	if err != nil {
		return err
	}
	return con.Row(r, "schedule %s %s%s\n", r.Name, done, nextDue(r.Next))
}

func nextDue(next []time.Time) string {
	if len(next) == 0 {
		return ""
	}
	return ", next due " + view.DueTime(next[0])
}

func removeSchedule(ctx context.Context, s *session, d schedules.Desk, name string) error {
	r, err := d.Remove(ctx, name)
	if err != nil {
		return err
	}
	if r.Declared {
		s.Say("it comes from a settings file: remove it there, or the next scheduler that starts adds it again")
	}
	return s.Row(map[string]string{"removed": name}, "schedule %s removed; its batches stay\n", name)
}

func fireSchedule(ctx context.Context, s *session, d schedules.Desk, name string) error {
	f, err := d.Fire(ctx, name)
	if err != nil {
		return err
	}
	return s.Row(f, "batch %s: %s enqueued\n", f.Batch, view.Counted(f.Topics, "topic"))
}

func listSchedules(ctx context.Context, s *session, d *desk.Desk, _ []string) error {
	list, err := d.Schedules().List(ctx)
	if err != nil {
		return err
	}
	if len(list.Declared) > 0 {
		s.Say("in the settings file; loaded when a scheduler starts: %s", strings.Join(list.Declared, ", "))
	}
	if list.Schedulers == 0 && len(list.Schedules) > 0 {
		s.Say("no scheduler is running: schedules will not fire; start one with `nightdesk scheduler`")
	}
	table := view.NewTable(s.Console, "SCHEDULE", "CRON", "ZONE", "NEXT", "LAST", "TOPICS")
	for _, r := range list.Schedules {
		next, last := "never", "never"
		if r.Paused != "" {
			next = "paused: " + view.Clip(r.Paused, 60)
		} else if len(r.Next) > 0 {
			next = view.DueTime(r.Next[0])
		}
		if n := len(r.Firings); n > 0 {
			last = view.Clip(schedules.Outcome(r.Firings[n-1]), 70)
		}
		if err := table.Row(r, r.Name, r.Cron, r.Zone, next, last, r.Topics); err != nil {
			return err
		}
	}
	return table.End()
}

func showSchedule(ctx context.Context, s *session, d schedules.Desk, name string) error {
	r, err := d.Show(ctx, name)
	if err != nil {
		return err
	}
	var rows, fired [][]string
	r.Spec.Topics = r.Topics // without a key in the address
	for _, setting := range config.ScheduleSettings(r.Spec) {
		if setting.Value != "" && setting.Value != "false" && setting.Key != "cron" && setting.Key != "timezone" {
			rows = append(rows, []string{"  " + strings.ReplaceAll(setting.Key, "_", " "), setting.Value})
		}
	}
	if r.Paused != "" {
		rows = append(rows, []string{"  paused", r.Paused})
	}
	for i, next := range r.Next {
		rows = append(rows, []string{"  " + map[bool]string{true: "next due"}[i == 0], view.DueTime(next)})
	}
	const most = 10
	if len(r.Firings) > 0 {
		fired = append(fired, []string{"DUE", "STATE", "BATCH", "RUNS", "REASON"})
	}
	for _, f := range slices.Backward(r.Firings[max(0, len(r.Firings)-most):]) {
		fired = append(fired, []string{view.DueTime(f.Due.In(schedules.Zone(r.Spec))), string(f.State),
			cmp.Or(f.Batch, "-"), cmp.Or(schedules.Runs(f), "-"), f.Reason})
	}
	return s.Lines(r, slices.Concat([]string{fmt.Sprintf("schedule %s: %s in %s", r.Name, r.Cron, r.Zone)},
		view.Align(rows), view.Align(fired)))
}
