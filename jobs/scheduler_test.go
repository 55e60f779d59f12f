package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	firing "nightdesk/jobs/nights"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/scaletest"
	"nightdesk/topicqueue/schedule"
)

// night holds Redis, storage and clock for schedulers.
type night struct {
	t     *testing.T
	rdb   *redis.Client
	queue *redisqueue.Queue
	store storage.Store
	clock atomic.Int64 // Unix seconds

	read func(spec schedule.Spec, due time.Time) (firing.Snapshot, error)
}

func newNight(t *testing.T, rdb *redis.Client, start time.Time) *night {
	n := &night{t: t, rdb: rdb, queue: redisqueue.New(rdb, redisqueue.DefaultTiming), store: storage.NewDir(t.TempDir())}
	n.read = func(spec schedule.Spec, due time.Time) (firing.Snapshot, error) {
		return snapshotOf("heat pumps", "fjords", "tides"), nil
	}
	n.set(start)
	return n
}

func snapshotOf(topics ...string) firing.Snapshot {
	s := firing.Snapshot{Options: []topicqueue.Options{options(1, 1, 1)}}
	for _, topic := range topics {
		s.Topics = append(s.Topics, firing.Topic{Topic: topic})
	}
	return s
}

func (n *night) set(t time.Time) { n.clock.Store(t.Unix()) }

func (n *night) now() time.Time { return time.Unix(n.clock.Load(), 0) }

// scheduler returns another scheduler on a separate connection. hook: for its connection; nil: none.
func (n *night) scheduler(hook redis.Hook) *firing.Scheduler {
	rdb := redis.NewClient(n.rdb.Options())
	n.t.Cleanup(func() { rdb.Close() })
	if hook != nil {
		rdb.AddHook(hook)
	}
	dispatcher := tasks.NewDispatcher(asynq.NewClientFromRedisClient(rdb), asynq.NewInspectorFromRedisClient(rdb))
	dispatcher.Announce([]string{notify.SchedulePaused}, []*notify.Webhook{hookAt(n.t, "http://hooks.example/nightdesk")}, false)
	return firing.New(firing.Services{
		Redis: rdb, Queue: redisqueue.New(rdb, redisqueue.DefaultTiming), Dispatcher: dispatcher, Store: n.store, Now: n.now,
		Log: zerolog.New(zerolog.NewTestWriter(n.t)).Level(zerolog.WarnLevel),
		Read: func(_ context.Context, spec schedule.Spec, due, _ time.Time) (firing.Snapshot, error) {
			return n.read(spec, due)
		},
	})
}

func (n *night) add(spec schedule.Spec) {
	n.t.Helper()
	if spec.Overlap == "" {
		spec.Overlap = schedule.OverlapSkip
	}
	spec.Topics, spec.CatchUp, spec.PauseAfter = "/topics.txt", schedule.CatchUpOnce, 2
	if err := spec.Check(); err != nil {
		n.t.Fatal(err)
	}
	if added, err := n.queue.AddSchedule(n.t.Context(), schedule.New(spec, n.now())); err != nil || !added {
		n.t.Fatalf("add schedule %s: %v, %v", spec.Name, added, err)
	}
}

func (n *night) record(name string) schedule.Record {
	n.t.Helper()
	r, err := n.queue.Schedule(n.t.Context(), name)
	if err != nil {
		n.t.Fatal(err)
	}
	return r
}

// last returns the last firing of a schedule.
func (n *night) last(name string) schedule.Firing {
	n.t.Helper()
	r := n.record(name)
	if len(r.Firings) == 0 {
		n.t.Fatalf("schedule %s has not been fired", name)
	}
	return r.Firings[len(r.Firings)-1]
}

func (n *night) look(s *firing.Scheduler) {
	n.t.Helper()
	if err := s.Look(n.t.Context()); err != nil {
		n.t.Fatal(err)
	}
}

