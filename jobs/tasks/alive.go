package tasks

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

// Workers returns the number of running workers of all hosts.
func (d *Dispatcher) Workers() (int, error) {
	workers, _, err := d.processes()
	return workers, err
}

// Schedulers returns the number of running schedulers of all hosts.
func (d *Dispatcher) Schedulers() (int, error) {
	_, schedulers, err := d.processes()
	return schedulers, err
}

func (d *Dispatcher) processes() (workers, schedulers int, err error) {
	servers, err := d.inspector.Servers()
	if err != nil {
		return 0, 0, fmt.Errorf("list the workers: %w", err)
	}
	seen := map[string]bool{} // a worker has several servers
	for _, s := range servers {
		if isScheduler(s) {
			schedulers++
		} else {
			seen[fmt.Sprint(s.Host, s.PID)] = true
		}
	}
	return len(seen), schedulers, nil
}

func isScheduler(s *asynq.ServerInfo) bool { _, ok := s.Queues[QueueScheduling]; return ok }
