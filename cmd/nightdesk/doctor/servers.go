package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/pipeline/tools/papers"
	"nightdesk/topicqueue/redisqueue"
	"nightdesk/topicqueue/redisqueue/governor"
	"nightdesk/topicqueue/redisqueue/shared"
)

// checkServers reports what all workers have learned about the servers they use: the concurrency of model servers, and
// which paper indexes are paused.
func checkServers(ctx context.Context, cfg config.Config, con *view.Console) []checkup {
	d, err := wiring.OpenDesk(ctx, cfg, con, false)
	if err != nil { // reported by checkRedis
		return nil
	}
	defer d.Close()
	stats, err := governor.Stats(ctx, d.Redis)
	if err != nil {
		return []checkup{failure("model server", err)}
	}
	var out []checkup
	for _, s := range stats {
		out = append(out, modelServer(s))
	}
	figures, err := d.Queue.Stats(ctx)
	if err != nil {
		return append(out, failure("model", err))
	}
	out = append(out, longAnswers(cfg.LLM, figures.Models)...)
	if !cfg.Researching.EnablePaperSearch {
		return out
	}
	pace := shared.NewPace(d.Redis)
	for _, name := range cfg.PaperSearch.Names() {
		left, err := pace.Left(ctx, papers.PaceKey(name))
		if err != nil {
			return append(out, failure("paper_search", err))
		}
		if left > longTurn {
			out = append(out, checkup{Name: "paper_search", Result: "note",
				Text: fmt.Sprintf("%s asked for a pause: all workers stop calling it for %s", papers.Label(name),
					left.Round(time.Second))})
		}
	}
	return out
}

// longAnswers reports the roles whose model exceeds max_tokens.
func longAnswers(models config.LLM, figures []redisqueue.ModelStats) (out []checkup) {
	for _, m := range wiring.RoleModels(models) {
		for _, f := range figures {
			if f.Role == string(m.Role) && f.Model == m.Name && f.Longest > 0 {
				out = append(out, checkup{Name: "model", Result: "note",
					Text: fmt.Sprintf("%s as %s: answers of up to %d tokens, more than max_tokens allows", m.Name, m.Role, f.Longest),
					Hint: "The server ignores max_tokens, or was asked again. Budgets set aside that many tokens for each such " +
						"call, and skip the call when they cannot."})
			}
		}
	}
	return out
}

// longTurn exceeds any delay that other searches cause in an index's queue.
const longTurn = 30 * time.Second

// modelServer returns the checkup of a model server.
func modelServer(s governor.Stat) checkup {
	c := checkup{Name: "model server", Result: "ok"}
	takes := "no concurrency limit seen yet"
	if s.Limit > 0 {
		takes = fmt.Sprintf("at most %s at a time, as learned", view.Counted(s.Limit, "call"))
	}
	// Two keys for the same host count as two servers.
	c.Text = fmt.Sprintf("%s (%s): %s; %s running, %d waiting; %d of %d tries refused (too many requests)",
		strings.ToValidUTF8(s.Host, "?"), s.Server[:min(8, len(s.Server))], takes, view.Counted(s.InFlight, "call"),
		s.Waiting,
		s.Throttled, s.Granted)
	if !s.Down.IsZero() {
		c.Result = "note"
		c.Text += "; away since " + s.Down.Local().Format("2006-01-02 15:04:05 MST") + view.Because(s.Why)
		c.Hint = "One call at a time checks whether it is back; the others wait."
	}
	return c
}
