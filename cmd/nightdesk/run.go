package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"nightdesk/cmd/nightdesk/desk"
	"nightdesk/cmd/nightdesk/dialogue"
	"nightdesk/cmd/nightdesk/intake"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/watch"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/llm"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// interruptGrace is how long an interrupted `run` waits for calls in flight.
const interruptGrace = 3 * time.Second

// maxLine is the maximum size in bytes of text read from standard input. It protects memory from oversized input.
const maxLine = 4 << 20

func runCommand(p *program) *cobra.Command {
	var out string
	var f intake.Flags
	cmd := &cobra.Command{
		Use:   "run TOPIC",
		Short: "Research one topic in this process; the report's path is the last line",
		Args:  cobra.MinimumNArgs(1),
		RunE: p.command(func(ctx context.Context, s *session, args []string) error {
			return runTopic(ctx, s, strings.Join(args, " "), out, f)
		}),
	}
	cmd.Long = "Research one topic in this process. The last line of output is the report's path.\n" +
		"TOPIC is a line or a paragraph. With -, it is read from standard input."
	addTopicFlags(p, cmd, &f)
	addAttach(cmd, &f)
	p.settingFlag(cmd.Flags(), "human-in-the-loop", "planning.human_in_the_loop",
		"false: never ask questions, even if the topic is unclear")
	p.settingSwitch(cmd, "approve-plan", "planning.approve_plan",
		"show the plan first, so that you can approve it, edit it, or say what to change")
	p.concurrencyFlag(cmd)
	cmd.Flags().StringVar(&out, "out", "", "directory for the report and its data (default: the storage)")
	return cmd
}

// addTopicFlags adds the flags that control how topics are researched.
func addTopicFlags(p *program, cmd *cobra.Command, f *intake.Flags) {
	flags := cmd.Flags()
	for _, s := range []struct{ name, path, usage string }{
		{"preset", "preset", intake.PresetUsage()},
		{"kb", "kb_name", "name of a knowledge base, or a directory, which is indexed first"},
		{"language", "language", "language of the report: en, zh or another language tag"},
		{"duration", "limits.run_duration", "maximum duration, counted from the start of planning, such as 20m"},
		{"plan", "planning.plan", "file with the sub-topics as a Markdown list, one item each"},
		{"user-info", "user_info", "who asks and why, as text for all prompts"},
		{"strategy", "researching.strategy", "exploratory (broad), balanced or focused (deep)"},
		{"sources", "researching.sources",
			"allowed kinds of sources, comma-separated: kb, web, papers, code, own (default: all that are configured)"},
		{"citation-style", "reporting.citation_style", "anchors or numbered"},
		{"report-template", "reporting.template",
			"sections of the report with instructions: a Markdown `file`, or a name from \"nightdesk styles\""},
		{"length", "reporting.length", "length of the report, in your own words: \"one page\""},
		{"audience", "reporting.audience",
			"readers of the report, in your own words: \"engineers who know databases\""},
		{"audio", "reporting.audio", audioUsage},
	} {
		p.settingFlag(flags, s.name, s.path, s.usage)
	}
	p.settingSwitch(cmd, "pictures", "reporting.pictures", "show pictures of the web pages that are cited")
	flags.StringVar(&f.Deadline, "deadline", "",
		"when the report is due, including time in the queue: 07:00, 2026-03-01 07:00 or RFC 3339")
	flags.BoolVar(&f.Incremental, "incremental", false,
		"update the last report on this topic: research only what changed and list the changes first")
	budgetFlags(p, cmd)
}

// audioUsage is the usage text of --audio.
const audioUsage = "audio version: extended_audio (whole report), single_podcast_overview (main points), " +
	"dual_podcast_overview (main points, two voices) or none"

// addAttach adds the flag that attaches documents.
func addAttach(cmd *cobra.Command, f *intake.Flags) {
	cmd.Flags().StringArrayVar(&f.Attach, "attach", nil,
		"document for these runs only; repeat the flag for several")
}

