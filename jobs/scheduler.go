package jobs

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/schedule"
)

// KindFire is the task by which asynq's scheduler wakes ours.
const KindFire = "schedule:fire"

const queueScheduling = "scheduling"

// SchedulerServices is what a scheduler works with. Redis, Queue and Dispatcher are on the same server.
type SchedulerServices struct {
	Redis      redis.UniversalClient
	Queue      *redisqueue.Queue
	Dispatcher *Dispatcher
	Store      storage.Store
	Log        zerolog.Logger
	Now        func() time.Time
	// Read returns what a firing enqueues, as it is now. An error is tried again, and shown to people.
	Read func(ctx context.Context, spec schedule.Spec, due, now time.Time) (Snapshot, error)
}

// Scheduler fires schedules. Any number of them may run at the same time: each due time is fired once, since who fires
// it is settled by the record of the schedule, and whoever goes on with a firing makes the same runs.
type Scheduler struct {
	SchedulerServices
	owner string // tells this scheduler from others

	wake       chan struct{}
	stopped    context.Context
	stop       context.CancelFunc
	background sync.WaitGroup
	server     *asynq.Server
	board      *board
}

// NewScheduler returns a scheduler that is not started.
func NewScheduler(s SchedulerServices) *Scheduler {
	return &Scheduler{SchedulerServices: s, owner: rand.Text()[:12], wake: make(chan struct{}, 1)}
}

// looksAtOnce bounds how many schedules one look deals with at the same time: a list that takes minutes to read does
// not keep the others.
const looksAtOnce = 4

// Look does all that is due now: fires, goes on with firings that their schedulers left, ends those whose runs have
// ended. The error is for the log: the next look tries again.
func (s *Scheduler) Look(ctx context.Context) error {
	records, err := s.Queue.Schedules(ctx)
	if err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(looksAtOnce)
	errs := make([]error, len(records))
	for i, r := range records {
		g.Go(func() error {
			if err := s.look(ctx, r); err != nil && !errors.Is(err, errTaken) && !errors.Is(err, redisqueue.ErrNoSchedule) {
				errs[i] = fmt.Errorf("schedule %s: %w", r.Name, err)
			}
			return nil
		})
	}
	_ = g.Wait() // it has none
	return errors.Join(errs...)
}

func (s *Scheduler) look(ctx context.Context, r schedule.Record) error {
	for _, f := range r.Firings { // first: what has ended makes room
		if f.State == schedule.Running {
			if err := s.settle(ctx, r.Name, f); err != nil {
				return err
			}
		}
	}
	var due time.Time
	err := s.judge(ctx, r.Name, func(r *schedule.Record) error {
		due = r.Advance(s.Now(), s.owner)
		return nil
	})
	if err != nil || due.IsZero() {
		return errors.Join(err, s.tell(ctx, r))
	}
	return s.carryOut(ctx, r.Name, due)
}

// Fire fires a schedule now, whatever its due times and whether it is paused or not, and returns what came of it. One
// that breaks off is left to the schedulers.
func (s *Scheduler) Fire(ctx context.Context, name string) (schedule.Firing, error) {
	var due time.Time
	_, err := s.Queue.ChangeSchedule(ctx, name, func(r *schedule.Record) error {
		if f := r.At(due); f != nil && f.Owner == s.owner { // the reply was lost
			return nil
		}
		ok := false
		if due, ok = r.Fire(s.Now(), s.owner); !ok {
			return fmt.Errorf("schedule %s was fired in this second already", name)
		}
		return nil
	})
	if err != nil {
		return schedule.Firing{}, err
	}
	err = s.carryOut(ctx, name, due)
	r, readErr := s.Queue.Schedule(ctx, name)
	if f := r.At(due); readErr == nil && f != nil {
		return *f, err
	}
	return schedule.Firing{}, errors.Join(err, readErr)
}

// SchedulerSettings of a started scheduler.
type SchedulerSettings struct {
	LookInterval time.Duration // between two looks, at most; it looks at due times and when asynq wakes it besides
	Heartbeat    time.Duration // how often asynq's list of schedulers is written
}

