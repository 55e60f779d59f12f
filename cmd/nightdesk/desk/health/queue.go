package health

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/jobs/tasks"
	"nightdesk/storage"
	"nightdesk/topicqueue/schedule"
)

// redis checks that Redis takes writes, and its settings.
func (c Checker) redis(ctx context.Context, r report) error {
	switch {
	case c.Desk == nil && c.Config.RedisURL.Reveal() != "":
		return c.Away
	case c.Desk == nil:
		return noRedis(r)
	}
	err := c.Desk.Queue.Writable(ctx)
	if err != nil && !errors.As(err, new(redis.Error)) { // unavailable
		down := r.failed("", "%v", err)
		down.Stops, down.Down, down.away = true, true, true
		return nil
	}
	answers := r.ok("the local Redis of the data directory is running")
	if c.Config.RedisURL.Reveal() != "" {
		answers.Text = fmt.Sprintf("%s answers", c.Config.RedisURL)
	}
	if err == nil {
		memory := c.inspect(ctx, r)
		(*r.results)[0].Text += memory // the others were appended to it
		return nil
	}
	full := r.failed(writableHint(err), "Redis takes no writes: %s", strings.TrimSuffix(err.Error(), "."))
	full.Stops, full.Down = true, true
	return nil
}

// noRedis says what the commands do without a configured Redis.
func noRedis(r report) error {
	for _, program := range []string{"redis-server", "valkey-server"} {
		if _, err := exec.LookPath(program); err == nil {
			r.note("Set REDIS_URL for `enqueue` and `worker`.", "REDIS_URL is not set: `run` starts a private %s", program)
			return nil
		}
	}
	r.note("Install Redis or Valkey, or set REDIS_URL, for `enqueue` and `worker`.",
		"REDIS_URL is not set and there is no redis-server on PATH: `run` keeps its queue in memory")
	return nil
}

// writableHint returns advice for a Redis that rejects writes.
func writableHint(err error) string {
	switch {
	case strings.HasPrefix(err.Error(), "OOM"):
		return "Raise its maxmemory, or delete old runs with `nightdesk purge`; runs wait until then."
	case strings.HasPrefix(err.Error(), "MISCONF"):
		return "Free space on its disk; runs wait until then."
	}
	return "Make it writable again; runs wait until then."
}

// workers checks whether workers are running. A missing worker is a failure only if a run waits for it.
func (c Checker) workers(ctx context.Context, r report) error {
	w, err := c.Desk.Queue.Workers(ctx)
	if err != nil {
		return err
	}
	if w.Live > 0 {
		r.ok("%s with %d slots", view.Counted(w.Live, "worker"), w.Slots)
		return nil
	}
	runs, err := c.unfinished(ctx)
	if err != nil {
		return err
	}
	missing := r.note("Start one with `nightdesk worker`.", "no worker is running")
	missing.Stops = true
	if runs > 0 {
		missing.Result = Failed
		missing.Text += fmt.Sprintf(" and %s not finished", areOne(runs, "run"))
	}
	if w.Seen >= 0 {
		missing.Text += fmt.Sprintf("; the last sign of a worker was %s ago", view.Duration(w.Seen))
	}
	return nil
}

func areOne(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing + " is"
	}
	return fmt.Sprintf("%d %ss are", n, thing)
}

// unfinished returns the number of runs that have not ended.
func (c Checker) unfinished(ctx context.Context) (n int64, err error) {
	stats, err := c.Desk.Queue.Stats(ctx)
	for state, runs := range stats.Runs {
		if !state.Final() {
			n += runs
		}
	}
	return n, err
}

