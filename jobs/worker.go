// Package jobs is the worker: it takes tasks from asynq and does, through the pipeline, what each stage of a run does.
//
// A task is a wake-up call that carries ids (package tasks). The runner of package stage takes the lease of the unit of
// work that the task names, lets the stage work, and commits how the unit ends by a script of package redisqueue. The
// intents that the script returns become the next tasks. Every worker also reconciles: it enqueues work that was lost.
//
// The stages, in the order of a run: plan.go, research.go or answer.go, review.go, report.go, narrate.go, publish.go.
//
// Entry point: [Worker].
package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"nightdesk/jobs/bundle"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/stage"
	"nightdesk/jobs/tasks"
	"nightdesk/jobs/tracing"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/narration"
	"nightdesk/pipeline/planning"
	"nightdesk/pipeline/reporting/formats"
	"nightdesk/pipeline/researching"
	"nightdesk/pipeline/tools"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Toolbox holds the tools and documents that a run may use.
type Toolbox struct {
	Tools    tools.Set
	Sections planning.SectionFinder // sections of its knowledge base; nil without one
	// Documents are the documents of its knowledge base; nil without one.
	Documents researching.Documents
	Attached  Attached // documents attached to the run; nil if there are none
}

// Attached provides the documents attached to a run.
type Attached interface {
	planning.Attached
	researching.Shelf
}

// Services are the services that a worker uses. Redis, Queue and Dispatcher use the same server.
type Services struct {
	Redis      redis.UniversalClient
	Queue      *redisqueue.Queue
	Dispatcher *tasks.Dispatcher
	Store      storage.Store
	Model      llm.Model // nil: extractive path
	Prices     llm.Prices
	// Toolbox returns the tools of a run. Errors are retried like those of Redis and storage; then the run fails, for
	// example with "the knowledge base is not on this machine".
	Toolbox func(ctx context.Context, run topicqueue.Run) (Toolbox, error)
	Config  map[string]string // settings of this worker by path, secrets redacted
	Shared  tools.Shared      // results of calls, shared by all workers; nil: every block makes its own calls
	// Format renders a report in a format other than Markdown; nil: formats.Make.
	Format func(name string, r formats.Report) ([]byte, error)
	Speech narration.Speaker // reads reports aloud; nil: no engine
	// Webhooks are the receivers of events.
	Webhooks []*notify.Webhook
	Mail     *notify.Mail    // mails digests; nil: digests are not mailed
	Tracer   *tracing.Tracer // nil: no tracing
	Log      zerolog.Logger
	Now      func() time.Time
}

type Settings struct {
	Lanes             []string      // in order of priority within each stage; "" is the shared lane
	Concurrency       int           // slots for all stages
	ReportConcurrency int           // slots for reports only, so that they never wait for blocks of other runs
	MaxActions        int           // tool calls in one iteration; 0: the default
	ContextTokens     int           // context window of the models; 0: unknown
	Grace             time.Duration // how long a stop waits for work in flight before handing it on
	PollInterval      time.Duration // of an idle worker that is the only worker
	SweepInterval     time.Duration // between two sweeps for due runs
	RetryPause        time.Duration // before the second try of an attempt; doubled for each further try
}

// Worker processes tasks until it is stopped.
type Worker struct {
	Services
	settings     Settings
	runner       *stage.Runner
	servers      []*asynq.Server
	reports      reportHandler
	publications publishHandler
	digests      digestHandler
	outlets      sender
	hungry       chan struct{}          // signals that an attempt has ended, so there may be room for another run
	attendance   *redisqueue.Attendance // nil: serves private lanes only
	slots        atomic.Int64           // slots of all workers, as last reported; 0: serves private lanes only
}

// NewWorker returns a worker. Call Start to start it.
func NewWorker(s Services, settings Settings) *Worker {
	if s.Format == nil {
		s.Format = formats.Make
	}
	return &Worker{Services: s, settings: settings, hungry: make(chan struct{}, 1)}
}

// Start starts processing tasks and returns. ctx only carries values: the end of ctx does not stop the worker, Stop
// does.
func (w *Worker) Start(ctx context.Context) error {
	poll, err := w.pollInterval()
	if err != nil {
		return err
	}
	w.runner = stage.NewRunner(ctx, stage.Services{Queue: w.Queue, Dispatcher: w.Dispatcher, Store: w.Store,
		Model: w.Model, Prices: w.Prices, Shared: w.Shared, Tracer: w.Tracer, Log: w.Log, Now: w.Now},
		stage.Settings{Grace: w.settings.Grace}, w.feedSoon)
	mux := w.mux()
	all, reports := map[string]int{}, map[string]int{}
	// asynq serves the queue with the highest number first. Lanes are served in order; within a lane, the stage closest
	// to the report comes first.
	for i, lane := range w.settings.Lanes {
		top := 3 * (len(w.settings.Lanes) - i)
		all[tasks.QueueName(tasks.QueueReporting, lane)] = top
		all[tasks.QueueName(tasks.QueueResearching, lane)] = top - 1
		all[tasks.QueueName(tasks.QueuePlanning, lane)] = top - 2
		reports[tasks.QueueName(tasks.QueueReporting, lane)] = top
	}
	if slices.Contains(w.settings.Lanes, "") {
		w.attendance = w.Queue.Attend(w.settings.Concurrency)
		w.slots.Store(int64(w.settings.Concurrency))
	}
	w.serve(all, w.settings.Concurrency, poll, w.attemptPause)
	if w.settings.ReportConcurrency > 0 {
		w.serve(reports, w.settings.ReportConcurrency, poll, w.attemptPause)
	}
	var outlets []string
	for _, h := range w.Webhooks {
		outlets = append(outlets, tasks.WebhookQueue(h.Key()))
	}
	if w.Mail != nil {
		outlets = append(outlets, tasks.QueueNotifying)
	}
	for _, queue := range outlets {
		w.serve(map[string]int{queue: 1}, notifySlots, max(poll, w.settings.SweepInterval), w.outlets.pause)
	}
	for _, s := range w.servers {
		if err := s.Start(mux); err != nil {
			w.runner.Stop()
			return fmt.Errorf("start the worker: %w", err)
		}
	}
	w.reconcile()
	return nil
}