// end cancels a run and publishes it.
func (n *night) end(run topicqueue.Run) error {
	if _, err := n.queue.Cancel(n.t.Context(), run.ID, "seen", false); err != nil {
		return err
	}
	begun, err := n.queue.Begin(n.t.Context(), run.ID, redisqueue.UnitPublish, 1)
	if err != nil {
		return err
	}
	return n.queue.Published(n.t.Context(), begun.Lease, begun.Run, time.Hour)
}

// runs returns the topics of a batch and ends those runs that have not ended.
func (n *night) runs(batch string) (topics []string) {
	n.t.Helper()
	err := n.queue.Runs(n.t.Context(), batch, func(run topicqueue.Run) error {
		topics = append(topics, run.Topic)
		if run.State.Final() {
			return nil
		}
		return n.end(run)
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return topics
}

// killed is the connection of a process that is killed after this many commands. Later commands do not reach Redis.
type killed struct {
	left   atomic.Int64
	onLast func() // instead of being killed
}

var errKilled = errors.New("this process was killed")

func newKilled() *killed {
	k := &killed{}
	k.left.Store(-1)
	return k
}

func (k *killed) alive() bool {
	if k.left.Load() < 0 {
		return true
	}
	n := k.left.Add(-1)
	if n <= 0 && k.onLast != nil {
		k.onLast()
		k.left.Store(-1)
		return true
	}
	if n <= 0 {
		k.left.Store(0)
	}
	return n > 0
}

func (k *killed) DialHook(next redis.DialHook) redis.DialHook { return next }
func (k *killed) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if !k.alive() {
			cmd.SetErr(errKilled)
			return errKilled
		}
		return next(ctx, cmd)
	}
}
func (k *killed) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if !k.alive() {
			return errKilled
		}
		return next(ctx, cmds)
	}
}

