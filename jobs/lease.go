package jobs

import (
	"context"
	"slices"
	"sync"
	"time"

	"nightdesk/topicqueue/redisqueue"
)

// leases are those that this process holds, with the attempts that work under them.
type leases struct {
	mu   sync.Mutex
	held map[redisqueue.Lease]*heldLease
	back *sync.Cond // something was renewed or ended
	long time.Duration
}

type heldLease struct {
	*attempt
	renewed time.Time
	ending  bool
}

// newLeases: a lease that was not renewed for long may soon be another's.
func newLeases(long time.Duration) *leases {
	l := &leases{held: map[redisqueue.Lease]*heldLease{}, long: long}
	l.back = sync.NewCond(&l.mu)
	return l
}

func (l *leases) add(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[a.Lease] = &heldLease{attempt: a, renewed: time.Now()}
}

func (l *leases) remove(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, a.Lease)
	l.back.Broadcast()
}

// ending notes that an attempt gives its lease up: that it is lost is no reason to stop any more. If another has it,
// the transition is refused.
func (l *leases) ending(a *attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.held[a.Lease]; h != nil {
		h.ending = true
	}
}

// byRun returns the held leases grouped by run: one script call renews all of a run. run: of this one only; empty =
// all.
func (l *leases) byRun(run string) map[string][]redisqueue.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string][]redisqueue.Lease{}
	for lease := range l.held {
		if run == "" || run == lease.RunID {
			out[lease.RunID] = append(out[lease.RunID], lease)
		}
	}
	return out
}

// renewed notes what came of a renewal that began at this time: the work under lost leases ends, that of a paused run
// begins nothing new.
func (l *leases) renewed(leases []redisqueue.Lease, r redisqueue.Renewed, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lease := range leases {
		h := l.held[lease]
		switch {
		case h == nil:
			continue
		case slices.Contains(r.Lost, lease.Unit) && !h.ending:
			h.cancel(redisqueue.ErrFenced)
		case r.Paused && lease.Unit != redisqueue.UnitPublish:
			h.gate.close(errPaused)
		}
		h.renewed = at
	}
	l.back.Broadcast()
}

// wait blocks while the lease was not renewed for so long that another may soon take the unit over: Redis is out of
// reach, or this process was frozen. What is in flight goes on, nothing new begins. It returns the cause of ctx's end.
func (l *leases) wait(ctx context.Context, lease redisqueue.Lease) error {
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.back.Broadcast()
	})
	defer stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for ctx.Err() == nil {
		h := l.held[lease]
		if h == nil || time.Since(h.renewed) <= l.long {
			return nil
		}
		l.back.Wait()
	}
	return context.Cause(ctx)
}

// closeAll lets no attempt begin a new call.
func (l *leases) closeAll(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		h.gate.close(cause)
	}
}

// renew prolongs the held leases several times within their life, and those of a run at once when it was cancelled or
// paused.
func (w *Worker) renew() {
	w.every(w.Queue.Timing().Lease/4, func(ctx context.Context) { w.renewRuns(ctx, "") })
	w.background.Go(func() {
		ctx, cancel := context.WithCancel(context.WithoutCancel(w.work))
		defer cancel()
		stop := context.AfterFunc(w.stopped, cancel)
		defer stop()
		w.Queue.Changes(ctx, func(runID string) {
			callCtx, cancel := context.WithTimeout(ctx, saveTime)
			defer cancel()
			w.renewRuns(callCtx, runID)
		})
	})
}

func (w *Worker) renewRuns(ctx context.Context, run string) {
	for runID, held := range w.leases.byRun(run) {
		at := time.Now()
		r, err := w.Queue.Renew(ctx, runID, held)
		if err != nil {
			w.Log.Warn().Err(err).Str("run", runID).Msg("leases not renewed")
			continue
		}
		w.leases.renewed(held, r, at)
	}
}