func runTopic(ctx context.Context, s *session, topic, out string, f intake.Flags) error {
	if topic == "-" {
		text, err := io.ReadAll(io.LimitReader(s.In, maxLine))
		if err != nil {
			return fmt.Errorf("read the topic from standard input: %w", err)
		}
		topic = string(text)
	}
	if !strings.ContainsRune(topic, 0) { // a NUL byte means that it is not text; CheckTopic rejects it
		topic = strings.TrimSpace(topicqueue.Printable(topic))
	}
	if out != "" {
		dir, err := filepath.Abs(out)
		if err != nil {
			return view.Usage(fmt.Errorf("--out %s: %w", out, err))
		}
		cfg, err := s.load(map[string]string{"storage_url": "file://" + dir})
		if err != nil {
			return err
		}
		s = s.with(cfg)
	}
	return workTopic(ctx, s, topic, f, working{batch: "run_",
		prepare: func(_ context.Context, _ *wiring.Desk, _ storage.Store, o *topicqueue.Options) error {
			return dialogue.Enable(o, s.cfg, s.Console)
		},
		show: func(result desk.RunDetail, _ []byte) error { return showResult(s.Console, result) },
	})
}

// working parameterizes workTopic.
type working struct {
	batch string // prefix of the batch name
	// prepare completes the options.
	prepare func(ctx context.Context, d *wiring.Desk, store storage.Store, o *topicqueue.Options) error
	// show prints the result. report is Markdown, or nil if there is no report.
	show func(result desk.RunDetail, report []byte) error
}

// workTopic researches one topic in this process, from start to end.
func workTopic(ctx context.Context, s *session, topic string, f intake.Flags, how working) (err error) {
	if err := tasks.CheckTopic(topic); err != nil {
		return view.Usage(err)
	}
	if !s.cfg.Given("log_level") {
		s.Log = newLogger(s.cfg, s.Console, zerolog.ErrorLevel) // progress shows the rest
	}
	wiring.FitSlots(s.Console, &s.cfg.Worker)
	local := newBases(s)
	kb, err := local.Resolve(ctx, s.cfg.KBName)
	if err != nil {
		return err
	}
	attached, err := local.Attach(ctx, f.Attach)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, attached.Close()) }()
	s.cfg.Attached = attached != nil
	options, err := f.Options(s.cfg, kb)
	if err != nil {
		return err
	}
	d, err := wiring.OpenWorkingDesk(ctx, s.cfg, s.Console, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	services, err := wiring.NewServices(ctx, s.cfg, s.Console, d)
	if err != nil {
		return err
	}
	if err := wiring.CheckModel(ctx, services.Model, llm.Planner); err != nil {
		return err
	}
	if err := how.prepare(ctx, d, services.Store, &options); err != nil {
		return err
	}
	if options.Attached, err = attached.Publish(ctx); err != nil {
		return err
	}
	if options.Incremental { // the next run compares the knowledge base with this version
		if options.KnowledgeVersion, err = local.Publish(ctx, options.KnowledgeBase); err != nil {
			return err
		}
	}
	return workRun(ctx, s, d, services, topic, options, how)
}

