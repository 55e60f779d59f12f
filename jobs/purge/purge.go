// Package purge deletes what is kept no longer. There is one rule: a run that exceeds the limits goes with everything
// of it, and so do earlier memories of topics and earlier versions of knowledge bases. What is in use stays whole:
//
//   - runs that have not ended or are not yet in storage
//   - runs of a batch that has not ended or has no digest yet
//   - the newest memory of a topic, and the run it is from
//   - the newest version of a knowledge base, and versions and attached documents that runs use
//
// A purge can be interrupted at any time; the next one continues. A manifest is deleted before the files that it lists.
//
// Entry point: [Run].
package purge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"nightdesk/jobs/digests"
	"nightdesk/jobs/steady"
	"nightdesk/storage"
	"nightdesk/topicqueue/redisqueue"
)

// Order says what to purge. A limit of 0 keeps everything.
type Order struct {
	Queue *redisqueue.Queue
	Store storage.Store
	Now   time.Time
	Dry   bool // only report items, delete nothing

	Days  int // maximum age of runs, of earlier memories, and of earlier versions of knowledge bases
	Count int // number of newest runs with a report, of memories of each topic, of versions of each knowledge base
}

// Item is something to be deleted.
type Item struct {
	Kind  string `json:"kind"` // report, bundle, run, batch, topic, knowledge, attached or leftover
	Name  string `json:"name"` // a run's id, a batch's name, a topic's key, a knowledge base and version, a path
	Files int    `json:"files"`
	Bytes int64  `json:"bytes,omitempty"` // of knowledge and attached documents
	Why   string `json:"why"`
}

// unknownFor protects bundles without a manifest, and items of unknown runs, for this long. The longest run takes seven
// days.
const unknownFor = 8 * 24 * time.Hour

// leftoverAge is the age from which a temporary file is no longer being written.
const leftoverAge = 24 * time.Hour

var runIDPattern = regexp.MustCompile(`^research_(\d{8}_\d{6})_[a-z2-7]{10}$`)

// bornAt returns the time in a run's id, which is the creation time of its batch.
func bornAt(runID string) (time.Time, bool) {
	m := runIDPattern.FindStringSubmatch(runID)
	if m == nil {
		return time.Time{}, false
	}
	at, err := time.Parse("20060102_150405", m[1])
	return at, err == nil
}

// purging is the state of Run.
type purging struct {
	Order
	say     func(Item) error
	batches map[string]string   // batch of each listed run
	held    map[string]bool     // batches that have not ended
	nights  map[string][]string // by run: its entries in topic histories
	pinned  map[string]bool     // runs that topic memories are from
	gone    map[string]string   // why, by purged run
	emptied map[string]bool     // batches that lose all runs of their list
}

