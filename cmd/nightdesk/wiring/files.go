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
	limit, slots := fileLimit(), w.Concurrency+reportSlots(w.Concurrency)
	need := ownFiles + slotFiles*slots
	if limit == 0 || limit >= need {
		return
	}
	fit := max(2, (limit-ownFiles)/slotFiles)
	w.Concurrency = min(w.Concurrency, fit-reportSlots(fit))
	con.Warn("this process may open %d files, and %d slots (worker.concurrency and a fifth of it for reports) "+
		"need up to %d: "+
		"working with %d slots. Raise the limit with `ulimit -n %d`, LimitNOFILE= of systemd or ulimits: of Compose",
		limit, slots, need, w.Concurrency+reportSlots(w.Concurrency), need)
}

// reportSlots returns the number of slots for reports only, which a worker has in addition to concurrency, so that
// reports never wait for research. A run researches several times as long as it writes, so a fifth keeps up.
func reportSlots(concurrency int) int { return max(1, concurrency/5) }

// idleConnections returns the number of idle connections to keep, to one model server or to all pages.
func idleConnections(cfg config.Config) int {
	return min(64, 2*(cfg.Worker.Concurrency+reportSlots(cfg.Worker.Concurrency)))
}

// fewConnections limits the Redis connection pool if the limit of open files is low.
func fewConnections(options *redis.UniversalOptions) {
	const usual = 20 * slotFiles // at this limit, the default pool size is acceptable
	if limit := fileLimit(); limit > 0 && limit < usual {
		options.PoolSize = max(4, limit/slotFiles)
	}
}