// TestSchedulersThroughChangesOfClocks runs three schedulers every half hour through the four nights of 2026 with clock
// changes in Berlin and Sydney. One is killed in the middle of a long list.
func TestSchedulersThroughChangesOfClocks(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	many := scaletest.Of(1000, 10_000)
	spring, autumn := time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC), time.Date(2026, 10, 2, 12, 0, 0, 0, time.UTC)
	n := newNight(t, redistest.Server(t), spring)
	n.add(schedule.Spec{Name: "berlin", Cron: "30 2 * * *", Zone: "Europe/Berlin"})
	n.add(schedule.Spec{Name: "sydney", Cron: "30 2 * * *", Zone: "Australia/Sydney"})
	two := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC) // the first 02:30 of two
	n.read = func(spec schedule.Spec, due time.Time) (firing.Snapshot, error) {
		var topics []string
		count := 2
		if due.Equal(two) {
			count = many
		}
		for i := range count {
			topics = append(topics, fmt.Sprintf("topic %d of %s", i, spec.Name))
		}
		return snapshotOf(topics...), nil
	}
	victim := newKilled()
	schedulers := []*firing.Scheduler{n.scheduler(victim), n.scheduler(nil), n.scheduler(nil)}
	everybody := func() {
		var wg sync.WaitGroup
		for _, s := range schedulers {
			wg.Go(func() {
				if err := s.Look(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	ran := map[string][]string{}    // due times by schedule
	through := func(to time.Time) { // half an hour each
		for ; n.now().Before(to); n.set(n.now().Add(30 * time.Minute)) {
			everybody()
			for _, name := range []string{"berlin", "sydney"} {
				for _, f := range n.record(name).Firings {
					due := f.Due.Format(time.RFC3339)
					if f.State != schedule.Running {
						continue
					}
					if f.FiredAt != f.Due {
						t.Errorf("%s: due %s, fired %s", name, due, f.FiredAt)
					}
					ran[name] = append(ran[name], due)
					if got := n.runs(f.Batch); len(got) != 2 || got[0] != "topic 0 of "+name || got[1] != "topic 1 of "+name {
						t.Errorf("%s has %q", f.Batch, got)
					}
				}
			}
		}
	}
	through(spring.AddDate(0, 0, 10))
	pass := func(to time.Time) { // without anything being fired
		for _, name := range []string{"berlin", "sydney"} {
			if _, err := n.queue.ChangeSchedule(t.Context(), name, func(r *schedule.Record) error { r.Resume(to); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		n.set(to)
	}
	pass(autumn) // the summer
	days := 22
	if !scaletest.Full { // weeks in which no clock is changed pass, too
		days = 3
		through(autumn.AddDate(0, 0, days))
		pass(time.Date(2026, 10, 24, 12, 0, 0, 0, time.UTC))
	}
	through(two)

	// The first scheduler fires the long list alone and dies in the middle.
	victim.left.Store(int64(2 * many))
	if err := schedulers[0].Look(t.Context()); !errors.Is(err, errKilled) {
		t.Fatalf("the first scheduler was not killed: %v", err)
	}
	f := n.last("berlin")
	if !f.Due.Equal(two) || f.State != schedule.Open || f.Done == 0 || f.Done >= many {
		t.Fatalf("the firing was left at %+v", f)
	}
	t.Logf("killed after %d topics were noted", f.Done)
	schedulers = schedulers[1:]
	everybody()
	if got := n.last("berlin"); got.Done != f.Done {
		t.Errorf("a living scheduler's firing was taken over: %+v", got)
	}
	n.set(n.now().Add(schedule.TakeOver))
	n.read = func(schedule.Spec, time.Time) (firing.Snapshot, error) {
		return firing.Snapshot{}, errors.New("read again")
	}
	everybody()
	if f = n.last("berlin"); f.State != schedule.Running || f.Done != many {
		t.Fatalf("not taken over: %+v", f)
	}
	seen := map[string]bool{}
	if err := n.queue.Runs(t.Context(), f.Batch, func(run topicqueue.Run) error {
		if seen[run.Topic] {
			t.Fatalf("%s has two runs", run.Topic)
		}
		seen[run.Topic] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != many {
		t.Errorf("%d topics have a run, want %d", len(seen), many)
	}
	n.set(time.Date(2026, 10, 25, 1, 30, 0, 0, time.UTC)) // the second 02:30
	everybody()
	if f := n.last("berlin"); !f.Due.Equal(two) { // also not as skipped, though the batch is still worked
		t.Errorf("fired again at %s", f.Due)
	}

	for name, changes := range map[string][]string{
		"berlin": {"2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"}, // the second is 03:00
		"sydney": {"2026-04-03T15:30:00Z", "2026-04-04T15:30:00Z", "2026-04-05T16:30:00Z", "2026-10-02T16:30:00Z", "2026-10-03T16:00:00Z", "2026-10-04T15:30:00Z"},
	} {
		all := map[string]bool{}
		for _, due := range ran[name] {
			if all[due] {
				t.Errorf("%s: fired twice: %s", name, due)
			}
			all[due] = true
		}
		for _, due := range changes {
			if !all[due] {
				t.Errorf("%s: not fired: %s", name, due)
			}
		}
		if want := 10 + days + map[string]int{"sydney": 1}[name]; len(all) != want {
			t.Errorf("%s: fired %d times, want %d: %v", name, len(all), want, ran[name])
		}
	}
}

// TestSnapshotStands: changes of the topics during a firing have no effect. If two schedulers read at the same time,
// the topics of the first are used.
func TestSnapshotStands(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		due := time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
		n := newNight(t, rdb, due.Add(-time.Hour))
		n.add(schedule.Spec{Name: "nightly", Cron: "0 1 * * *"})
		a, b := n.scheduler(nil), n.scheduler(nil)
		n.set(due)
		readers := 0
		n.read = func(schedule.Spec, time.Time) (firing.Snapshot, error) {
			if readers++; readers == 1 { // the first one takes so long that the other takes over
				n.set(due.Add(schedule.TakeOver))
				n.look(b)
			}
			return snapshotOf(fmt.Sprint("topic of reader ", readers)), nil
		}
		n.look(a)
		f := n.last("nightly")
		if got := n.runs(f.Batch); readers != 2 || len(got) != 1 || got[0] != "topic of reader 2" || f.State != schedule.Running {
			t.Errorf("%d readers, runs %q, %+v", readers, got, f)
		}
	})
}

// TestStoppedInSubmission: a stopping scheduler yields its firing, and the next one continues without waiting for a
// missed heartbeat.
func TestStoppedInSubmission(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		const topics = 500
		due := time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
		n := newNight(t, rdb, due.Add(-time.Hour))
		n.add(schedule.Spec{Name: "nightly", Cron: "0 1 * * *"})
		n.read = func(schedule.Spec, time.Time) (firing.Snapshot, error) {
			var list []string
			for i := range topics {
				list = append(list, fmt.Sprint("topic ", i))
			}
			return snapshotOf(list...), nil
		}
		n.set(due)
		ctx, stop := context.WithCancel(t.Context())
		k := newKilled()
		k.onLast = stop
		k.left.Store(4 * topics)
		if err := n.scheduler(k).Look(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("not stopped: %v", err)
		}
		if f := n.last("nightly"); f.State != schedule.Open || f.Done == 0 || f.Done >= topics {
			t.Fatalf("left at %+v", f)
		}
		n.look(n.scheduler(nil))
		f, runs := n.last("nightly"), 0
		if err := n.queue.Runs(t.Context(), f.Batch, func(topicqueue.Run) error { runs++; return nil }); err != nil {
			t.Fatal(err)
		}
		if f.State != schedule.Running || runs != topics {
			t.Errorf("%d runs, %+v", runs, f)
		}
	})
}

// TestFailingSchedule: reading topics is retried, and then the night has failed. Failed nights pause the schedule,
// which is announced once.
func TestFailingSchedule(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		due := time.Date(2026, 3, 2, 1, 0, 0, 0, time.UTC)
		n := newNight(t, rdb, due.Add(-time.Hour))
		n.add(schedule.Spec{Name: "nightly", Cron: "0 1 * * *"})
		s := n.scheduler(nil)
		good := n.read
		n.read = func(schedule.Spec, time.Time) (firing.Snapshot, error) {
			return firing.Snapshot{}, errors.New("no such list")
		}
		n.set(due)
		tries := 0
		for ; n.record("nightly").Failures == 0; tries++ {
			if err := s.Look(t.Context()); err == nil {
				t.Fatal("a look that could not read says nothing")
			}
			n.set(n.now().Add(10 * time.Minute))
		}
		if f := n.last("nightly"); tries != schedule.MaxTries || f.State != schedule.Failed || f.Reason != "no such list" {
			t.Errorf("after %d tries: %+v", tries, f)
		}

		n.read = good // the next night all runs fail
		n.set(due.AddDate(0, 0, 1))
		n.look(s)
		failAll(t, n.queue, n.last("nightly").Batch)
		other := n.scheduler(nil)
		n.look(s)
		n.look(other)
		r := n.record("nightly")
		if f := n.last("nightly"); f.State != schedule.Ended || f.Broken != 3 || r.Paused == "" {
			t.Errorf("after the second night: %+v", r)
		}
		n.look(s) // those who want to know are told once
		told, err := asynq.NewInspectorFromRedisClient(rdb).ListPendingTasks("notifying-" + hookAt(t, "http://hooks.example/nightdesk").Key())
		if err != nil || len(told) != 1 || !strings.Contains(string(told[0].Payload), `"failures":2`) {
			t.Errorf("told of %d, %v", len(told), err)
		}
		n.set(due.AddDate(0, 0, 2))
		n.look(s)
		if f := n.last("nightly"); !f.Due.Equal(due.AddDate(0, 0, 1)) {
			t.Errorf("fired while paused: %+v", f)
		}
	})
}

// failAll ends all runs of a batch as failed.
func failAll(t *testing.T, q *redisqueue.Queue, batch string) {
	t.Helper()
	for {
		ids, err := q.Feed(t.Context(), "", 8, 0)
		if err != nil {
			t.Fatal(err)
		}
		var left []string
		if err := q.Runs(t.Context(), batch, func(run topicqueue.Run) error {
			if !run.State.Final() {
				left = append(left, run.ID)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			return
		}
		for _, id := range append(ids, left...) {
			begun, err := q.Begin(t.Context(), id, redisqueue.UnitPlan, 1)
			if err != nil {
				continue
			}
			if _, err := q.Finish(t.Context(), begun.Lease, redisqueue.Outcome{State: topicqueue.RunFailed, Reason: "no source"}); err != nil {
				t.Fatal(err)
			}
			if begun, err = q.Begin(t.Context(), id, redisqueue.UnitPublish, 1); err != nil {
				t.Fatal(err)
			}
			if err := q.Published(t.Context(), begun.Lease, begun.Run, time.Hour); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestFireByHand(t *testing.T) {
	t.Parallel()
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		n := newNight(t, rdb, time.Date(2026, 3, 2, 13, 0, 7, 0, time.UTC))
		n.add(schedule.Spec{Name: "nightly", Cron: "0 1 * * *"})
		s := n.scheduler(nil)
		f, err := s.Fire(t.Context(), "nightly")
		if err != nil || f.State != schedule.Running || !f.Manual || f.Batch != "nightly-20260302T130007Z" {
			t.Fatalf("%+v, %v", f, err)
		}
		if got := n.runs(f.Batch); len(got) != 3 {
			t.Errorf("it has %q", got)
		}
		if _, err := s.Fire(t.Context(), "nightly"); err == nil {
			t.Error("fired twice in a second")
		}
		if _, err := s.Fire(t.Context(), "weekly"); !errors.Is(err, redisqueue.ErrNoSchedule) {
			t.Errorf("unknown: %v", err)
		}
	})
}

// TestSchedulerStarted: a started scheduler fires at the due time, is counted, and is in asynq's list.
func TestSchedulerStarted(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // 01:00 in Berlin
	n := newNight(t, redistest.Server(t), due.Add(-time.Hour))
	n.add(schedule.Spec{Name: "nightly", Cron: "0 1 * * *", Zone: "Europe/Berlin"})
	fired := make(chan time.Time, 8)
	n.read = func(_ schedule.Spec, due time.Time) (firing.Snapshot, error) {
		fired <- due
		return snapshotOf("tides"), nil
	}
	s := n.scheduler(nil)
	if err := s.Start(t.Context(), firing.Settings{LookInterval: time.Hour, Heartbeat: 10 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	inspector := asynq.NewInspectorFromRedisClient(n.rdb)
	within(t, func() bool {
		entries, err := inspector.SchedulerEntries()
		return err == nil && len(entries) == 1 && entries[0].Spec == "CRON_TZ=Europe/Berlin 0 1 * * *" && entries[0].Task.Type() == firing.KindFire
	})
	within(t, func() bool { // what it says of itself is good for some heartbeats
		running, err := tasks.NewDispatcher(nil, inspector).Schedulers()
		return err == nil && running == 1
	})
	n.set(due)
	// A task enqueued by asynq's scheduler triggers ours.
	if _, err := asynq.NewClientFromRedisClient(n.rdb).Enqueue(asynq.NewTask(firing.KindFire, nil), asynq.Queue("scheduling")); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-fired:
		if !got.Equal(due) {
			t.Errorf("fired what is due %s", got)
		}
	case <-time.After(scaletest.Patience):
		t.Error("not fired")
	}
	s.Stop()
	if running, err := tasks.NewDispatcher(nil, inspector).Schedulers(); err != nil || running != 0 {
		t.Errorf("%d schedulers run after the stop, %v", running, err)
	}
}

// within waits for a condition that has no event.
func within(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(scaletest.Patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it has not come about")
		}
	}
}