// Run purges. It calls say for each item before it deletes the item. It stops at the first error.
func Run(ctx context.Context, o Order, say func(Item) error) error {
	w := &purging{Order: o, say: say, batches: map[string]string{}, held: map[string]bool{}, pinned: map[string]bool{},
		nights: map[string][]string{}, gone: map[string]string{}, emptied: map[string]bool{}}
	for _, step := range []func(context.Context) error{w.lists, w.topics, w.runs, w.knowledge, w.unlist, w.digests,
		w.leftovers} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// over returns why an item exceeds the limits, or "". rank is the number of newer items.
func (o Order) over(born time.Time, rank int) string {
	switch {
	case older(o.Now, born, o.Days):
		return fmt.Sprintf("older than %d days", o.Days)
	case o.Count > 0 && rank >= o.Count:
		return fmt.Sprintf("more than %d", o.Count)
	}
	return ""
}

func older(now, born time.Time, days int) bool {
	return days > 0 && now.Sub(born) > time.Duration(days)*24*time.Hour
}

// lists reads which runs are listed, and which batches have not ended.
func (w *purging) lists(ctx context.Context) error {
	batches, err := w.Queue.Batches(ctx)
	if err != nil {
		return err
	}
	for _, b := range batches {
		ending, err := w.Queue.Ending(ctx, b.Name)
		if err != nil {
			return err
		}
		w.held[b.Name] = ending.Open > 0 || ending.DigestDue()
		ids, err := w.Queue.BatchRuns(ctx, b.Name)
		if err != nil {
			return err
		}
		for _, id := range ids {
			w.batches[id] = b.Name
		}
	}
	return nil
}

func (w *purging) delete(ctx context.Context, what Item, keys []string) error {
	what.Files = len(keys)
	if err := w.say(what); err != nil || w.Dry {
		return err
	}
	for _, key := range keys {
		if err := w.Store.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// runFiles are the storage keys of one run. The manifest is the first of its bundle: without it, the bundle is invalid.
type runFiles struct{ report, bundle []string }

// files returns the files of all runs that have any or are listed, by run.
func (w *purging) files(ctx context.Context) (map[string]*runFiles, error) {
	runs := map[string]*runFiles{}
	for id := range w.batches {
		runs[id] = &runFiles{}
	}
	of := func(id string) *runFiles {
		if runs[id] == nil {
			runs[id] = &runFiles{}
		}
		return runs[id]
	}
	keys, err := w.Store.List(ctx, "reports/")
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		name := path.Base(key) // research_..._xxxxxxxxxx and .md or _metadata.json
		f := of(name[:min(len(name), len("research_20060102_150405_abcdefghij"))])
		f.report = append(f.report, key)
	}
	if keys, err = w.Store.List(ctx, "cache/"); err != nil {
		return nil, err
	}
	for _, key := range keys {
		id, _, _ := strings.Cut(strings.TrimPrefix(key, "cache/"), "/")
		f := of(id)
		if f.bundle = append(f.bundle, key); key == storage.ManifestKey(id) {
			f.bundle[0], f.bundle[len(f.bundle)-1] = key, f.bundle[0]
		}
	}
	maps.DeleteFunc(runs, func(id string, _ *runFiles) bool { _, ours := bornAt(id); return !ours })
	return runs, nil
}

// runs purges runs with their reports, data and evidence.
func (w *purging) runs(ctx context.Context) error {
	if w.Days == 0 && w.Count == 0 {
		return nil
	}
	all, err := w.files(ctx)
	if err != nil {
		return err
	}
	ids := slices.Sorted(maps.Keys(all))
	slices.Reverse(ids) // newest first, because the id begins with the time
	newer := 0          // runs with a report: those that wait must not push out the results of others
	for _, id := range ids {
		born, _ := bornAt(id)
		f, why := all[id], w.over(born, newer)
		if len(f.report) > 0 {
			newer++
		}
		if why == "" {
			continue
		}
		if free, err := w.free(ctx, id, born, f); err != nil {
			return err
		} else if !free {
			continue
		}
		w.gone[id] = why
		for _, item := range []struct {
			kind string
			keys []string
		}{{"bundle", f.bundle}, {"report", f.report}} {
			if item.kind == "report" && len(f.report) > 0 {
				item.keys = append(item.keys, w.nights[id]...)
			}
			if len(item.keys) == 0 {
				continue
			}
			if err := w.delete(ctx, Item{Kind: item.kind, Name: id, Why: why}, item.keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// free reports whether a run is not in use.
func (w *purging) free(ctx context.Context, runID string, born time.Time, f *runFiles) (bool, error) {
	if w.pinned[runID] || w.held[w.batches[runID]] {
		return false, nil
	}
	run, err := w.Queue.Run(ctx, runID)
	switch {
	case errors.Is(err, redisqueue.ErrNotFound): // its state has expired, or it was in another Redis
		complete := len(f.bundle) > 0 && f.bundle[0] == storage.ManifestKey(runID)
		return complete || w.batches[runID] != "" || w.Now.Sub(born) > unknownFor, nil
	case err != nil:
		return false, err
	}
	return run.State.Final() && !run.PublishedAt.IsZero(), nil
}

// unlist removes purged runs from the lists of their batches. Until then the lists tell what the runs needed.
func (w *purging) unlist(ctx context.Context) (err error) {
	left, gone := map[string]int{}, map[string][]string{} // by batch
	for id, batch := range w.batches {
		if left[batch]++; w.gone[id] != "" {
			gone[batch] = append(gone[batch], id)
		}
	}
	for _, batch := range slices.Sorted(maps.Keys(gone)) {
		slices.Sort(gone[batch])
		for _, id := range gone[batch] {
			if err := w.say(Item{Kind: "run", Name: id, Why: w.gone[id]}); err != nil {
				return err
			}
			delete(w.batches, id)
		}
		if w.Dry {
			w.emptied[batch] = len(gone[batch]) == left[batch]
		} else if w.emptied[batch], err = w.Queue.Unlist(ctx, batch, gone[batch]); err != nil {
			return err
		}
	}
	return nil
}

// digests deletes the stored digests of batches that are no longer listed. Digests of a lost Redis are deleted by age.
func (w *purging) digests(ctx context.Context) error {
	if w.Days == 0 && w.Count == 0 {
		return nil
	}
	keys, err := w.Store.List(ctx, "batches/")
	if err != nil {
		return err
	}
	files := map[string][]string{}
	for _, key := range keys {
		if name, _, ok := strings.Cut(strings.TrimPrefix(key, "batches/"), "/"); ok {
			files[name] = append(files[name], key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		why := "its runs are no longer listed"
		if !w.emptied[name] {
			if why, err = w.unlisted(ctx, name); err != nil {
				return err
			}
		}
		if why == "" {
			continue
		}
		if err := w.delete(ctx, Item{Kind: "batch", Name: name, Why: why}, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// unlisted returns why to delete the files of a batch that this purge has not removed from the lists, or "". Such a
// batch is old and not listed, because an earlier purge was interrupted or its Redis was a different one.
func (w *purging) unlisted(ctx context.Context, batch string) (string, error) {
	if _, err := w.Queue.Batch(ctx, batch); !errors.Is(err, redisqueue.ErrNotFound) {
		return "", err
	}
	d, err := digests.Read(ctx, w.Store, batch)
	if steady.Away(err) || ctx.Err() != nil {
		return "", err
	}
	days := max(w.Days, int(unknownFor/(24*time.Hour)))
	if err != nil || !older(w.Now, d.CreatedAt, days) { // without a digest, its age is unknown
		return "", nil
	}
	return fmt.Sprintf("older than %d days", days), nil
}

// topics purges earlier versions of topic memories. It pins the runs of the newest ones, because the next night reads
// their pages.
func (w *purging) topics(ctx context.Context) error {
	keys, err := w.Store.List(ctx, "topics/")
	if err != nil {
		return err
	}
	versions := map[string][]string{} // by topic, the oldest first
	for _, key := range keys {
		name, rest, _ := strings.Cut(strings.TrimPrefix(key, "topics/"), "/")
		switch {
		case strings.HasPrefix(rest, "versions/"):
			versions[name] = append(versions[name], key)
		case storage.TopicRun(key) != "": // deleted with the report of the run
			w.nights[storage.TopicRun(key)] = append(w.nights[storage.TopicRun(key)], key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		list := versions[name]
		slices.Reverse(list)
		for rank, key := range list {
			m, err := w.memory(ctx, key)
			if err != nil {
				return err
			}
			if rank == 0 {
				w.pinned[m.RunID] = true
				continue
			}
			if m.CreatedAt.IsZero() { // unknown format: only its rank counts
				m.CreatedAt = w.Now
			}
			if why := w.over(m.CreatedAt, rank); why != "" {
				item := Item{Kind: "topic", Name: name + " " + path.Base(key), Why: why}
				if err := w.delete(ctx, item, []string{key}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// memoryHead is the part of a topic's memory that a purge reads.
type memoryHead struct {
	RunID     string    `json:"run_id"`
	CreatedAt time.Time `json:"created_at"`
}

// memory returns an empty head if there is no memory, or something else in its place.
func (w *purging) memory(ctx context.Context, key string) (memoryHead, error) {
	m, err := storage.GetJSON[memoryHead](ctx, w.Store, key)
	if errors.Is(err, storage.ErrNotExist) || errors.Is(err, storage.ErrGarbled) {
		return memoryHead{}, nil
	}
	return m, err
}

// leftovers removes incomplete writes of killed processes, if the storage is a directory.
func (w *purging) leftovers(context.Context) error {
	dir, ok := w.Store.(*storage.Dir)
	if !ok {
		return nil
	}
	paths, err := dir.Leftovers(w.Now.Add(-leftoverAge))
	for _, path := range paths {
		if err == nil {
			err = w.say(Item{Kind: "leftover", Name: path, Files: 1, Why: "left over from an interrupted write"})
		}
		if err == nil && !w.Dry {
			err = os.Remove(path)
		}
	}
	return err
}
