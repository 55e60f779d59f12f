package jobs

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// freshSnapshot is how long a snapshot stays regardless of the limits. The runs of the enqueueing that published it may
// not exist yet.
const freshSnapshot = 24 * time.Hour

// snapshot is a published version of a knowledge base.
type snapshot struct {
	key string // knowledge/<name>/<version>.sqlite
	storage.Stat
	why string
}

// snapshots purges versions of knowledge bases, except the newest version of a base and versions that listed runs use.
// An ended run uses its version as long as it can be retried, that is, while its state or data exists. Replaying a
// report needs no knowledge base.
func (w *purging) snapshots(ctx context.Context) error {
	stater, ok := w.Store.(storage.Stater)
	if w.Knowledge == (Keep{}) || !ok {
		return nil
	}
	keys, err := w.Store.List(ctx, "knowledge/")
	if err != nil {
		return err
	}
	bases := map[string][]snapshot{}
	for _, key := range keys {
		if name, version := path.Split(strings.TrimPrefix(key, "knowledge/")); name != "" &&
			strings.HasSuffix(version, ".sqlite") && name != knowledge.Attached+"/" {
			stat, err := stater.Stat(ctx, key)
			if errors.Is(err, storage.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			bases[name] = append(bases[name], snapshot{key: key, Stat: stat})
		}
	}
	var over []snapshot
	for _, list := range bases {
		slices.SortFunc(list, func(a, b snapshot) int {
			return cmp.Or(b.Stored.Compare(a.Stored), cmp.Compare(a.key, b.key))
		})
		for rank, s := range list[1:] {
			if s.why = w.Knowledge.over(s.Stored, w.Now, rank+1); s.why != "" && w.Now.Sub(s.Stored) > freshSnapshot {
				over = append(over, s)
			}
		}
	}
	if len(over) == 0 {
		return nil
	}
	users, err := w.snapshotUsers(ctx)
	if err != nil {
		return err
	}
	slices.SortFunc(over, func(a, b snapshot) int { return cmp.Compare(a.key, b.key) })
	for _, s := range over {
		if used, err := w.retriable(ctx, users[s.key]); err != nil {
			return err
		} else if used {
			continue
		}
		name := strings.TrimSuffix(strings.TrimPrefix(s.key, "knowledge/"), ".sqlite")
		if err := w.delete(ctx, Purged{Kind: "knowledge", Name: name, Bytes: s.Size, Why: s.why},
			[]string{s.key}); err != nil {
			return err
		}
	}
	return nil
}

// snapshotUsers returns, by snapshot key, the listed runs that use or will use a snapshot.
func (w *purging) snapshotUsers(ctx context.Context) (map[string][]string, error) {
	users, batches := map[string][]string{}, map[string]bool{}
	for _, batch := range w.batches {
		batches[batch] = true
	}
	for batch := range batches {
		err := w.Queue.Runs(ctx, batch, func(run topicqueue.Run) error {
			if o := run.Options; o.KnowledgeVersion != "" && w.batches[run.ID] != "" { // not being unlisted
				key := knowledge.SnapshotKey(o.KnowledgeBase, o.KnowledgeVersion)
				users[key] = append(users[key], run.ID)
			}
			if v := run.Options.Attached; v != "" && w.batches[run.ID] != "" {
				key := knowledge.SnapshotKey(knowledge.Attached, v)
				users[key] = append(users[key], run.ID)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return users, nil
}

// retriable reports whether one of these runs has not ended or can be retried.
func (w *purging) retriable(ctx context.Context, runs []string) (bool, error) {
	for _, id := range runs {
		if _, err := w.Queue.Run(ctx, id); err == nil {
			return true, nil
		} else if !errors.Is(err, redisqueue.ErrNotFound) {
			return false, err
		}
		if whole, err := w.Store.Exists(ctx, storage.ManifestKey(id)); err != nil || whole {
			return whole, err
		}
	}
	return false, nil
}
