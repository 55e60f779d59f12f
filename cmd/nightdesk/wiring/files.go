package wiring

import (
	"nightdesk/config"
)

// reportSlots returns the number of slots for reports only, which a worker has in addition to concurrency, so that
// reports never wait for research. A run researches several times as long as it writes, so a fifth keeps up.
func reportSlots(concurrency int) int { return max(1, concurrency/5) }

// idleConnections returns the number of idle connections to keep, to one model server or to all pages.
func idleConnections(cfg config.Config) int {
	return min(64, 2*(cfg.Worker.Concurrency+reportSlots(cfg.Worker.Concurrency)))
}
