package purge

import (
	"cmp"
	"context"
	"errors"
	"maps"
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

// knowledge purges versions of knowledge bases by the limits, except the newest version of a base, and attached
// documents with the data of the last run that has them. What a listed run may need stays: an ended run needs it as
// long as it can be retried, that is, while its state or data exists. Replaying a report needs no knowledge base.
func (w *purging) knowledge(ctx context.Context) error {
	bases, err := w.snapshots(ctx)
	if err != nil || len(bases) == 0 {
		return err
	}
	users, err := w.users(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(bases)) {
		current := ""
		if name != knowledge.Attached {
			if current, err = knowledge.Current(ctx, w.Store, name); err != nil {
				return err
			}
		}
		for rank, s := range bases[name] {
			item := Item{Kind: "knowledge", Name: strings.TrimSuffix(strings.TrimPrefix(s.Key, "knowledge/"), ".sqlite"),
				Bytes: s.Size}
			age := w.Now.Sub(s.Stored)
			if name != knowledge.Attached {
				if item.Why = w.over(s.Stored, rank); rank == 0 || age <= freshSnapshot ||
					s.Key == knowledge.SnapshotKey(name, current) {
					item.Why = ""
				}
			} else if item.Kind, item.Name = "attached", path.Base(item.Name); len(users[s.Key]) > 0 {
				item.Why = "the data of its runs no longer exists"
			} else if age > unknownFor { // its enqueueing is no longer in progress
				item.Why = "no run uses them"
			}
			if item.Why == "" {
				continue
			}
			if needed, err := w.needed(ctx, users[s.Key]); err != nil {
				return err
			} else if needed {
				continue
			}
			if err := w.delete(ctx, item, []string{s.Key}); err != nil {
				return err
			}
		}
	}
	return nil
}

// snapshots returns the stored versions of each knowledge base, knowledge/<name>/<version>.sqlite, newest first.
func (w *purging) snapshots(ctx context.Context) (map[string][]storage.Listed, error) {
	list, err := w.Store.ListStats(ctx, "knowledge/")
	if err != nil {
		return nil, err
	}
	bases := map[string][]storage.Listed{}
	for _, l := range list {
		name, version := path.Split(strings.TrimPrefix(l.Key, "knowledge/"))
		if name = strings.TrimSuffix(name, "/"); name != "" && strings.HasSuffix(version, ".sqlite") {
			bases[name] = append(bases[name], l)
		}
	}
	for _, list := range bases {
		slices.SortFunc(list, func(a, b storage.Listed) int {
			return cmp.Or(b.Stored.Compare(a.Stored), cmp.Compare(a.Key, b.Key))
		})
	}
	return bases, nil
}

// users returns, by snapshot key, the listed runs that use or will use a snapshot.
func (w *purging) users(ctx context.Context) (map[string][]string, error) {
	users, batches := map[string][]string{}, map[string]bool{}
	for _, batch := range w.batches {
		batches[batch] = true
	}
	for batch := range batches {
		err := w.Queue.Runs(ctx, batch, func(run topicqueue.Run) error {
			for name, version := range map[string]string{run.Options.KnowledgeBase: run.Options.KnowledgeVersion,
				knowledge.Attached: run.Options.Attached} {
				if version != "" {
					key := knowledge.SnapshotKey(name, version)
					users[key] = append(users[key], run.ID)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return users, nil
}

// needed reports whether one of these runs has not ended or can be retried.
func (w *purging) needed(ctx context.Context, runs []string) (bool, error) {
	for _, id := range runs {
		if w.gone[id] != "" {
			continue
		}
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
