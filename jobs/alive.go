package jobs

import (
	"fmt"

	"github.com/hibiken/asynq"
)

// Alive counts the workers, or the schedulers, of a host that have given a sign of life within about ten seconds, and
// the tasks that they are working now. Single runs (`nightdesk run`) are counted as workers.
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

// QueueScheduling is where asynq wakes schedulers; a server of it is one of them.
const QueueScheduling = "scheduling"

// Schedulers returns how many schedulers are running.
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
