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
	for _, s := range intake.Settings {
		p.settingFlag(flags, s.Flag(), s.Path, s.Usage)
	}
	p.settingFlag(flags, "kb", "kb_name", "name of a knowledge base, or a directory, which is indexed first")
	p.settingSwitch(cmd, "pictures", "reporting.pictures", "show pictures of the web pages that are cited")
	flags.StringVar(&f.Deadline, "deadline", "",
		"when the report is due, including time in the queue: 07:00, 2026-03-01 07:00 or RFC 3339")
	flags.BoolVar(&f.Incremental, "incremental", false,
		"update the last report on this topic: research only what changed and list the changes first")
}

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
		cfg, err := s.Load(map[string]string{"storage_url": "file://" + dir})
		if err != nil {
			return err
		}
		s = &session{s.With(cfg)}
	}
	if err := tasks.CheckTopic(topic); err != nil {
		return view.Usage(err)
	}
	return researchHere(ctx, s, topic, f)
}

// researchHere researches one topic in this process, from start to end.
func researchHere(ctx context.Context, s *session, topic string, f intake.Flags) (err error) {
	local := newBases(s)
	kb, err := local.Resolve(ctx, s.Config.KBName)
	if err != nil {
		return err
	}
	attached, err := local.Attach(ctx, f.Attach)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, attached.Close()) }()
	s.Config.Attached = attached != nil
	options, err := f.Options(s.Config, kb)
	if err != nil {
		return err
	}
	return workHere(ctx, s, func(d *desk.Desk) (id string, err error) {
		if err := dialogue.Enable(&options, s.Config, s.Console); err != nil {
			return "", err
		}
		if options.Attached, err = attached.Publish(ctx); err != nil {
			return "", err
		}
		if options.Incremental { // the next run compares the knowledge base with this version
			if options.KnowledgeVersion, err = local.Publish(ctx, options.KnowledgeBase); err != nil {
				return "", err
			}
		}
		run, err := d.Single(ctx, "run_", topic, options, "")
		return run.ID, err
	}, func(d *desk.Desk, r desk.RunRequest) error {
		result, err := d.Run(ctx, r)
		if err != nil {
			return err
		}
		return showResult(s.Console, result)
	})
}

// workHere works on one run in this process, until it has ended. enqueue puts it into a lane of its own, which no other
// process serves, and returns its id. ended is called when its files are in storage.
func workHere(ctx context.Context, s *session, enqueue func(*desk.Desk) (string, error),
	ended func(*desk.Desk, desk.RunRequest) error) error {
	if !s.Config.Given("log_level") {
		s.Log = newLogger(s.Config, s.Console, zerolog.ErrorLevel) // progress shows the rest
	}
	return s.withDesk(ctx, desk.OpenOwn, func(d *desk.Desk) error {
		services, err := wiring.NewServices(ctx, s.Config, s.Console, d.Desk)
		if err != nil {
			return err
		}
		if err := wiring.CheckModel(ctx, services.Model, llm.Planner); err != nil {
			return err
		}
		id, err := enqueue(d)
		if err != nil {
			return err
		}
		run, err := d.Queue.Run(ctx, id)
		if err != nil {
			return err
		}
		if err := followHere(ctx, s, d, services, run); err != nil {
			return err
		}
		return ended(d, desk.RunRequest{RunID: id})
	})
}

// followHere starts a worker for the lane of a run and shows the run until its files are in storage.
func followHere(ctx context.Context, s *session, d *desk.Desk, services jobs.Services, run topicqueue.Run) error {
	settings := wiring.WorkerSettings(s.Config, run.Lane)
	settings.ReportConcurrency = 0 // a single run has a single report
	settings.PollInterval = 10 * time.Millisecond
	settings.Grace = interruptGrace
	worker := jobs.NewWorker(services, settings)
	if err := worker.Start(ctx); err != nil {
		return err
	}
	screen := view.NewRunScreen(s.Err, run, false)
	usable := usable(d.Queue, services.Store)
	ask := &dialogue.Asker{RunScreen: screen, Console: s.Console, Human: s.Config.Planning.Human, Desk: d}
	_, err := watch.Follow(ctx, d, run.ID, 0, usable, ask)
	screen.End()
	if ctx.Err() != nil && ask.CancelWaiting(ctx, run.ID, interruptGrace) {
		worker.Stop()
		dropLane(d, run.Lane)
		return view.Hint(fmt.Errorf("interrupted while waiting for an answer; run %s is cancelled", run.ID),
			"Run the command again to start over. With --human-in-the-loop false it asks nothing.")
	}
	worker.Stop()
	if ctx.Err() != nil {
		return view.Hint(fmt.Errorf("interrupted; run %s is not finished", run.ID),
			"Run the command again to start over. Use `nightdesk enqueue` for work that should survive the terminal.")
	}
	if err == nil {
		dropLane(d, run.Lane)
	}
	return err
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
func dropLane(d *desk.Desk, lane string) {
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
		con.Say("%s: %s, %s with claims, %s, %s%s, %.1f s", r.State, view.Counted(r.Blocks, "topic block"),
			view.Counted(r.Sources, "source"), view.Counted(r.Citations, "citation"),
			view.Counted(r.LLMCalls, "model call"), cost, float64(r.TookMS)/1000)
		if check := view.Confirmed(r.Tally); check != "" {
			con.Say("cited sentences: %s", check)
		}
		if r.NoAudio != "" {
			con.Say("not read aloud: %s", r.NoAudio)
		}
		for _, path := range append(r.Files, r.Audio, r.Page, r.Report) { // the report comes last, where scripts look for it
			if path != "" {
				fmt.Fprintln(con.Out, path)
			}
		}
	}
	return watch.Outcome(topicqueue.Run{ID: r.RunID, State: r.State, Reason: r.Reason})
}
