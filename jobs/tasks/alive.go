package tasks

import "fmt"

// Alive counts the workers, or the schedulers, with a heartbeat in the last ten seconds or so, and their active tasks.
// Single runs (`nightdesk run`) are counted as workers. host: only those of this host; empty: of all.
func (d *Dispatcher) Alive(host string, schedulers bool) (processes, tasks int, err error) {
	servers, err := d.inspector.Servers()
	if err != nil {
		return 0, 0, fmt.Errorf("list the workers: %w", err)
	}
	seen := map[string]bool{}
	for _, s := range servers { // a worker has several
		_, schedules := s.Queues[QueueScheduling]
		if (host == "" || s.Host == host) && schedules == schedulers {
			seen[fmt.Sprint(s.Host, s.PID)] = true
			tasks += len(s.ActiveWorkers)
		}
	}
	return len(seen), tasks, nil
}

// QueueScheduling is the queue by which asynq wakes schedulers. A server that serves it is a scheduler.
const QueueScheduling = "scheduling"

// Workers returns the number of running workers of all hosts.
func (d *Dispatcher) Workers() (int, error) {
	workers, _, err := d.Alive("", false)
	return workers, err
}

// Schedulers returns the number of running schedulers of all hosts.
func (d *Dispatcher) Schedulers() (int, error) {
	schedulers, _, err := d.Alive("", true)
	return schedulers, err
}
