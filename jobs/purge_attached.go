package jobs

import (
	"context"
	"errors"
	"path"
	"strings"

	"nightdesk/pipeline/knowledge"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
)

// attached purges documents attached to runs; they are deleted with the data of their last run. Documents without a
// listed run are kept while their enqueueing may still be in progress.
func (w *purging) attached(ctx context.Context) error {
	stater, ok := w.Store.(storage.Stater)
	if !ok {
		return nil
	}
	keys, err := w.Store.List(ctx, path.Dir(knowledge.SnapshotKey(knowledge.Attached, ""))+"/")
	if err != nil || len(keys) == 0 {
		return err
	}
	users, err := w.snapshotUsers(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		stat, err := stater.Stat(ctx, key)
		if errors.Is(err, storage.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		why := "the data of its runs no longer exists"
		if len(users[key]) == 0 {
			why = "no run uses them"
		}
		used, err := w.haveData(ctx, users[key])
		if err != nil {
			return err
		}
		if used || len(users[key]) == 0 && w.Now.Sub(stat.Stored) <= unknownFor {
			continue
		}
		name := strings.TrimSuffix(path.Base(key), path.Ext(key))
		if err := w.delete(ctx, Purged{Kind: "attached", Name: name, Bytes: stat.Size, Why: why},
			[]string{key}); err != nil {
			return err
		}
	}
	return nil
}

// haveData reports whether one of these runs is still active or has its data.
func (w *purging) haveData(ctx context.Context, runs []string) (bool, error) {
	for _, id := range runs {
		if w.gone[id] {
			continue
		}
		run, err := w.Queue.Run(ctx, id)
		if err != nil && !errors.Is(err, redisqueue.ErrNotFound) {
			return false, err
		}
		if err == nil && (!run.State.Final() || run.PublishedAt.IsZero()) {
			return true, nil
		}
		if whole, err := w.Store.Exists(ctx, storage.ManifestKey(id)); err != nil || whole {
			return whole, err
		}
	}
	return false, nil
}
