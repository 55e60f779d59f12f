package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/schedule"
)

// makeOverdue makes a schedule as if nothing had looked at it for so long: overdue NAME 30h.
func makeOverdue(ts *testscript.TestScript, _ bool, args []string) {
	d, err := time.ParseDuration(args[1])
	ts.Check(err)
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: strings.TrimPrefix(ts.Getenv("REDIS_URL"), "redis-socket://")})
	defer rdb.Close()
	ts.Check(overdue(context.Background(), redisqueue.New(rdb, redisqueue.DefaultTiming), args[0], d))
}

// scheduleEnded waits until the batch of a schedule's last firing has ended: ended NAME.
func scheduleEnded(ts *testscript.TestScript, _ bool, args []string) {
	until(ts, "the end of a batch of schedule "+args[0], func() bool {
		ts.Check(ts.Exec("nightdesk", "schedule", "show", args[0], "--json"))
		var r schedule.Record
		ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &r))
		n := len(r.Firings)
		return n > 0 && r.Firings[n-1].State == schedule.Ended
	})
}

func overdue(ctx context.Context, q *redisqueue.Queue, name string, d time.Duration) error {
	_, err := q.ChangeSchedule(ctx, name, func(r *schedule.Record) error { r.Since = time.Now().Add(-d); return nil })
	return err
}

// TestSchedulesByRedisClock: a machine whose clock is wrong adds and shows schedules as all others see them.
func TestSchedulesByRedisClock(t *testing.T) {
	t.Parallel()
	server := miniredis.RunT(t)
	now := time.Now().Add(60 * 24 * time.Hour).UTC()
	server.SetTime(now)
	f := newDeskAt(t, "redis://"+server.Addr())
	if err := writeFile(filepath.Join(f.dir, "topics.txt"), "How is a harbour operated?\n"); err != nil {
		t.Fatal(err)
	}
	f.output("schedule", "add", "daily", "--cron", "@daily", "--topics", "topics.txt", "--kb", "docs")
	var r struct {
		Since time.Time
		Next  []time.Time
	}
	if err := json.Unmarshal([]byte(f.output("schedule", "list", "--json")), &r); err != nil {
		t.Fatal(err)
	}
	if apart := r.Since.Sub(now).Abs(); apart > time.Hour || len(r.Next) == 0 || !r.Next[0].After(now) || r.Next[0].Sub(now) > 25*time.Hour {
		t.Errorf("Redis has %s; since %s, next %s", now, r.Since, r.Next)
	}
}

// TestKilledScheduler kills one of three scheduler processes with -9 in the middle of a submission: the others go on
// with it, and each topic has one run.
func TestKilledScheduler(t *testing.T) {
	t.Parallel()
	const topics = 10_000
	socket := redistest.Socket(t)
	f := newDeskAt(t, "redis-socket://"+socket)
	rdb := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	defer rdb.Close()
	q := redisqueue.New(rdb, redisqueue.DefaultTiming)
	var list strings.Builder
	for i := range topics {
		fmt.Fprintf(&list, "How is harbour number %d operated on {date}?\n", i+1)
	}
	if err := writeFile(filepath.Join(f.dir, "topics.txt"), list.String()); err != nil {
		t.Fatal(err)
	}
	f.output("schedule", "add", "nightly", "--cron", "0 1 * * *", "--topics", "topics.txt", "--kb", "docs", "--preset", "quick")
	scheduler := func() *exec.Cmd {
		s := f.command("scheduler")
		s.Stderr = os.Stderr
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Process.Kill() })
		return s
	}
	last := func() (out schedule.Firing) {
		r, err := q.Schedule(t.Context(), "nightly")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Firings {
			if f.Batch != "" { // not one that the next night has skipped
				out = f
			}
		}
		return out
	}
	if err := overdue(t.Context(), q, "nightly", 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	victim := scheduler()
	until(t, "topics in the queue", func() bool { return last().Done > 0 })
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait() // killed
	left := last()
	if left.State != schedule.Open || left.Done >= topics {
		t.Fatalf("left at %+v", left)
	}
	t.Logf("killed after %d topics were noted", left.Done)
	// The minute in which it might come back has passed.
	if _, err := q.ChangeSchedule(t.Context(), "nightly", func(r *schedule.Record) error {
		f := r.At(left.Due)
		f.TouchedAt = f.TouchedAt.Add(-schedule.TakeOver)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	others := []*exec.Cmd{scheduler(), scheduler()}
	until(t, "all topics in the queue", func() bool { return last().State == schedule.Running })
	if f := last(); !f.Due.Equal(left.Due) || f.Batch != left.Batch {
		t.Errorf("fired again: %+v after %+v", f, left)
	}
	seen := map[string]bool{}
	if err := q.Runs(t.Context(), left.Batch, func(run topicqueue.Run) error {
		if seen[run.Topic] || !strings.Contains(run.Topic, left.Due.Format("on 2006-01-02?")) {
			t.Errorf("run of %q", run.Topic)
		}
		seen[run.Topic] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != topics {
		t.Errorf("%d topics have a run, want %d", len(seen), topics)
	}
	for _, s := range others {
		f.stop(s)
	}
}
