package bundle

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Archive reads runs from their bundles in storage. It has the same methods as redisqueue.Queue, which reads runs from
// Redis.
type Archive struct{ Store storage.Store }

// Runs returns the runs that have a bundle, oldest first. It logs and omits bundles that cannot be read.
func (a Archive) Runs(ctx context.Context) ([]topicqueue.Run, error) {
	ids, err := a.IDs(ctx)
	if err != nil {
		return nil, err
	}
	runs := make([]topicqueue.Run, len(ids))
	err = storage.Each(ctx, len(ids), func(ctx context.Context, i int) error {
		run, err := a.Run(ctx, ids[i])
		if err != nil && ctx.Err() == nil {
			zerolog.Ctx(ctx).Warn().Err(err).Str("run", ids[i]).Msg("unreadable bundle skipped")
			return nil
		}
		runs[i] = run
		return err
	})
	if err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r topicqueue.Run) bool { return r.ID == "" })
	slices.SortStableFunc(runs, func(x, y topicqueue.Run) int {
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
	return runs, nil
}

// IDs returns the ids of all runs that have a complete or incomplete bundle.
func (a Archive) IDs(ctx context.Context) ([]string, error) {
	const folder = "reports/"
	keys, err := a.Store.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, key := range keys {
		id := strings.TrimPrefix(strings.TrimSuffix(key, "_metadata.json"), folder)
		if key == storage.MetadataKey(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Run returns the run in its final state, as published: the files of early versions do not say so. The error wraps
// ErrNoBundle if it has no complete bundle.
func (a Archive) Run(ctx context.Context, runID string) (topicqueue.Run, error) {
	run, err := ReadRun(ctx, a.Store, runID)
	if run.PublishedAt.IsZero() {
		run.PublishedAt = run.EndedAt
	}
	run.Unpublished = ""
	return run, err
}

// Find returns a run and its blocks from the queue or, if it is no longer there, from its bundle; stored tells which.
// The error wraps ErrNoBundle if neither has the run.
func (a Archive) Find(ctx context.Context, queue *redisqueue.Queue, runID string) (run topicqueue.Run,
	blocks []topicqueue.Block, stored bool, err error) {
	if run, err = queue.Run(ctx, runID); err == nil {
		blocks, err = queue.Blocks(ctx, runID)
		return run, blocks, false, err
	}
	if !errors.Is(err, redisqueue.ErrNotFound) {
		return run, nil, false, err
	}
	if run, err = a.Run(ctx, runID); err != nil {
		return run, nil, true, err
	}
	blocks, err = a.Blocks(ctx, runID)
	return run, blocks, true, err
}

// Blocks returns the topic blocks of a run.
func (a Archive) Blocks(ctx context.Context, runID string) ([]topicqueue.Block, error) {
	queue, err := queueJSON.read(ctx, a.Store, runID)
	var blocks []topicqueue.Block
	for _, b := range queue.Blocks {
		blocks = append(blocks, b.Block)
	}
	return blocks, err
}

// Traces returns the traces of a topic block.
func (a Archive) Traces(ctx context.Context, runID, block string) ([]topicqueue.ToolTrace, error) {
	queue, err := queueJSON.read(ctx, a.Store, runID)
	for _, b := range queue.Blocks {
		if b.ID == block {
			return b.ToolTraces, err
		}
	}
	return nil, err
}

// Usage returns the model calls of a run.
func (a Archive) Usage(ctx context.Context, runID string) ([]topicqueue.Usage, error) {
	costs, err := costsJSON.read(ctx, a.Store, runID)
	return costs.Records, err
}
