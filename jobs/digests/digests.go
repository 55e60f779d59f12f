// Package digests makes the digest of a batch from its runs, stores it, and reads it again.
//
// Entry points: [Make], [Put] and [Read].
package digests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rs/zerolog"

	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/digest"
	"nightdesk/pipeline/evidence"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Make builds the digest of a batch from its runs. For a run that has not ended, it contains only the state. The
// error is redisqueue.ErrNotFound if the batch does not exist.
func Make(ctx context.Context, q *redisqueue.Queue, store storage.Store, batch string) (digest.Digest, error) {
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
		if some = append(some, run); len(some) < factsAtOnce {
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

// factsAtOnce is the number of runs whose metadata are in memory at once.
const factsAtOnce = 64

// facts reads the metadata of runs, if there is any. Unreadable metadata is skipped, because one modified file must not
// prevent the digest.
func facts(ctx context.Context, store storage.Store, runs []topicqueue.Run) ([]digest.Run, error) {
	out := make([]digest.Run, len(runs))
	err := storage.Each(ctx, len(runs), func(ctx context.Context, i int) error {
		run := runs[i]
		out[i] = digest.Run{Run: run}
		if run.PublishedAt.IsZero() || run.StartedAt.IsZero() {
			return nil
		}
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
	return out, err
}

// Put stores a digest in all its formats, JSON last.
func Put(ctx context.Context, store storage.Store, d digest.Digest) error {
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

// Read returns the digest of a batch from storage. The error wraps storage.ErrNotExist if there is none.
func Read(ctx context.Context, store storage.Store, batch string) (digest.Digest, error) {
	return storage.GetJSON[digest.Digest](ctx, store, storage.DigestKey(batch, "json"))
}
