package jobs

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"nightdesk/jobs/bundle"
	"nightdesk/jobs/notify"
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

// Toolbox is what one run may use.
type Toolbox struct {
	Tools    tools.Set
	Sections planning.SectionFinder // of its knowledge base; nil without one
	// Documents of its knowledge base; nil without one.
	Documents researching.Documents
	Attached  planning.Attached // documents that are attached to the run; nil without any
}

// Services is what a worker works with. Redis, Queue and Dispatcher are on the same server.
type Services struct {
	Redis      redis.UniversalClient
	Queue      *redisqueue.Queue
	Dispatcher *Dispatcher
	Store      storage.Store
	Model      llm.Model // nil: the extractive path
	Prices     llm.Prices
	// Toolbox returns the tools of a run. An error is tried again, as those of Redis and storage are, and then ends the
	// run as failed: "the knowledge base is not on this machine".
	Toolbox func(ctx context.Context, run topicqueue.Run) (Toolbox, error)
	Config  map[string]string // settings of this worker by path, secrets redacted
	Shared  tools.Shared      // what calls return, for all workers; nil: every block makes its own
	// Format makes a report in another form than its Markdown; nil: formats.Make.
	Format func(name string, r formats.Report) ([]byte, error)
	Speech narration.Speaker // reads reports aloud; nil: there is no engine
	// Webhooks are where events go.
	Webhooks []*notify.Webhook
	Mail     *notify.Mail    // by which digests are mailed; nil: they are not
	Tracer   *tracing.Tracer // nil: nothing is traced
	Log      zerolog.Logger
	Now      func() time.Time
}

// Settings of a worker.
type Settings struct {
	Lanes             []string // served in this order within each stage; "" is the shared one
	Concurrency       int      // slots for all stages
	ReportConcurrency int      // slots for reports alone, so that they never wait for other runs' blocks
	MaxActions        int      // tool calls in one iteration
	PlannerTokens     int      // window of the planner's model; 0 = not known
	ResearcherTokens  int      // that of the researcher's
	WriterTokens      int      // that of the writer's, which answers
	ToolTimeout       time.Duration
	ResultLimit       int           // sources of one tool call
	SharedLifetime    time.Duration // of what a tool call returned
	Grace             time.Duration // how long a stop waits for work in flight before it is handed on
	PollInterval      time.Duration // of an idle worker that is the only one
	SweepInterval     time.Duration // between two looks for runs that are due
	RetryPause        time.Duration // before the second try of an attempt; doubled each time
	StateExpiry       time.Duration // of a run's state in Redis after it is published
}

// Worker works tasks until it is stopped.
type Worker struct {
	Services
	settings     Settings
	leases       *leases
	handlers     *gate
	work         context.Context
	cancel       context.CancelCauseFunc
	servers      []*asynq.Server
	stopped      context.Context // ends what runs in the background
	stop         context.CancelFunc
	figures      *figures // of the desk
	reports      reportHandler
	publications publishHandler
	digests      digestHandler
	outlets      sender
	hungry       chan struct{}          // an attempt has ended: there may be room for another run
	attendance   *redisqueue.Attendance // nil: its lanes are its own
	slots        atomic.Int64           // of all workers, as far as this one has heard; 0: its lanes are its own
	background   sync.WaitGroup
}

// NewWorker returns a worker that is not started.
func NewWorker(s Services, settings Settings) *Worker {
	w := &Worker{Services: s, settings: settings, figures: &figures{queue: s.Queue, now: s.Now}}
	if w.Format == nil {
		w.Format = formats.Make
	}
	return w
}

