// Package nights fires schedules. At each due time it reads a list of topics and enqueues it as a batch. A firing
// survives the end of any scheduler at any point.
//
// Entry points: [New] and [Scheduler.Start].
package nights

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/schedule"
)

// KindFire is the task by which asynq's scheduler wakes ours.
const KindFire = "schedule:fire"

// Services are the services that a scheduler uses. Redis, Queue and Dispatcher use the same server.
type Services struct {
	Redis      redis.UniversalClient
	Queue      *redisqueue.Queue
	Dispatcher *tasks.Dispatcher
	Store      storage.Store
	Log        zerolog.Logger
	Now        func() time.Time
	// Read returns the current content of a firing. Errors are retried and shown to users.
	Read func(ctx context.Context, spec schedule.Spec, due, now time.Time) (Snapshot, error)
}

// Scheduler fires schedules. Any number of schedulers may run in parallel. Each due time is fired once, because the
// record of the schedule determines who fires it, and a scheduler that continues a firing makes the same runs.
type Scheduler struct {
	Services
	owner string // identifies this scheduler

	wake       chan struct{}
	stopped    context.Context
	stop       context.CancelFunc
	background sync.WaitGroup
	server     *asynq.Server
	board      *board
}

// New returns a scheduler. Call Start to start it.
func New(s Services) *Scheduler {
	return &Scheduler{Services: s, owner: rand.Text()[:12], wake: make(chan struct{}, 1)}
}

// looksAtOnce is the number of schedules that one look handles in parallel, so that a list that takes minutes to read
// does not delay the others.
const looksAtOnce = 4

// Look does everything that is due now. It fires schedules, continues firings that their schedulers left, and ends
// firings whose runs have ended. The error is only for the log, because the next look retries.
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
	_ = g.Wait() // always nil
	return errors.Join(errs...)
}

func (s *Scheduler) look(ctx context.Context, r schedule.Record) error {
	for _, f := range r.Firings { // first, because ended firings make room
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

// Fire fires a schedule now, regardless of its due times and even if it is paused, and returns the firing. If it is
// interrupted, the running schedulers continue it.
func (s *Scheduler) Fire(ctx context.Context, name string) (schedule.Firing, error) {
	var due time.Time
	_, err := s.Queue.ChangeSchedule(ctx, name, func(r *schedule.Record) error {
		if f := r.At(due); f != nil && f.Owner == s.owner { // the reply was lost
			return nil
		}
		ok := false
		if due, ok = r.Fire(s.Now(), s.owner); !ok {
			return fmt.Errorf("schedule %s was already fired in this second", name)
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

// Settings are the settings of a started scheduler.
type Settings struct {
	LookInterval time.Duration // maximum time between two looks; it also looks at due times and when asynq wakes it
	Heartbeat    time.Duration // interval for writing asynq's list of schedulers
}

// Start starts firing and returns. ctx only carries values: the end of ctx does not stop the scheduler, Stop does.
func (s *Scheduler) Start(ctx context.Context, settings Settings) error {
	s.stopped, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	mux := asynq.NewServeMux()
	mux.HandleFunc(KindFire, func(context.Context, *asynq.Task) error { s.Wake(); return nil })
	s.server = asynq.NewServerFromRedisClient(s.Redis, asynq.Config{
		Concurrency: 1, Queues: map[string]int{tasks.QueueScheduling: 1},
		Logger: tasks.AsynqLog{Log: s.Log}, LogLevel: asynq.WarnLevel,
	})
	if err := s.server.Start(mux); err != nil {
		return fmt.Errorf("start the scheduler: %w", err)
	}
	s.board = newBoard(s.Redis, settings.Heartbeat, tasks.AsynqLog{Log: s.Log})
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

// Minimum pauses between two looks, after a successful and a failed look.
const (
	leastPause  = 10 * time.Millisecond
	failedPause = time.Second
)

// round looks once, and waits until the next look.
func (s *Scheduler) round(ctx context.Context, most time.Duration) {
	pause, least, now := most, leastPause, s.Now()
	if err := s.Look(ctx); err != nil && ctx.Err() == nil {
		s.Log.Warn().Err(err).Msg("not all schedules could be checked; trying again soon")
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

// Stop ends a started scheduler. A firing in progress is left to other schedulers, or to its next start.
func (s *Scheduler) Stop() {
	s.stop()
	s.background.Wait()
	s.board.asynq.Shutdown()
	s.server.Shutdown()
}
