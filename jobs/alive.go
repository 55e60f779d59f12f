package jobs

import "fmt"

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
