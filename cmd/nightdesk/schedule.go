package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/reporting"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/schedule"
)

func scheduleCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "schedule", Short: "Recurring batches: add, list, show, remove, pause, resume, fire",
		Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	named := func(use, short string, do func(context.Context, *session, *wiring.Desk, string) error) *cobra.Command {
		return &cobra.Command{
			Use: use + " NAME", Short: short, Args: cobra.ExactArgs(1),
			RunE: p.command(func(ctx context.Context, s *session, args []string) error {
				return s.withDesk(ctx, func(d *wiring.Desk) error {
					return knownSchedule(ctx, d, args[0], do(ctx, s, d, args[0]))
				})
			}),
		}
	}
	var reason string
	pause := named("pause", "Stop a schedule from firing until it is resumed; a running batch continues",
		func(ctx context.Context, s *session, d *wiring.Desk, name string) error {
			return changeSchedule(ctx, s, d, name, "paused", func(r *schedule.Record) { r.Pause(reason, d.Clock.Now()) })
		})
	pause.Flags().StringVar(&reason, "reason", "by a person", "what list and show say")
	cmd.AddCommand(scheduleAddCommand(p),
		&cobra.Command{
			Use: "list", Short: "List schedules", Args: cobra.NoArgs,
			RunE: p.command(func(ctx context.Context, s *session, args []string) error {
				return s.withDesk(ctx, func(d *wiring.Desk) error { return scheduleList(ctx, s, d) })
			}),
		},
		named("show", "Show one schedule: its settings, next due times, and the results of the last ones",
			scheduleShow),
		named("remove", "Remove a schedule; its batches are kept", scheduleRemove),
		pause,
		named("resume", "Resume a paused schedule", scheduleResume),
		named("fire", "Fire a schedule now, whatever its due times", scheduleFire))
	return cmd
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
			if spec, err = normalSpec(spec, wiring.KnowledgeDir(s.cfg)); err != nil {
				return err
			}
			return s.withWorkingDesk(ctx, false, func(d *wiring.Desk) error { return scheduleAdd(ctx, s, d, spec, replace) })
		}),
	}
	for _, f := range []struct{ name, key, usage string }{
		{"cron", "cron", "when it fires"},
		{"tz", "timezone", "time zone of --cron and --deadline, such as Europe/Berlin (default UTC)"},
		{"topics", "topics", "list of topics, read by the scheduler at each firing"},
		{"template", "template",
			`topic with column names as variables: "What changed at {ticker} since {yesterday}?"`},
		{"tag", "tags", "tags of all topics, comma-separated"},
		{"preset", "preset", intake.PresetUsage()},
		{"kb", "kb", "name of a knowledge base, or a directory, which is indexed at each firing"},
		{"language", "language", "language of the reports: en, zh or another tag"},
		{"strategy", "strategy", "exploratory (broad), balanced or focused (deep)"},
		{"sources", "sources", "allowed kinds of sources, comma-separated: kb, web, papers, code, own"},
		{"priority", "priority", "high, normal or low (default normal)"},
		{"budget", "budget", "budget of a run for models: US dollars such as 2.50, or tokens such as \"2M tokens\""},
		{"batch-budget", "batch_budget", "budget of all runs of one firing together"},
		{"report-template", "report_template",
			"file with the sections of the reports and instructions, read at each firing"},
		{"audio", "audio", audioUsage},
		{"deadline", "deadline", "time of day at which the reports are due, such as 07:00"},
		{"catch-up", "catch_up", "after missed due times: once (fire the latest, default) or skip"},
		{"overlap", "overlap", "if the previous batch is still running: skip (default) or queue (fire when it has ended)"},
		{"pause-after", "pause_after", "number of failed nights in a row after which the schedule is paused " +
			"(default 3)"},
	} {
		cmd.Flags().Func(f.name, f.usage, func(value string) error { values[f.key] = value; return nil })
	}
	cmd.Flags().BoolFunc("incremental",
		"update the last report on each topic: research only what changed and list the changes first",
		func(value string) error {
			values["incremental"] = value
			return nil
		})
	cmd.Flags().BoolVar(&replace, "replace", false, "replace an existing schedule of this name; its history is kept")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		return pflag.NormalizedName(strings.ReplaceAll(name, "_", "-")) // as in the settings file
	})
	return cmd
}

// normalSpec makes the file paths of a schedule absolute, because another process reads the files.
func normalSpec(spec schedule.Spec, baseDir string) (schedule.Spec, error) {
	var err error
	if spec.Topics, err = intake.NormalSource(spec.Topics); err != nil {
		return spec, err
	}
	if spec.ReportTemplate != "" && !slices.Contains(reporting.ShippedTemplates(), spec.ReportTemplate) {
		if spec.ReportTemplate, err = filepath.Abs(spec.ReportTemplate); err != nil {
			return spec, fmt.Errorf("template of reports %s: %w", spec.ReportTemplate, err)
		}
	}
	bases, err := knowledge.List(baseDir)
	if err != nil {
		return spec, err
	}
	kb := spec.KnowledgeBase
	if _, err := os.Stat(kb); kb == "" || err != nil || slices.Contains(bases, kb) { // names take precedence
		return spec, nil
	}
	if spec.KnowledgeBase, err = filepath.Abs(kb); err != nil {
		return spec, fmt.Errorf("knowledge base %s: %w", kb, err)
	}
	return spec, nil
}