// mux returns the handlers of all task kinds, with the services that each of them uses.
func (w *Worker) mux() *asynq.ServeMux {
	topics := &memories{store: w.Store, toolbox: w.Toolbox}
	found := &findings{queue: w.Queue, store: w.Store, memories: topics}
	bundles := bundle.Services{Queue: w.Queue, Store: w.Store, Config: w.Config, Format: w.Format, Now: w.Now}
	plans := planHandler{toolbox: w.Toolbox, memories: topics, window: w.settings.ContextTokens, now: w.Now}
	blocks := blockHandler{toolbox: w.Toolbox, memories: topics, maxActions: w.settings.MaxActions,
		window: w.settings.ContextTokens, now: w.Now}
	answers := answerHandler{blocks, w.settings.ContextTokens, w.Store}
	reviews := reviewHandler{findings: found, toolbox: w.Toolbox, plannerTokens: w.settings.ContextTokens}
	narrations := narrateHandler{w.Queue, w.Store, w.Speech}
	w.reports = reportHandler{bundles: bundles, findings: found}
	w.publications = publishHandler{bundles: bundles, findings: found, memories: topics}
	w.digests = digestHandler{queue: w.Queue, store: w.Store, dispatcher: w.Dispatcher, log: w.Log, now: w.Now}
	w.outlets = sender{webhooks: w.Webhooks, mail: w.Mail, store: w.Store, now: w.Now, unit: w.settings.RetryPause}
	mux := asynq.NewServeMux()
	for kind, s := range map[string]stage.Stage{
		tasks.KindPlan:    plans.stage(w.runner.Ready),
		tasks.KindBlock:   blocks.stage(blocks.work),
		tasks.KindAnswer:  blocks.stage(answers.work),
		tasks.KindReview:  reviews.stage(),
		tasks.KindReport:  w.reports.stage(),
		tasks.KindNarrate: narrations.stage(),
		tasks.KindPublish: {Work: w.publications.work},
	} {
		mux.HandleFunc(kind, w.runner.Handler(s))
	}
	mux.HandleFunc(tasks.KindDigest, w.runner.Plain(w.digests.work))
	mux.HandleFunc(tasks.KindWebhook, w.runner.Plain(w.outlets.deliver))
	mux.HandleFunc(tasks.KindMail, w.runner.Plain(w.outlets.sendMail))
	return mux
}

// pollInterval returns an interval that grows with the number of workers. All workers together poll as often as a
// single one, so an idle fleet does not load Redis.
func (w *Worker) pollInterval() (time.Duration, error) {
	others, err := w.Dispatcher.Workers()
	return min(w.settings.PollInterval*time.Duration(1+others), max(w.settings.PollInterval, time.Second)), err
}

// serve adds a server of these queues.
func (w *Worker) serve(queues map[string]int, slots int, poll time.Duration, delay asynq.RetryDelayFunc) {
	w.servers = append(w.servers, asynq.NewServerFromRedisClient(newPoller(w.Redis, queues), asynq.Config{
		Concurrency:              slots,
		Queues:                   queues,
		StrictPriority:           true,
		TaskCheckInterval:        poll,
		DelayedTaskCheckInterval: time.Second,
		ShutdownTimeout:          w.settings.Grace + 10*time.Second, // handlers end before that
		IsFailure: func(err error) bool {
			return !errors.Is(err, stage.ErrDrain) && !errors.Is(err, stage.ErrHeld)
		},
		RetryDelayFunc: delay,
		Logger:         tasks.AsynqLog{Log: w.Log},
		LogLevel:       asynq.WarnLevel,
	}))
}

// attemptPause returns the pause before the next try of an attempt.
func (w *Worker) attemptPause(tried int, err error, _ *asynq.Task) time.Duration {
	if errors.Is(err, stage.ErrDrain) {
		return 0
	}
	if errors.Is(err, stage.ErrHeld) {
		tried = 0
	}
	pause := w.settings.RetryPause << min(tried, 5)
	return pause + rand.N(pause+1)
}

// Stop takes no more tasks and lets no new call begin. Calls in flight may end within the grace period; unfinished work
// is handed on to other workers. Stop returns when every handler has returned. Call it at most once, after Start.
func (w *Worker) Stop() {
	for _, s := range w.servers {
		s.Stop()
	}
	w.runner.Close()
	w.leave()
	w.runner.Drain()
	for _, s := range w.servers {
		s.Shutdown()
	}
	w.runner.Stop()
}