// schedules checks whether schedules will be fired. It says nothing if there are no schedules.
func (c Checker) schedules(ctx context.Context, r report) error {
	records, err := c.Desk.Queue.Schedules(ctx)
	if err != nil {
		return err
	}
	running, err := c.Desk.Dispatcher.Schedulers()
	if err != nil {
		return err
	}
	waiting := schedule.Missing(c.Config.Schedules, records)
	if len(records)+len(waiting)+running == 0 {
		return nil
	}
	active, first, what := int64(0), time.Time{}, ""
	for _, s := range records {
		if s.Paused != "" {
			continue
		}
		active++
		if next := s.Upcoming(c.Desk.Clock.Now(), 1); len(next) > 0 && (first.IsZero() || next[0].Before(first)) {
			first, what = next[0], s.Name
		}
	}
	text := fmt.Sprintf("%s, %s running", view.Counted(len(records), "schedule"), view.Counted(running, "scheduler"))
	if running == 0 && active > 0 {
		text = fmt.Sprintf("no scheduler is running and %s to fire", areOne(active, "schedule"))
	}
	if what != "" {
		text += fmt.Sprintf(", next due is %s at %s", what, view.DueTime(first))
	}
	if running > 0 {
		r.ok("%s", text)
	} else {
		r.note("Start one with `nightdesk scheduler`.", "%s", text).Stops = active > 0
	}
	for _, s := range records {
		if s.Paused != "" {
			r.note("Resume it with `nightdesk schedule resume "+s.Name+"`.", "%s is paused: %s", s.Name, s.Paused)
		}
	}
	if len(waiting) > 0 {
		r.note("A scheduler loads them when it starts: start or restart one.",
			"in the settings file but not loaded yet: %s", strings.Join(waiting, ", "))
	}
	return nil
}

// queue reports what waits.
func (c Checker) queue(ctx context.Context, r report) error {
	stats, err := c.Desk.Queue.Stats(ctx, "", tasks.LaneHigh, tasks.LaneLow)
	if err != nil {
		return err
	}
	waiting, oldest := int64(0), time.Duration(0)
	for _, w := range stats.Waiting {
		waiting += w.Runs
		oldest = max(oldest, w.Oldest)
	}
	text := view.Counted(int(waiting), "run") + " waiting for planning"
	if waiting > 0 {
		text += ", the oldest for " + view.Duration(oldest)
	}
	r.ok("%s; %s not stored yet", text, view.Counted(int(stats.Unpublished), "report"))
	return nil
}

// Free space that a night needs on the disk of the reports or the data directory.
const (
	leastRoom = 256 << 20 // about the size of 1,000 quick runs
	roomOfRun = 2 << 20   // more than most runs need
)

// storage checks that the storage can be used, and that its disk has room for the unfinished runs or a usual night.
func (c Checker) storage(ctx context.Context, r report) error {
	store, can := c.Store, "can be read"
	err := error(nil)
	if store == nil {
		can = "can be written"
		store, err = wiring.OpenWritableStore(ctx, c.Config, c.Console)
	} else {
		err = storage.CheckRead(ctx, store)
	}
	if err != nil {
		down := r.failed(view.HintOf(err), "%v", err)
		down.Stops, down.Down, down.away = true, true, true
		return nil
	}
	there := r.ok("%s %s", store.Location("reports"), can)
	runs := int64(0)
	if c.Desk != nil {
		runs, _ = c.unfinished(ctx) // reported by the check of Redis
	}
	if _, local := store.(*storage.Dir); local {
		if bytes, known := roomIn(store.Location("")); known {
			there.Text += ", " + view.Size(bytes) + " free"
		}
		if smallRoom(r, store.Location(""), runs) {
			return nil
		}
	}
	if c.Store == nil { // for other machines, this directory does not matter
		smallRoom(r, c.Config.DataDir, runs)
	}
	return nil
}

// smallRoom reports a directory with too little room.
func smallRoom(r report, dir string, runs int64) bool {
	need := max(leastRoom, runs*roomOfRun)
	room, known := roomIn(dir)
	if !known || room >= need {
		return false
	}
	r.failed("Free space there, delete old runs with `nightdesk purge`, or move to a larger disk with "+
		"--data-dir or STORAGE_URL.", "%s has %s left, a night needs about %s", filepath.Clean(dir), view.Size(room),
		view.Size(need)).Stops = true
	return true
}