// Start begins to fire and returns. ctx carries values only: its end does not end the work, Stop does.
func (s *Scheduler) Start(ctx context.Context, settings SchedulerSettings) error {
	s.stopped, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	mux := asynq.NewServeMux()
	mux.HandleFunc(KindFire, func(context.Context, *asynq.Task) error { s.Wake(); return nil })
	s.server = asynq.NewServerFromRedisClient(s.Redis, asynq.Config{
		Concurrency: 1, Queues: map[string]int{queueScheduling: 1}, Logger: asynqLog{s.Log}, LogLevel: asynq.WarnLevel,
	})
	if err := s.server.Start(mux); err != nil {
		return fmt.Errorf("start the scheduler: %w", err)
	}
	s.board = newBoard(s.Redis, settings.Heartbeat, asynqLog{s.Log})
	if err := s.board.asynq.Start(); err != nil {
		s.server.Shutdown()
		return fmt.Errorf("start the scheduler: %w", err)
	}
	s.background.Go(func() {
		for s.stopped.Err() == nil {
			s.round(s.stopped, settings.LookInterval)
		}
	})
	return nil
}

// Wake makes a started scheduler look now.
func (s *Scheduler) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Pauses between two looks, at least: after one that went well, and after another.
const (
	leastPause  = 10 * time.Millisecond
	failedPause = time.Second
)

// round looks once, and waits until there may be something to do.
func (s *Scheduler) round(ctx context.Context, most time.Duration) {
	pause, least, now := most, leastPause, s.Now()
	if err := s.Look(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn().Err(err).Msg("not all schedules could be looked at; tried again soon")
		least = failedPause
	}
	if records, err := s.Queue.Schedules(ctx); err == nil {
		s.board.show(records, now)
		for _, r := range records {
			if next := r.Next(r.Since, 1); r.Paused == "" && len(next) > 0 {
				pause = min(pause, max(next[0].Sub(now), 0))
			}
		}
	}
	timer := time.NewTimer(max(pause, least))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-s.wake:
	case <-timer.C:
	}
}

// Stop ends a started scheduler. A firing that it carries out is left to others, or to its next start.
func (s *Scheduler) Stop() {
	s.stop()
	s.background.Wait()
	s.board.asynq.Shutdown()
	s.server.Shutdown()
}

// board shows schedules in asynq's list of schedulers, where asynqmon finds them. What asynq enqueues from it wakes
// one of our schedulers; the due time in the task's id makes one task of the doubles.
type board struct {
	asynq *asynq.Scheduler
	log   asynqLog
	shown map[string]boardEntry // by schedule
}

type boardEntry struct{ task, id string }

// keepTask is how long a task that has woken a scheduler is shown.
const keepTask = 24 * time.Hour

func newBoard(rdb redis.UniversalClient, heartbeat time.Duration, log asynqLog) *board {
	return &board{
		// At its end it complains that the connection, which is ours, is not its own: only what is fatal is logged.
		asynq: asynq.NewSchedulerFromRedisClient(rdb, &asynq.SchedulerOpts{HeartbeatInterval: heartbeat, Logger: log,
			LogLevel: asynq.FatalLevel}),
		log: log, shown: map[string]boardEntry{},
	}
}

// show makes the list that of records.
func (b *board) show(records []schedule.Record, now time.Time) {
	there := map[string]bool{}
	for _, r := range records {
		next := r.Next(r.Since, 1)
		if r.Paused != "" || len(next) == 0 {
			continue
		}
		there[r.Name] = true
		task := "fire:" + r.Name + ":" + next[0].UTC().Format(time.RFC3339)
		if b.shown[r.Name].task == task {
			continue
		}
		b.remove(r.Name)
		payload, err := json.Marshal(map[string]string{"schedule": r.Name, "cron": r.Cron, "timezone": r.Zone})
		if err != nil {
			continue // strings only
		}
		id, err := b.asynq.Register(r.PlainCron(now), asynq.NewTask(KindFire, payload),
			asynq.TaskID(task), asynq.Queue(queueScheduling), asynq.MaxRetry(0), asynq.Retention(keepTask))
		if err != nil {
			b.log.Warn("schedule ", r.Name, " is not shown among asynq's: ", err)
			continue
		}
		b.shown[r.Name] = boardEntry{task, id}
	}
	for name := range b.shown {
		if !there[name] {
			b.remove(name)
		}
	}
}

func (b *board) remove(name string) {
	if e, ok := b.shown[name]; ok {
		_ = b.asynq.Unregister(e.id) // it is registered
		delete(b.shown, name)
	}
}

// Schedulers returns how many schedulers are running.
func (d *Dispatcher) Schedulers() (int, error) {
	servers, err := d.inspector.Servers()
	if err != nil {
		return 0, fmt.Errorf("count the schedulers: %w", err)
	}
	n := 0
	for _, server := range servers {
		if isScheduler(server) {
			n++
		}
	}
	return n, nil
}

func isScheduler(s *asynq.ServerInfo) bool { _, ok := s.Queues[queueScheduling]; return ok }