// scheduleAdd adds a schedule, after a check that it is due some time and that its list and sources can be used.
func scheduleAdd(ctx context.Context, s *session, d *wiring.Desk, spec schedule.Spec, replace bool) (err error) {
	name := spec.Name
	if _, err := d.Queue.Schedule(ctx, name); err == nil && !replace {
		return view.Usage(view.Hint(fmt.Errorf("there is a schedule %q already", name),
			"Change it with --replace, or look at it with `nightdesk schedule show "+name+"`."))
	} else if err != nil && !errors.Is(err, redisqueue.ErrNoSchedule) {
		return err
	}
	// Check now rather than at night that the list is readable and there are sources to search.
	next := spec.Next(d.Clock.Now(), 1)
	if len(next) == 0 {
		return view.Usage(view.Hint(fmt.Errorf("cron expression %q is never due", spec.Cron),
			"Does its month have that day? Fields are minute, hour, day of month, month, day of week."))
	}
	now := d.Clock.Now()
	cfg, flags, err := scheduledSettings(s, spec, now)
	if err != nil {
		return err
	}
	list, err := scheduledList(ctx, s.with(cfg), d, spec, flags, next[0], now)
	if err != nil {
		return view.Usage(err)
	}
	defer func() { err = errors.Join(err, list.Close()) }()
	plan, err := intake.NewPlan(s.Console, list, intake.Keep)
	if err != nil {
		return err
	}
	for _, name := range list.Clashes {
		s.Say("{%s} is the column %q of %s here, not the time of the firing. To get the time, rename the column.", name,
			name,
			list.ShortName())
	}
	if len(list.Unknown) > 0 {
		s.Say("%s in topics is not a variable and stays as it is. The variables are %s", strings.Join(list.Unknown, " "),
			strings.Join(schedule.Variables(), " "))
	}
	did, err := putSchedule(ctx, d, spec, false)
	if err != nil {
		return err
	}
	r, err := d.Queue.Schedule(ctx, name)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(viewOf(r, d.Clock.Now()), true)
	}
	fmt.Fprintf(s.Out, "schedule %s %s: %d topics, next due %s\n", name, did, plan.Topics, view.DueTime(next[0]))
	if running, err := d.Dispatcher.Schedulers(); err == nil && running == 0 {
		s.Say("no scheduler is running: start one with `nightdesk scheduler`")
	}
	return nil
}

func scheduleResume(ctx context.Context, s *session, d *wiring.Desk, name string) error {
	return changeSchedule(ctx, s, d, name, "resumed", func(r *schedule.Record) { r.Resume(d.Clock.Now()) })
}

func changeSchedule(ctx context.Context, s *session, d *wiring.Desk, name, done string,
	change func(*schedule.Record)) error {
	r, err := d.Queue.ChangeSchedule(ctx, name, func(r *schedule.Record) error { change(r); return nil })
	if err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(viewOf(r, d.Clock.Now()), true)
	}
	text := ""
	if next := viewOf(r, d.Clock.Now()).Next; len(next) > 0 {
		text = ", next due " + view.DueTime(next[0])
	}
	fmt.Fprintf(s.Out, "schedule %s %s%s\n", name, done, text)
	return nil
}

func scheduleRemove(ctx context.Context, s *session, d *wiring.Desk, name string) error {
	r, err := d.Queue.Schedule(ctx, name)
	if err != nil {
		return err
	}
	if _, err := d.Queue.RemoveSchedule(ctx, name); err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(map[string]string{"removed": name}, true)
	}
	fmt.Fprintf(s.Out, "schedule %s removed; its batches stay\n", name)
	if r.Declared {
		s.Say("it comes from a settings file: remove it there, or the next scheduler that starts adds it again")
	}
	return nil
}

func scheduleFire(ctx context.Context, s *session, d *wiring.Desk, name string) error {
	scheduler, err := newScheduler(ctx, s, d)
	if err != nil {
		return err
	}
	f, err := scheduler.Fire(ctx, name)
	if err != nil {
		return err
	}
	if s.JSON {
		return s.PrintJSON(f, true)
	}
	fmt.Fprintf(s.Out, "batch %s: %s enqueued\n", f.Batch, view.Counted(f.Topics, "topic"))
	return nil
}

// knownSchedule returns err, or if it means that there is no schedule of this name, an error that lists the existing
// ones.
func knownSchedule(ctx context.Context, d *wiring.Desk, name string, err error) error {
	if !errors.Is(err, redisqueue.ErrNoSchedule) {
		return err
	}
	records, listErr := d.Queue.Schedules(ctx)
	if listErr != nil {
		return listErr
	}
	names := []string{}
	for _, r := range records {
		names = append(names, r.Name)
	}
	if len(names) == 0 {
		names = []string{"none yet"}
	}
	return view.Usage(view.Hint(fmt.Errorf("there is no schedule %q", name), "There are: "+strings.Join(names, ", ")))
}
