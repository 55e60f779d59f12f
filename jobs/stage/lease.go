package stage

import (
	"context"
	"slices"
	"sync"
	"time"

	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
)

// leases holds the leases of this process, with the attempts that work under them.
type leases struct {
	mu   sync.Mutex
	held map[redisqueue.Lease]*heldLease
	back *sync.Cond // signals that a lease was renewed or has ended
	long time.Duration
}

type heldLease struct {
	*Attempt
	renewed time.Time
	ending  bool
}

// newLeases returns an empty set. Another worker may soon take a lease that was not renewed for long.
func newLeases(long time.Duration) *leases {
	l := &leases{held: map[redisqueue.Lease]*heldLease{}, long: long}
	l.back = sync.NewCond(&l.mu)
	return l
}

func (l *leases) add(a *Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[a.Lease] = &heldLease{Attempt: a, renewed: time.Now()}
}

func (l *leases) remove(a *Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, a.Lease)
	l.back.Broadcast()
}

// ending marks the lease of an attempt as being given up. Losing it no longer cancels the attempt; if another attempt
// has the lease, the transition is refused.
func (l *leases) ending(a *Attempt) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.held[a.Lease]; h != nil {
		h.ending = true
	}
}

// byRun returns the held leases grouped by run, because one script call renews all leases of a run. run: only this run;
// empty = all.
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

// renewed records the result of a renewal that started at time at. It cancels work under lost leases, and lets attempts
// of a paused run begin no new call.
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

// wait blocks while the lease has not been renewed for so long that another worker may soon take over the unit, because
// Redis is unreachable or this process was frozen. Calls in flight continue; no new call begins. It returns the cause
// of ctx's end.
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

// closeAll prevents all attempts from beginning new calls.
func (l *leases) closeAll(cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.held {
		h.gate.close(cause)
	}
}

// renew renews the held leases several times within their lifetime, and those of a run at once when it is cancelled or
// paused.
func (r *Runner) renew() {
	r.Every(r.Queue.Timing().Lease/4, func(ctx context.Context) { r.renewRuns(ctx, "") })
	r.Go(func(ctx, stopped context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(stopped, cancel)()
		r.Queue.Changes(ctx, func(runID string) {
			callCtx, cancel := context.WithTimeout(ctx, SaveTime)
			defer cancel()
			r.renewRuns(callCtx, runID)
		})
	})
}

func (r *Runner) renewRuns(ctx context.Context, run string) {
	for runID, held := range r.leases.byRun(run) {
		at := time.Now()
		renewed, err := r.Queue.Renew(ctx, runID, held)
		if err != nil {
			r.Log.Warn().Err(err).Str("run", runID).Msg("leases not renewed")
			continue
		}
		r.leases.renewed(held, renewed, at)
	}
}

// Leased returns the storage of the attempt, which changes nothing while another attempt may hold the lease. A
// publisher that was frozen must not delete the manifest or write a file when another publisher has completed the
// bundle meanwhile.
func (a *Attempt) Leased() storage.Store { return leasedStore{a.Store, a} }

type leasedStore struct {
	storage.Store
	a *Attempt
}

func (s leasedStore) Put(ctx context.Context, key string, body []byte) error {
	if err := s.a.Wait(ctx); err != nil {
		return err
	}
	return s.Store.Put(ctx, key, body)
}

func (s leasedStore) Delete(ctx context.Context, key string) error {
	if err := s.a.Wait(ctx); err != nil {
		return err
	}
	return s.Store.Delete(ctx, key)
}
