package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/jobs/bundle"
	"nightdesk/jobs/history"
	"nightdesk/pipeline/reporting"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// publishHandler stores the results of runs.
type publishHandler struct {
	bundles    bundle.Services
	findings   *findings
	memories   *memories
	dispatcher *Dispatcher
	expiry     time.Duration // lifetime of a run's state in Redis after publication
}

// work stores the results of an ended run: the report, its data and evidence, and the manifest last. Until the manifest
// exists, any worker can repeat it at any time.
func (h publishHandler) work(ctx context.Context, a *attempt) error {
	return steady(ctx, "publish", func(ctx context.Context) error {
		err := h.put(ctx, a)
		if err != nil && !errors.Is(err, redisqueue.ErrFenced) && ctx.Err() == nil {
			if noteErr := a.queue.Unpublished(ctx, a.Lease, err.Error()); noteErr != nil {
				zerolog.Ctx(ctx).Warn().Err(noteErr).Msg("publish error not recorded")
			}
		}
		return err
	})
}

func (h publishHandler) put(ctx context.Context, a *attempt) error {
	if err := a.queue.LeaveBudgets(ctx, a.Run, nightOf(a.Run, h.bundles.Now())); err != nil {
		return err
	}
	if a.Run.StartedAt.IsZero() { // cancelled or out of time while waiting: only its line in the batch remains
		return h.published(ctx, a)
	}
	in, err := h.findings.read(ctx, a.Run)
	if err != nil {
		return err
	}
	var rep *reporting.Report
	content, err := a.queue.Report(ctx, a.Run.ID)
	if err != nil {
		return err
	}
	if content != nil {
		rep = &reporting.Report{}
		if err := json.Unmarshal(content, rep); err != nil {
			return endedError{fmt.Errorf("decode the report of run %s: %w", a.Run.ID, err)}
		}
	}
	pages, err := h.findings.pages(ctx, in)
	if err != nil {
		return err
	}
	b := bundle.NewWriter(h.bundles, leasedStore{h.bundles.Store, a}, in, pages, rep)
	if err := b.Gather(ctx); err != nil {
		return err
	}
	if n := len(b.Missing); n > 0 {
		zerolog.Ctx(ctx).Warn().Int("texts", n).Int("needed",
			b.Lost).Msg("texts are lost: the machine that kept them during the storage outage did not return")
	}
	if b.Lost > 0 && a.Run.State == topicqueue.RunCompleted {
		a.Run.State = topicqueue.RunPartial
		a.Run.Reason = fmt.Sprintf("%d texts that the run's claims rest on are lost: the machine that kept them "+
			"during the storage outage did not return", b.Lost)
		b.In.Run, in.Run = a.Run, a.Run
	}
	if rep != nil {
		rep.AddHead(a.Run)
	}
	if err := b.Write(ctx); err != nil {
		return err
	}
	a.Run.Tally = &b.Tally
	if err := h.memories.remember(ctx, a, b.In, rep); err != nil {
		return err
	}
	if a.Run.Options.Follows == "" { // a question about a report is not part of a topic's history
		if err := history.Record(ctx, h.bundles.Store, a.Run); err != nil {
			return err
		}
	}
	left, err := h.bundles.Store.List(ctx, storage.JournalPrefix(a.Run.ID))
	if err != nil {
		return err
	}
	for _, key := range left {
		if err := h.bundles.Store.Delete(ctx, key); err != nil {
			return err
		}
	}
	return h.published(ctx, a)
}

// published commits that a run's bundle is in storage.
func (h publishHandler) published(ctx context.Context, a *attempt) error {
	if err := h.tellEnd(ctx, a); err != nil {
		return err
	}
	if err := a.traceRun(ctx, h.bundles.Now()); err != nil {
		return err
	}
	return a.queue.Published(ctx, a.Lease, a.Run, h.expiry)
}

// leasedStore changes nothing while another attempt may hold the lease. A publisher that was frozen must not delete the
// manifest or write a file when another publisher has completed the bundle meanwhile.
type leasedStore struct {
	storage.Store
	a *attempt
}

func (s leasedStore) Put(ctx context.Context, key string, body []byte) error {
	if err := s.a.leases.wait(ctx, s.a.Lease); err != nil {
		return err
	}
	return s.Store.Put(ctx, key, body)
}

func (s leasedStore) PutMany(ctx context.Context, list []storage.Artefact) error {
	many, ok := s.Store.(storage.ManyPutter)
	if !ok { // Put waits for the lease each time
		return storage.PutMany(ctx, struct{ storage.Store }{s}, list)
	}
	if err := s.a.leases.wait(ctx, s.a.Lease); err != nil {
		return err
	}
	return many.PutMany(ctx, list)
}

func (s leasedStore) Delete(ctx context.Context, key string) error {
	if err := s.a.leases.wait(ctx, s.a.Lease); err != nil {
		return err
	}
	return s.Store.Delete(ctx, key)
}