// Start begins to work tasks and returns. ctx carries values only: its end does not end the work, Stop does.
func (w *Worker) Start(ctx context.Context) error {
	w.work, w.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	w.stopped, w.stop = context.WithCancel(context.Background())
	w.handlers, w.leases, w.hungry = newGate(), newLeases(w.Queue.Timing().Lease*3/4), make(chan struct{}, 1)
	mux := w.mux()
	all, reports := map[string]int{}, map[string]int{}
	// asynq serves the queue with the highest number first: a lane before the next one, and within it the stage that
	// is nearest to a report.
	for i, lane := range w.settings.Lanes {
		top := 3 * (len(w.settings.Lanes) - i)
		all[queueName(queueReporting, lane)] = top
		all[queueName(queueResearching, lane)] = top - 1
		all[queueName(queuePlanning, lane)] = top - 2
		reports[queueName(queueReporting, lane)] = top
	}
	if slices.Contains(w.settings.Lanes, "") {
		w.attendance = w.Queue.Attend(w.settings.Concurrency)
		w.slots.Store(int64(w.settings.Concurrency))
	}
	poll, err := w.pollInterval()
	if err != nil {
		return err
	}
	w.servers = append(w.servers, w.server(all, w.settings.Concurrency, poll, w.attemptPause))
	if w.settings.ReportConcurrency > 0 {
		w.servers = append(w.servers, w.server(reports, w.settings.ReportConcurrency, poll, w.attemptPause))
	}
	var outlets []string
	for _, h := range w.Webhooks {
		outlets = append(outlets, queueOf(h.Key()))
	}
	if w.Mail != nil || len(w.Webhooks) > 0 { // without mail for what a version left there that knew one webhook only
		outlets = append(outlets, queueNotifying)
	}
	for _, queue := range outlets {
		w.servers = append(w.servers, w.server(map[string]int{queue: 1}, notifySlots, max(poll, w.settings.SweepInterval),
			w.outlets.pause))
	}
	for _, s := range w.servers {
		if err := s.Start(mux); err != nil {
			return fmt.Errorf("start the worker: %w", err)
		}
	}
	w.renew()
	w.reconcile()
	return nil
}

// mux says which handler works which kind of task, and what each of them works with.
func (w *Worker) mux() *asynq.ServeMux {
	topics := &memories{store: w.Store, toolbox: w.Toolbox}
	found := &findings{queue: w.Queue, store: w.Store, memories: topics}
	bundles := bundle.Services{Queue: w.Queue, Store: w.Store, Config: w.Config, Format: w.Format, Now: w.Now}
	w.reports = reportHandler{bundles: bundles, findings: found}
	w.outlets = sender{webhooks: w.Webhooks, mail: w.Mail, dispatcher: w.Dispatcher, store: w.Store, now: w.Now,
		unit: w.settings.RetryPause}
	w.publications = publishHandler{
		bundles: bundles, findings: found, memories: topics, dispatcher: w.Dispatcher, expiry: w.settings.StateExpiry,
	}
	plans := planHandler{toolbox: w.Toolbox, memories: topics, now: w.Now}
	blocks := blockHandler{toolbox: w.Toolbox, memories: topics, maxActions: w.settings.MaxActions,
		window: w.settings.ResearcherTokens, now: w.Now}
	reviews := reviewHandler{findings: found, toolbox: w.Toolbox, plannerTokens: w.settings.PlannerTokens}
	w.digests = digestHandler{queue: w.Queue, store: w.Store, dispatcher: w.Dispatcher, log: w.Log, now: w.Now}
	mux := asynq.NewServeMux()
	mux.HandleFunc(KindPlan, w.whenAffordable(w.handler(plans.work)))
	mux.HandleFunc(KindBlock, w.handler(blocks.work))
	mux.HandleFunc(KindAnswer, w.handler(answerHandler{blocks, w.settings.WriterTokens, w.Store}.work))
	mux.HandleFunc(KindReview, w.handler(reviews.work))
	mux.HandleFunc(KindReport, w.handler(w.reports.work))
	mux.HandleFunc(KindNarrate, w.handler(narrateHandler{w.Queue, w.Store, w.Speech}.work))
	mux.HandleFunc(KindPublish, w.handler(w.publications.work))
	mux.HandleFunc(KindDigest, w.plainHandler(w.digests.work))
	mux.HandleFunc(KindWebhook, w.plainHandler(w.outlets.deliver))
	mux.HandleFunc(KindMail, w.plainHandler(w.outlets.sendMail))
	return mux
}

