package jobs

import (
	"context"
	"errors"
	"fmt"
	"nightdesk/jobs/digests"
	"nightdesk/jobs/notify"
	"nightdesk/jobs/tasks"
	"nightdesk/pipeline/digest"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"time"

	"github.com/hibiken/asynq"
	"github.com/rs/zerolog"
)

// digestHandler writes the digests of batches.
type digestHandler struct {
	queue      *redisqueue.Queue
	store      storage.Store
	dispatcher *tasks.Dispatcher
	log        zerolog.Logger
	now        func() time.Time
}

// sweep enqueues the digests of batches that have ended.
func (h digestHandler) sweep(ctx context.Context) {
	due, err := h.queue.DueBatches(ctx)
	if err != nil {
		h.log.Warn().Err(err).Msg("batches not swept")
		return
	}
	for _, b := range due {
		generation, err := h.queue.SweepBatch(ctx, b)
		if err == nil && generation > 0 {
			err = h.dispatcher.EnqueueDigest(ctx, h.queue, b.Name, generation)
		}
		if err != nil {
			h.log.Warn().Err(err).Str("batch", b.Name).Msg("batch not swept")
		}
	}
}

// work makes and stores the digest of a batch, and announces the end of the batch.
func (h digestHandler) work(ctx context.Context, task *asynq.Task) error {
	var p tasks.DigestPayload
	if err := tasks.Decode(task, &p); err != nil {
		return err
	}
	end, err := h.queue.Ending(ctx, p.Batch)
	if err != nil {
		return err
	}
	if end.Digested >= p.Generation || !end.DigestDue() { // already made, or runs have begun again
		return nil
	}
	started := h.now()
	d, err := digests.Make(ctx, h.queue, h.store, p.Batch)
	if err != nil {
		return err
	}
	if err := digests.Put(ctx, h.store, d); err != nil {
		return err
	}
	if err := h.tellBatchEnd(ctx, p, d); err != nil { // before the commit, so that a crash cannot lose it
		return err
	}
	if err := h.queue.Digested(ctx, p.Batch, p.Generation); err != nil {
		return err
	}
	zerolog.Ctx(ctx).Info().Str("batch", p.Batch).Int("runs", d.Runs).Dur("took_ms",
		h.now().Sub(started)).Msg("digest stored")
	return nil
}

// batchEnded is the data of the event batch.ended.
type batchEnded struct {
	Batch   string                      `json:"batch"`
	Runs    int                         `json:"runs"`
	States  map[topicqueue.RunState]int `json:"states"`
	Outcome string                      `json:"outcome"` // in one line
	First   []string                    `json:"first"`   // items that need attention, one per line
	CostUSD float64                     `json:"cost_usd"`
	Digest  string                      `json:"digest"` // location of its page
}

// tellBatchEnd announces a digest that is in storage.
func (h digestHandler) tellBatchEnd(ctx context.Context, p tasks.DigestPayload, d digest.Digest) error {
	e := batchEnded{
		Batch: d.Batch, Runs: d.Runs, States: d.States, Outcome: d.Outcome(), First: []string{}, CostUSD: d.Usage.CostUSD,
		Digest: h.store.Location(storage.DigestKey(d.Batch, "html")),
	}
	for _, item := range d.First {
		e.First = append(e.First, item.Line())
	}
	err := h.dispatcher.Notify(ctx,
		notify.Event{Type: notify.BatchEnded, Subject: fmt.Sprintf("%s/%d/%d", p.Batch, d.CreatedAt.UnixMilli(),
			p.Generation), Time: h.now(), Data: e})
	return errors.Join(err, h.dispatcher.MailDigest(ctx, p.Batch, p.Generation))
}
