package jobs

import (
	"context"
	"sync"
	"time"

	"nightdesk/topicqueue/redisqueue"
)

// leases are those that this process holds, with the way to end the work under them.
type leases struct {
	mu   sync.Mutex
	held map[redisqueue.Lease]context.CancelCauseFunc
}

func (l *leases) add(lease redisqueue.Lease, cancel context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[redisqueue.Lease]context.CancelCauseFunc{}
	}
	l.held[lease] = cancel
}

func (l *leases) remove(lease redisqueue.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, lease)
}

// byRun returns the held leases grouped by run: one script call renews all of a run.
func (l *leases) byRun() map[string][]redisqueue.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string][]redisqueue.Lease{}
	for lease := range l.held {
		out[lease.RunID] = append(out[lease.RunID], lease)
	}
	return out
}

func (l *leases) cancel(lease redisqueue.Lease, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel := l.held[lease]; cancel != nil {
		cancel(cause)
	}
}

// renew prolongs the held leases four times within their life, and ends the work whose lease another attempt has.
func (w *Worker) renew() {
	defer close(w.renewed)
	tick := time.NewTicker(redisqueue.LeaseTime / 4)
	defer tick.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		for runID, held := range w.leases.byRun() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(w.work), redisqueue.LeaseTime/4)
			lost, err := w.Queue.Renew(ctx, runID, held)
			cancel()
			if err != nil {
				w.Log.Warn().Err(err).Str("run", runID).Msg("leases not renewed")
				continue
			}
			for _, unit := range lost {
				for _, lease := range held {
					if lease.Unit == unit {
						w.leases.cancel(lease, redisqueue.ErrFenced)
					}
				}
			}
		}
	}
}
