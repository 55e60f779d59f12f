package wiring

import (
	"github.com/redis/go-redis/v9"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

// Number of files and connections open at the same time. Measured with a model: 25, plus 4 per slot. Pages and search
// engines need more.
const (
	ownFiles  = 40 // for an idle worker
	slotFiles = 8  // per slot
)

// FitSlots reduces the number of slots to fit the limit of open files, and warns with advice. A worker that cannot
// open another file or connection makes no progress. The Go runtime has already raised the soft limit to the hard
// limit.
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

// idleConnections returns the number of idle connections to keep, to one model server or to all pages.
func idleConnections(cfg config.Config) int {
	return min(64, 2*(cfg.Worker.Concurrency+cfg.Worker.ReportConcurrency))
}

// fewConnections limits the Redis connection pool if the limit of open files is low.
func fewConnections(options *redis.UniversalOptions) {
	const usual = 20 * slotFiles // at this limit, the default pool size is acceptable
	if limit := fileLimit(); limit > 0 && limit < usual {
		options.PoolSize = max(4, limit/slotFiles)
	}
}
