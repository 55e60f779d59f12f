package jobs

import (
	"fmt"

	"github.com/hibiken/asynq"
)

// Alive counts the workers, or the schedulers, of a host with a heartbeat in the last ten seconds or so, and their
// active tasks. Single runs (`nightdesk run`) are counted as workers.
func (d *Dispatcher) Alive(host string, schedulers bool) (processes, tasks int, err error) {
	servers, err := d.inspector.Servers()
	if err != nil {
		return 0, 0, fmt.Errorf("list the workers: %w", err)
	}
	seen := map[int]bool{}
	for _, s := range servers { // a worker has several
		if s.Host == host && isScheduler(s) == schedulers {
			seen[s.PID] = true
			tasks += len(s.ActiveWorkers)
		}
	}
	return len(seen), tasks, nil
}

// QueueScheduling is the queue by which asynq wakes schedulers. A server that serves it is a scheduler.
const QueueScheduling = "scheduling"

// Schedulers returns the number of running schedulers.
func (d *Dispatcher) Schedulers() (int, error) {
	servers, err := d.inspector.Servers()
	if err != nil {
		return 0, fmt.Errorf("count the schedulers: %w", err)
	}
	n := 0
	for _, server := range servers {
		if isScheduler(server) {
			n++
		}
	}
	return n, nil
}

func isScheduler(s *asynq.ServerInfo) bool { _, ok := s.Queues[QueueScheduling]; return ok }
