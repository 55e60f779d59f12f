package health

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/redistest"
	"nightdesk/topicqueue/schedule"
)

// TestTroubles: missing workers and schedulers and a full Redis are named, each while it is so.
func TestTroubles(t *testing.T) {
	t.Parallel()
	rdb := redistest.Server(t)
	var stderr bytes.Buffer
	con := &view.Console{Err: &stderr}
	var cfg config.Config
	cfg.RedisURL, cfg.DataDir = config.NewURL("redis-socket://"+rdb.Options().Addr), t.TempDir()
	ctx := t.Context()
	d, err := wiring.OpenDesk(ctx, cfg, con, wiring.Attach)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c := Checker{Config: cfg, Console: con, Desk: d, Store: storage.NewDir(t.TempDir())}
	look := func() (texts []string) {
		for _, trouble := range c.Stopping(ctx) {
			if trouble.Hint == "" {
				t.Errorf("nothing says what to do about %+v", trouble)
			}
			texts = append(texts, trouble.Text)
		}
		return texts
	}
	want := func(why string, texts ...string) {
		t.Helper()
		got := look()
		if len(got) != len(texts) {
			t.Fatalf("%s: %q", why, got)
		}
		for i := range texts {
			if !strings.HasPrefix(got[i], texts[i]) {
				t.Errorf("%s: %q, want %q", why, got[i], texts[i])
			}
		}
	}
	want("an idle desk", "no worker is running")
	if w := named(ctx, c, "workers"); len(w) != 1 || w[0].Result != "note" {
		t.Errorf("doctor of an idle desk: %+v", w)
	}
	run := topicqueue.Run{ID: "research_20260301_200000_aaaaaaaaaa", Batch: "night", Topic: "bees", CreatedAt: time.Now()}
	if _, err := d.Queue.Create(ctx, run); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Queue.AddSchedule(ctx, schedule.New(schedule.Spec{Name: "nightly", Cron: "0 1 * * *", Zone: "UTC"}, time.Now())); err != nil {
		t.Fatal(err)
	}
	want("nobody works", "no worker is running and 1 run is not finished", "no scheduler is running and 1 schedule is to fire")
	if w := named(ctx, c, "workers"); len(w) != 1 || w[0].Result != "failed" {
		t.Errorf("doctor while a run waits: %+v", w)
	}
	worker := d.Queue.Attend(3)
	if _, err := worker.Beat(ctx); err != nil {
		t.Fatal(err)
	}
	want("a worker has come", "no scheduler is running")
	if w := named(ctx, c, "workers"); len(w) != 1 || w[0].Text != "1 worker with 3 slots" {
		t.Errorf("doctor with a worker: %+v", w)
	}
	if err := worker.End(ctx); err != nil {
		t.Fatal(err)
	}
	if err := rdb.ConfigSet(ctx, "maxmemory", "1gb").Err(); err != nil {
		t.Fatal(err)
	}
	if used := look(); slices.ContainsFunc(used, func(s string) bool { return strings.Contains(s, "maxmemory") }) {
		t.Errorf("Redis has room: %q", used)
	}
	if err := rdb.ConfigSet(ctx, "maxmemory", "1mb").Err(); err != nil {
		t.Fatal(err)
	}
	want("Redis is full", "Redis takes no writes: OOM", "no worker is running", "no scheduler is running")
	if got := named(ctx, c, "redis"); !slices.ContainsFunc(got, func(c Check) bool { return c.Result == Failed && strings.Contains(c.Text, "OOM") }) {
		t.Errorf("doctor with a full Redis: %+v", got)
	}
	c.Warn(ctx)
	if told := stderr.String(); strings.Count(told, "nightdesk: warning: ") != 3 || strings.Contains(told, "..") {
		t.Errorf("told %q", told)
	}
}

// TestTroublesWithoutRedis: a Redis that is away is not called full.
func TestTroublesWithoutRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--port", "PORT", "--save", "", "--appendonly", "no")
	con := &view.Console{Err: &bytes.Buffer{}}
	var cfg config.Config
	cfg.RedisURL, cfg.DataDir = config.NewURL("redis://"+server.Addr()), t.TempDir()
	d, err := wiring.OpenDesk(t.Context(), cfg, con, wiring.Attach)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	server.End(syscall.SIGKILL)
	c := Checker{Config: cfg, Console: con, Desk: d, Store: storage.NewDir(t.TempDir())}
	if got := c.Stopping(t.Context()); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := named(t.Context(), c, "redis"); len(got) != 1 || !got[0].Down || got[0].Result != Failed {
		t.Errorf("%+v", got)
	}
}

// TestSmallRoom: a disk is too small for the runs that wait, or for any night.
func TestSmallRoom(t *testing.T) {
	t.Parallel()
	room, known := roomIn(t.TempDir() + "/not/yet/there")
	if !known {
		t.Skip("this system does not tell")
	}
	r := report{"storage", new([]Check)}
	if !smallRoom(r, t.TempDir(), room/roomOfRun+1) || !(*r.results)[0].Stops {
		t.Errorf("%+v", *r.results)
	}
	if room > leastRoom && smallRoom(r, t.TempDir(), 0) {
		t.Errorf("with %d bytes: %+v", room, *r.results)
	}
}

// named returns the results of the checks with a name.
func named(ctx context.Context, c Checker, name string) []Check {
	return slices.DeleteFunc(slices.Collect(c.Look(ctx, Shared)), func(c Check) bool { return c.Name != name })
}

// made returns the results of one check.
func made(look func(r report)) []Check {
	r := report{"check", new([]Check)}
	look(r)
	return *r.results
}
