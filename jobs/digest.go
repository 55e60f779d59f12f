package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/hibiken/asynq"
	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/evidence"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// KindDigest is the task that writes the digest of a batch. It belongs to no run: generation and state belong to the
// batch, and repeating it writes the same.
const KindDigest = "batch:digest"

type digestPayload struct {
	Batch      string `json:"batch"`
	Generation int    `json:"generation"`
}

func (p *digestPayload) check() error {
	if p.Batch == "" {
		return errors.New("a batch is needed")
	}
	return nil
}

func digestID(batch string, generation int) string {
	return "digest:" + batch + ":" + strconv.Itoa(generation)
}

// enqueueDigest enqueues the digest of a batch. If a dead task has the same id, it advances to a new generation.
func (d *Dispatcher) enqueueDigest(ctx context.Context, q *redisqueue.Queue, batch string, generation int) error {
	for {
		id := digestID(batch, generation)
		queue := queueName(queueReporting, "")
		err := d.put(ctx, KindDigest, queue, id, digestPayload{batch, generation}, asynq.MaxRetry(math.MaxInt32))
		if !errors.Is(err, asynq.ErrTaskIDConflict) {
			return err
		}
		dead, active, err := d.dead(queue, id)
		if err != nil || !dead {
			return err
		}
		next, err := q.AdvanceDigest(ctx, batch, generation, active)
		if err != nil || next == generation {
			return err
		}
		generation = next
	}
}

// digestHandler writes the digests of batches.
type digestHandler struct {
	queue      *redisqueue.Queue
	store      storage.Store
	dispatcher *Dispatcher
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
			err = h.dispatcher.enqueueDigest(ctx, h.queue, b.Name, generation)
		}
		if err != nil {
			h.log.Warn().Err(err).Str("batch", b.Name).Msg("batch not swept")
		}
	}
}

// work makes and stores the digest of a batch, and announces the end of the batch.
func (h digestHandler) work(ctx context.Context, task *asynq.Task) error {
	var p digestPayload
	if err := decodeTask(task, &p); err != nil {
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
	d, err := MakeDigest(ctx, h.queue, h.store, p.Batch)
	if err != nil {
		return err
	}
	if err := putDigest(ctx, h.store, d); err != nil {
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

// MakeDigest builds the digest of a batch from its runs. For a run that has not ended, it contains only the state. The
// error is redisqueue.ErrNotFound if the batch does not exist.
func MakeDigest(ctx context.Context, q *redisqueue.Queue, store storage.Store, batch string) (digest.Digest, error) {
	known, err := q.Batch(ctx, batch)
	if err != nil {
		return digest.Digest{}, err
	}
	b := digest.NewBuilder(batch, known.CreatedAt)
	var bundles []digest.Ref // bundles whose claims are compared
	var some []topicqueue.Run
	add := func() error {
		runs, err := facts(ctx, store, some)
		for _, run := range runs {
			b.Add(run)
			if run.Report != "" && !run.PublishedAt.IsZero() {
				bundles = append(bundles, digest.RefOf(run))
			}
		}
		some = some[:0]
		return err
	}
	err = q.Runs(ctx, batch, func(run topicqueue.Run) error {
		if some = append(some, run); len(some) < 8*factsAtOnce {
			return nil
		}
		return add()
	})
	if err == nil {
		err = add()
	}
	if err != nil {
		return digest.Digest{}, err
	}
	found, complete, err := digest.Between(ctx, bundles,
		func(ctx context.Context, runID string) ([]evidence.Claim, error) {
			return bundle.Claims(ctx, store, runID)
		})
	if err != nil {
		return digest.Digest{}, fmt.Errorf("compare the reports of batch %q: %w", batch, err)
	}
	b.Contradict(found, complete)
	return b.Digest(), nil
}

// factsAtOnce is the number of metadata files read in parallel.
const factsAtOnce = 8

// facts reads the metadata of runs, if there is any. Unreadable metadata is skipped, because one modified file must not
// prevent the digest.
func facts(ctx context.Context, store storage.Store, runs []topicqueue.Run) ([]digest.Run, error) {
	out := make([]digest.Run, len(runs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(factsAtOnce)
	for i, run := range runs {
		out[i] = digest.Run{Run: run}
		if run.PublishedAt.IsZero() || run.StartedAt.IsZero() {
			continue
		}
		g.Go(func() error {
			body, err := store.Get(ctx, storage.MetadataKey(run.ID))
			if errors.Is(err, storage.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if out[i].Facts, err = digest.Read(body); err != nil {
				zerolog.Ctx(ctx).Warn().Err(err).Str("run", run.ID).Msg("unreadable run omitted from the digest")
			}
			return nil
		})
	}
	return out, g.Wait()
}

// putDigest stores a digest in all its formats, JSON last.
func putDigest(ctx context.Context, store storage.Store, d digest.Digest) error {
	beside := func(key string) string { return "../../" + key }
	page, err := d.HTML(beside)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the digest of batch %s: %w", d.Batch, err)
	}
	for _, f := range []struct {
		form string
		body []byte
	}{{"md", d.Markdown(beside)}, {"html", page}, {"json", append(data, '\n')}} {
		if err := store.Put(ctx, storage.DigestKey(d.Batch, f.form), f.body); err != nil {
			return err
		}
	}
	return nil
}

// ReadDigest returns the digest of a batch from storage. The error wraps storage.ErrNotExist if there is none.
func ReadDigest(ctx context.Context, store storage.Store, batch string) (digest.Digest, error) {
	var d digest.Digest
	key := storage.DigestKey(batch, "json")
	body, err := store.Get(ctx, key)
	if err != nil {
		return d, err
	}
	if err := json.Unmarshal(body, &d); err != nil {
		return d, fmt.Errorf("read %s: not a valid digest: %w", store.Location(key), err)
	}
	return d, nil
}
