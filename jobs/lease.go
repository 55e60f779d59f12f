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
	held map[redisqueue.Lease]*heldLease
}

type heldLease struct {
	cancel  context.CancelCauseFunc
	renewed time.Time
}

func (l *leases) add(lease redisqueue.Lease, cancel context.CancelCauseFunc) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[redisqueue.Lease]*heldLease{}
	}
	l.held[lease] = &heldLease{cancel: cancel, renewed: time.Now()}
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

// renewed notes that leases were renewed by a call that began at this time, but for the lost ones, whose work ends.
func (l *leases) renewed(leases []redisqueue.Lease, lost []string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lease := range leases {
		h := l.held[lease]
		if h == nil {
			continue
		}
		h.renewed = at
		for _, unit := range lost {
			if unit == lease.Unit {
				h.cancel(redisqueue.ErrFenced)
			}
		}
	}
}

// endSilent ends the work under leases that were not renewed for so long that others may soon take it over: Redis is
// out of reach, or this process was frozen.
func (l *leases) endSilent(limit time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		if time.Since(h.renewed) > limit {
			h.cancel(redisqueue.ErrFenced)
		}
	}
}

// renew prolongs the held leases several times within their life.
func (w *Worker) renew() {
	lease := w.Queue.Timing().Lease
	w.every(lease/4, func(ctx context.Context) {
		w.leases.endSilent(lease * 3 / 4)
		for runID, held := range w.leases.byRun() {
			at := time.Now()
			lost, err := w.Queue.Renew(ctx, runID, held)
			if err != nil {
				w.Log.Warn().Err(err).Str("run", runID).Msg("leases not renewed")
				continue
			}
			w.leases.renewed(held, lost, at)
		}
	})
}
