package wiring

import (
	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

// Files and connections that are open at once. Measured with a model: 25, and 4 for each slot. Pages and search engines
// come on top.
const (
	ownFiles  = 40 // of a worker without work
	slotFiles = 8  // of a slot
)

// FitSlots lowers the number of slots to what the limit of open files allows, and says what to raise: a worker without
// room for another file or connection stands still. Go has raised the soft limit to the hard one.
func FitSlots(con *view.Console, w *config.Worker) {
	limit, slots := fileLimit(), w.Concurrency+w.ReportConcurrency
	need := ownFiles + slotFiles*slots
	if limit == 0 || limit >= need {
		return
	}
	fit := max(2, (limit-ownFiles)/slotFiles)
	w.ReportConcurrency = max(1, min(w.ReportConcurrency, fit/4))
	w.Concurrency = min(w.Concurrency, fit-w.ReportConcurrency)
	con.Warn("this process may open %d files, and %d slots (worker.concurrency and worker.report_concurrency) "+
		"need up to %d: "+
		"working with %d slots. Raise the limit with `ulimit -n %d`, LimitNOFILE= of systemd or ulimits: of Compose",
		limit, slots, need, w.Concurrency+w.ReportConcurrency, need)
}

// idleConnections is how many connections are kept for the next call: to one model server, or to all pages.
func idleConnections(cfg config.Config) int {
	return min(64, 2*(cfg.Worker.Concurrency+cfg.Worker.ReportConcurrency))
}

// fewConnections bounds the connections to Redis where files are few.
func fewConnections(options *redis.UniversalOptions) {
	const usual = 20 * slotFiles // for which the client's own bound leaves room
	if limit := fileLimit(); limit > 0 && limit < usual {
		options.PoolSize = max(4, limit/slotFiles)
	}
}