// workRun enqueues a topic in a lane of its own, so that this process works only on this run, and no other process
// does.
func workRun(ctx context.Context, s *session, d *wiring.Desk, services jobs.Services, topic string,
	options topicqueue.Options, how working) error {
	now := d.Clock.Now()
	whole := &desk.Desk{Settings: s.settings(), Desk: d, Store: services.Store}
	batch, err := whole.OpenBatch(ctx, desk.NewBatchName(how.batch, now), now)
	if err != nil {
		return err
	}
	sub, err := d.Dispatcher.Enqueue(ctx, d.Queue, batch, topic, options, batch.Name, now)
	if err != nil {
		return err
	}
	settings := wiring.WorkerSettings(s.cfg, batch.Name)
	settings.ReportConcurrency = 0 // a single run has a single report
	settings.PollInterval = 10 * time.Millisecond
	settings.Grace = interruptGrace
	worker := jobs.NewWorker(services, settings)
	if err := worker.Start(ctx); err != nil {
		return err
	}
	screen := view.NewRunScreen(s.Err, sub.Run, false)
	usable := usable(d.Queue, services.Store)
	ask := &dialogue.Asker{RunScreen: screen, Console: s.Console, Human: s.cfg.Planning.Human,
		Controls: tasks.Controls{Queue: d.Queue, Dispatcher: d.Dispatcher}}
	_, followErr := watch.Follow(ctx, d.Queue, sub.Run.ID, 0, usable, ask)
	screen.End()
	if ctx.Err() != nil && ask.CancelWaiting(ctx, sub.Run.ID, interruptGrace, usable) {
		worker.Stop()
		dropLane(d, batch.Name)
		return view.Hint(fmt.Errorf("interrupted while waiting for an answer; run %s is cancelled", sub.Run.ID),
			"Run the command again to start over. With --human-in-the-loop false it asks nothing.")
	}
	if followErr == nil {
		followErr = watch.AwaitPublished(ctx, d.Queue, sub.Run.ID, usable, screen)
	}
	worker.Stop()
	if ctx.Err() != nil {
		return view.Hint(fmt.Errorf("interrupted; run %s is not finished", sub.Run.ID),
			"Run the command again to start over. Use `nightdesk enqueue` for work that should survive the terminal.")
	}
	if followErr != nil {
		return followErr
	}
	dropLane(d, batch.Name)
	result, err := whole.Run(ctx, desk.RunRequest{RunID: sub.Run.ID})
	if err != nil {
		return err
	}
	var report []byte
	if result.Report != "" {
		if report, err = services.Store.Get(ctx, result.ReportKey); err != nil {
			return err
		}
	}
	return how.show(result, report)
}

// usable returns a check whether a run of this process can continue: Redis and a local storage directory accept writes.
func usable(q *redisqueue.Queue, store storage.Store) func(context.Context) error {
	return func(ctx context.Context) error {
		err := q.Writable(ctx)
		if _, local := store.(*storage.Dir); local && err == nil {
			err = storage.Check(ctx, store)
		}
		return err
	}
}

// dropLane removes the queues of an unused lane from the dashboard.
func dropLane(d *wiring.Desk, lane string) {
	inspector := asynq.NewInspectorFromRedisClient(d.Redis)
	for _, stage := range []string{"planning", "researching", "reporting"} {
		// The queue is empty. If it cannot be removed, the dashboard merely shows an empty line.
		_ = inspector.DeleteQueue(stage+"-"+lane, true)
	}
}

func showResult(con *view.Console, r desk.RunDetail) error {
	if con.JSON {
		if err := con.PrintJSON(r, false); err != nil {
			return err
		}
	} else {
		cost := ""
		if r.LLMCalls > 0 && r.CostUSD != nil {
			cost = fmt.Sprintf(", $%.4f", *r.CostUSD)
		}
		con.Say("%s: %s, %s, %s, %s%s, %.1f s", r.State, view.Counted(r.Blocks, "topic block"), view.Counted(r.Sources,
			"source"),
			view.Counted(r.Citations, "citation"), view.Counted(r.LLMCalls, "model call"), cost, float64(r.TookMS)/1000)
		if r.NoAudio != "" {
			con.Say("not read aloud: %s", r.NoAudio)
		}
		for _, path := range []string{r.Audio, r.Page, r.Report} { // the report comes last, where scripts look for it
			if path != "" {
				fmt.Fprintln(con.Out, path)
			}
		}
	}
	return watch.Outcome(topicqueue.Run{ID: r.RunID, State: r.State, Reason: r.Reason})
}
