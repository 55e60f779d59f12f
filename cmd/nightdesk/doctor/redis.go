package doctor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"nightdesk/cmd/nightdesk/localredis"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
)

func checkRedis(ctx context.Context, cfg config.Config, con *view.Console) []checkup {
	const name = "redis"
	if cfg.RedisURL.Reveal() == "" {
		if r, err := localredis.Attach(ctx, cfg.DataDir); err == nil {
			if err := r.Close(); err != nil {
				return []checkup{failure(name, err)}
			}
			return []checkup{{Name: name, Result: "ok", Text: "the local Redis of the data directory is running"}}
		}
		for _, program := range []string{"redis-server", "valkey-server"} {
			if _, err := exec.LookPath(program); err == nil {
				return []checkup{{Name: name, Result: "note", Text: "REDIS_URL is not set: `run` starts a private " + program,
					Hint: "Set REDIS_URL for `enqueue` and `worker`."}}
			}
		}
		return []checkup{{Name: name, Result: "note",
			Text: "REDIS_URL is not set and there is no redis-server on PATH: `run` keeps its queue in memory",
			Hint: "Install Redis or Valkey, or set REDIS_URL, for `enqueue` and `worker`."}}
	}
	d, err := wiring.OpenDesk(ctx, cfg, con, false)
	if err != nil {
		return []checkup{failure(name, err)}
	}
	defer d.Close()
	out := []checkup{{Name: name, Result: "ok", Text: fmt.Sprintf("%s answers", cfg.RedisURL)}}
	if text, hint := wiring.ClockTrouble(d.Clock.Ahead()); text != "" {
		out = append(out, checkup{Name: "clock", Result: "note", Text: text, Hint: hint})
	}
	err = d.Queue.Writable(ctx)
	if err != nil {
		t := unwritable(err)
		out = append(out, checkup{Name: name, Result: "failed", Text: t.Text, Hint: t.Hint})
	}
	for _, f := range wiring.InspectRedis(ctx, d.Redis) {
		if f.Level == wiring.RedisNearlyFull && err != nil { // already reported as full
			continue
		}
		c := checkup{Name: name, Result: "note", Text: f.Text, Hint: f.Hint}
		if f.Level >= wiring.RedisEvicting {
			c.Result = "failed"
		}
		out = append(out, c)
	}
	return out
}

// checkWorkers checks whether workers are running.
func checkWorkers(ctx context.Context, cfg config.Config, con *view.Console) []checkup {
	d, err := wiring.OpenDesk(ctx, cfg, con, false)
	if err != nil { // reported by checkRedis
		return nil
	}
	defer d.Close()
	w, err := d.Queue.Workers(ctx)
	if err != nil {
		return []checkup{failure(ofWorkers, err)}
	}
	if w.Live > 0 {
		return []checkup{{Name: ofWorkers, Result: "ok",
			Text: fmt.Sprintf("%s with %d slots", view.Counted(w.Live, "worker"), w.Slots)}}
	}
	t, err := missingWorkers(ctx, d)
	runs, runsErr := unfinished(ctx, d)
	if err := errors.Join(err, runsErr); err != nil {
		return []checkup{failure(ofWorkers, err)}
	}
	c := checkup{Name: ofWorkers, Result: "note", Text: t.Text, Hint: t.Hint}
	if runs > 0 {
		c.Result = "failed"
	}
	return []checkup{c}
}
