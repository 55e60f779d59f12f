package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/web"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/storage"
)

// Subjects of troubles.
const (
	ofWorkers    = "workers"
	ofSchedulers = "schedulers"
	ofRedis      = "redis"
	ofStorage    = "storage"
)

// Troubles returns what prevents the queue from being processed, or soon will. It omits what cannot be checked while
// Redis is unavailable, which callers report themselves.
func Troubles(ctx context.Context, d *wiring.Desk, store storage.Store) []web.Trouble {
	var out []web.Trouble
	for _, look := range []func() (web.Trouble, error){
		func() (web.Trouble, error) { return missingWorkers(ctx, d) },
		func() (web.Trouble, error) { return missingSchedulers(ctx, d) },
		func() (web.Trouble, error) { return fullRedis(ctx, d), nil },
		func() (web.Trouble, error) { return fullDisk(ctx, d, store) },
	} {
		if t, err := look(); err == nil && t.Text != "" {
			out = append(out, t)
		}
	}
	return out
}

// Facts returns alternating names and texts about the services. A text is empty if the fact is unknown.
func Facts(ctx context.Context, d *wiring.Desk, store storage.Store) []string {
	schedulers, room := "", ""
	if n, err := d.Dispatcher.Schedulers(); err == nil {
		schedulers = strconv.Itoa(n)
	}
	if _, local := store.(*storage.Dir); local {
		if bytes, known := roomIn(store.Location("")); known {
			room = view.Size(bytes)
		}
	}
	return []string{"Schedulers", schedulers, "Memory of Redis", wiring.RedisMemory(ctx, d.Redis),
		"Room for reports", room}
}

// missingWorkers returns a trouble if no worker is running.
func missingWorkers(ctx context.Context, d *wiring.Desk) (t web.Trouble, err error) {
	w, err := d.Queue.Workers(ctx)
	if err != nil || w.Live > 0 {
		return t, err
	}
	runs, err := unfinished(ctx, d)
	if err != nil {
		return t, err
	}
	t = web.Trouble{Of: ofWorkers, Text: "no worker is running", Hint: "Start one with `nightdesk worker`."}
	if runs > 0 {
		t.Text += fmt.Sprintf(" and %s not finished", areOne(runs, "run"))
	}
	if w.Seen >= 0 {
		t.Text += fmt.Sprintf("; the last sign of a worker was %s ago", view.Duration(w.Seen))
	}
	return t, nil
}

func areOne(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing + " is"
	}
	return fmt.Sprintf("%d %ss are", n, thing)
}

// unfinished returns the number of runs that have not ended.
func unfinished(ctx context.Context, d *wiring.Desk) (n int64, err error) {
	stats, err := d.Queue.Stats(ctx)
	for state, runs := range stats.Runs {
		if !state.Final() {
			n += runs
		}
	}
	return n, err
}

// missingSchedulers returns a trouble if schedules will not fire because no scheduler is running.
func missingSchedulers(ctx context.Context, d *wiring.Desk) (t web.Trouble, err error) {
	records, err := d.Queue.Schedules(ctx)
	if err != nil {
		return t, err
	}
	active := int64(0)
	for _, r := range records {
		if r.Paused == "" {
			active++
		}
	}
	running, err := d.Dispatcher.Schedulers()
	if err != nil || running > 0 || active == 0 {
		return t, err
	}
	return web.Trouble{Of: ofSchedulers, Text: fmt.Sprintf("no scheduler is running and %s to fire",
		areOne(active, "schedule")),
		Hint: "Start one with `nightdesk scheduler`."}, nil
}

// fullRedis returns a trouble if Redis rejects writes, or soon will.
func fullRedis(ctx context.Context, d *wiring.Desk) web.Trouble {
	if err := d.Queue.Writable(ctx); err != nil {
		var said redis.Error
		if !errors.As(err, &said) { // unavailable
			return web.Trouble{}
		}
		return unwritable(err)
	}
	for _, f := range wiring.InspectRedis(ctx, d.Redis) {
		if f.Level == wiring.RedisNearlyFull {
			return web.Trouble{Of: ofRedis, Text: f.Text, Hint: f.Hint}
		}
	}
	return web.Trouble{}
}

// unwritable returns the trouble, with advice, for a Redis that rejects writes.
func unwritable(err error) web.Trouble {
	hint := "Make it writable again; runs wait until then."
	switch {
	case strings.HasPrefix(err.Error(), "OOM"):
		hint = "Raise its maxmemory, or delete old runs with `nightdesk purge`; runs wait until then."
	case strings.HasPrefix(err.Error(), "MISCONF"):
		hint = "Free space on its disk; runs wait until then."
	}
	return web.Trouble{Of: ofRedis, Text: "Redis takes no writes: " + strings.TrimSuffix(err.Error(), "."), Hint: hint}
}

// Free space that a night needs on the disk of the reports or the data directory.
const (
	leastRoom = 256 << 20 // about the size of 1,000 quick runs
	roomOfRun = 2 << 20   // more than most runs need
)

// fullDisk returns a trouble if the disk of a local storage has too little space for the unfinished runs, or for a
// usual night.
func fullDisk(ctx context.Context, d *wiring.Desk, store storage.Store) (t web.Trouble, err error) {
	if _, local := store.(*storage.Dir); !local {
		return t, nil
	}
	runs, err := unfinished(ctx, d)
	if err != nil {
		return t, err
	}
	return smallRoom(store.Location(""), runs), nil
}

func smallRoom(dir string, runs int64) web.Trouble {
	need := max(leastRoom, runs*roomOfRun)
	room, known := roomIn(dir)
	if !known || room >= need {
		return web.Trouble{}
	}
	return web.Trouble{Of: ofStorage, Text: fmt.Sprintf("%s has %s left, a night needs about %s", filepath.Clean(dir),
		view.Size(room), view.Size(need)),
		Hint: "Free space there, delete old runs with `nightdesk purge`, or move to a larger disk with " +
			"--data-dir or STORAGE_URL."}
}

// WarnOfTroubles prints the troubles that may delay unfinished work.
func WarnOfTroubles(ctx context.Context, con *view.Console, d *wiring.Desk, store storage.Store) {
	for _, t := range Troubles(ctx, d, store) {
		con.Say("warning: %s. %s", t.Text, t.Hint)
	}
}