// pollInterval grows with the number of workers: together they look as often as one alone, and an idle fleet does not
// load Redis.
func (w *Worker) pollInterval() (time.Duration, error) {
	others, err := asynq.NewInspectorFromRedisClient(w.Redis).Servers()
	if err != nil {
		return 0, fmt.Errorf("count the workers: %w", err)
	}
	processes := map[string]bool{}
	for _, s := range others {
		if isScheduler(s) {
			continue
		}
		processes[fmt.Sprint(s.Host, s.PID)] = true
	}
	return min(w.settings.PollInterval*time.Duration(1+len(processes)), max(w.settings.PollInterval, time.Second)), nil
}

func (w *Worker) server(queues map[string]int, slots int, poll time.Duration,
	delay asynq.RetryDelayFunc) *asynq.Server {
	return asynq.NewServerFromRedisClient(newPoller(w.Redis, queues), asynq.Config{
		Concurrency:              slots,
		Queues:                   queues,
		StrictPriority:           true,
		TaskCheckInterval:        poll,
		DelayedTaskCheckInterval: time.Second,
		ShutdownTimeout:          w.settings.Grace + 10*time.Second, // handlers end by themselves before
		IsFailure:                func(err error) bool { return !errors.Is(err, errDrain) && !errors.Is(err, errHeld) },
		RetryDelayFunc:           delay,
		Logger:                   AsynqLog{w.Log},
		LogLevel:                 asynq.WarnLevel,
	})
}

// attemptPause is how long the next try of an attempt waits.
func (w *Worker) attemptPause(tried int, err error, _ *asynq.Task) time.Duration {
	if errors.Is(err, errDrain) {
		return 0
	}
	if errors.Is(err, errHeld) {
		tried = 0
	}
	pause := w.settings.RetryPause << min(tried, 5)
	return pause + rand.N(pause+1)
}

// Stop takes no more tasks and lets no new call begin; calls in flight have the grace period to end. What is not done
// is handed on to other workers. It returns when every handler has returned. It may be called once after Start.
func (w *Worker) Stop() {
	for _, s := range w.servers {
		s.Stop()
	}
	w.handlers.close(errDrain)
	w.leave()
	w.leases.closeAll(errDrain)
	select {
	case <-w.handlers.landed:
	case <-time.After(w.settings.Grace):
		w.cancel(errDrain)
	}
	<-w.handlers.landed
	for _, s := range w.servers {
		s.Shutdown()
	}
	w.stop()
	w.background.Wait()
	w.cancel(errDrain)
}

// AsynqLog writes asynq's own messages to the worker's log. Its errors are warnings here: asynq tries again.
type AsynqLog struct{ Log zerolog.Logger }

func (l AsynqLog) Debug(args ...any) { l.Log.Debug().Str("from", "asynq").Msg(fmt.Sprint(args...)) }
func (l AsynqLog) Info(args ...any)  { l.Log.Debug().Str("from", "asynq").Msg(fmt.Sprint(args...)) }
func (l AsynqLog) Warn(args ...any) {
	message, level := fmt.Sprint(args...), zerolog.WarnLevel
	// the worker has said why
	if strings.HasPrefix(message, "Retry exhausted") || strings.HasPrefix(message, "revoke task") {
		level = zerolog.DebugLevel
	}
	l.Log.WithLevel(level).Str("from", "asynq").Msg(message)
}
func (l AsynqLog) Error(args ...any) { l.Log.Warn().Str("from", "asynq").Msg(fmt.Sprint(args...)) }
func (l AsynqLog) Fatal(args ...any) { l.Log.Error().Str("from", "asynq").Msg(fmt.Sprint(args...)) }
