package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// Keep limits how much of one kind is kept. Items that exceed either limit are purged; 0 = no limit.
type Keep struct {
	Days  int // maximum age
	Count int // number of newest items
}

// Purge deletes data that exceeds the retention limits. It never deletes data in use:
//
//   - runs that have not ended or are not yet in storage
//   - runs of a batch that has not ended or has no digest yet
//   - the newest memory of a topic, and the run it is from
//   - the newest version of a knowledge base, and versions that listed runs use
//
// A purge can be interrupted at any time; the next one continues. A manifest is deleted before the files that it lists.
type Purge struct {
	Queue *redisqueue.Queue
	Store storage.Store
	Now   time.Time
	Dry   bool // only report items, delete nothing

	Reports Keep // including metadata; the bundle of a run is deleted with its report
	Bundles Keep // data and evidence
	Runs    Keep // list entries; a batch without entries is deleted with its digest
	Topics  Keep // versions of the memory of each topic

	Knowledge Keep // published versions of each knowledge base
}

// Purged is an item to be deleted.
type Purged struct {
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
	Purge
	say     func(Purged) error
	batches map[string]string   // batch of each listed run
	held    map[string]bool     // batches that have not ended
	nights  map[string][]string // by run: its entries in topic histories
	pinned  map[string]bool     // runs that topic memories are from
	gone    map[string]bool     // runs whose data is purged
	emptied map[string]bool     // batches that lose all runs of their list
}

// Run purges. It calls say for each item before it deletes the item. It stops at the first error.
func (p Purge) Run(ctx context.Context, say func(Purged) error) error {
	w := &purging{Purge: p, say: say, batches: map[string]string{}, held: map[string]bool{}, pinned: map[string]bool{},
		nights: map[string][]string{},
		gone:   map[string]bool{}, emptied: map[string]bool{}}
	batches, err := p.Queue.Batches(ctx)
	if err != nil {
		return err
	}
	for _, b := range batches {
		ending, err := p.Queue.Ending(ctx, b.Name)
		if err != nil {
			return err
		}
		w.held[b.Name] = ending.Open > 0 || ending.DigestDue()
		ids, err := p.Queue.BatchRuns(ctx, b.Name)
		if err != nil {
			return err
		}
		for _, id := range ids {
			w.batches[id] = b.Name
		}
	}
	for _, step := range []func(context.Context) error{w.topics, w.files, w.lists, w.digests, w.snapshots, w.attached,
		w.leftovers} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// over returns why an item exceeds the limits, or "". rank is the number of newer items.
func (k Keep) over(born, now time.Time, rank int) string {
	switch {
	case k.Days > 0 && now.Sub(born) > time.Duration(k.Days)*24*time.Hour:
		return fmt.Sprintf("older than %d days", k.Days)
	case k.Count > 0 && rank >= k.Count:
		return fmt.Sprintf("more than %d", k.Count)
	}
	return ""
}

// free reports whether a run is not in use.
func (w *purging) free(ctx context.Context, runID string, born time.Time, whole bool) (bool, error) {
	if w.pinned[runID] || w.held[w.batches[runID]] {
		return false, nil
	}
	run, err := w.Queue.Run(ctx, runID)
	switch {
	case errors.Is(err, redisqueue.ErrNotFound): // its state has expired, or it was in another Redis
		return whole || w.batches[runID] != "" || w.Now.Sub(born) > unknownFor, nil
	case err != nil:
		return false, err
	}
	return run.State.Final() && !run.PublishedAt.IsZero(), nil
}

func (w *purging) delete(ctx context.Context, what Purged, keys []string) error {
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

// deleteBundle deletes the data of a run. If reportStays is true, it stores the metadata again: the new time tells
// search indexes to drop the claims.
func (w *purging) deleteBundle(ctx context.Context, id, why string, keys []string, reportStays bool) error {
	err := w.delete(ctx, Purged{Kind: "bundle", Name: id, Why: why}, keys)
	if err != nil || w.Dry || !reportStays {
		return err
	}
	body, err := w.Store.Get(ctx, storage.MetadataKey(id))
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return w.Store.Put(ctx, storage.MetadataKey(id), body)
}

// runFiles are the storage keys of one run.
type runFiles struct{ report, bundle []string }

// files purges reports and bundles.
func (w *purging) files(ctx context.Context) error {
	if w.Reports == (Keep{}) && w.Bundles == (Keep{}) {
		return nil
	}
	runs := map[string]*runFiles{}
	of := func(id string) *runFiles {
		if _, ok := bornAt(id); !ok {
			return &runFiles{} // not ours
		}
		if runs[id] == nil {
			runs[id] = &runFiles{}
		}
		return runs[id]
	}
	keys, err := w.Store.List(ctx, "reports/")
	if err != nil {
		return err
	}
	for _, key := range keys {
		name := path.Base(key) // research_..._xxxxxxxxxx and .md or _metadata.json
		f := of(name[:min(len(name), len("research_20060102_150405_abcdefghij"))])
		f.report = append(f.report, key)
	}
	if keys, err = w.Store.List(ctx, "cache/"); err != nil {
		return err
	}
	for _, key := range keys {
		id, _, _ := strings.Cut(strings.TrimPrefix(key, "cache/"), "/")
		f := of(id)
		if key == storage.ManifestKey(id) { // first: deleting it invalidates the bundle
			f.bundle = slices.Insert(f.bundle, 0, key)
			continue
		}
		f.bundle = append(f.bundle, key)
	}
	ids := slices.Sorted(maps.Keys(runs))
	slices.Reverse(ids) // newest first, because the id begins with the time
	reports, bundles := 0, 0
	for _, id := range ids {
		f := runs[id]
		born, _ := bornAt(id)
		report, bundle := "", ""
		if len(f.report) > 0 {
			report = w.Reports.over(born, w.Now, reports)
			reports++
		}
		if len(f.bundle) > 0 {
			bundle = w.Bundles.over(born, w.Now, bundles)
			bundles++
		}
		if report == "" && bundle == "" {
			continue
		}
		whole := len(f.bundle) > 0 && f.bundle[0] == storage.ManifestKey(id)
		if free, err := w.free(ctx, id, born, whole); err != nil {
			return err
		} else if !free {
			continue
		}
		if len(f.bundle) > 0 {
			w.gone[id] = true
			why := bundle
			if why == "" {
				why = "its report goes: " + report
			}
			if err := w.deleteBundle(ctx, id, why, f.bundle, report == ""); err != nil {
				return err
			}
		}
		if report != "" {
			if err := w.delete(ctx, Purged{Kind: "report", Name: id, Why: report},
				append(f.report, w.nights[id]...)); err != nil {
				return err
			}
		}
	}
	return nil
}

// lists removes runs from the lists.
func (w *purging) lists(ctx context.Context) error {
	if w.Runs == (Keep{}) {
		return nil
	}
	ids := make([]string, 0, len(w.batches))
	for id := range w.batches {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	gone := map[string][]string{} // by batch
	for rank, id := range ids {
		born, ok := bornAt(id)
		if !ok {
			continue
		}
		why := w.Runs.over(born, w.Now, rank)
		if why == "" || w.held[w.batches[id]] {
			continue
		}
		run, err := w.Queue.Run(ctx, id)
		if err == nil && (!run.State.Final() || run.PublishedAt.IsZero()) {
			continue
		}
		if err != nil && !errors.Is(err, redisqueue.ErrNotFound) {
			return err
		}
		if err := w.say(Purged{Kind: "run", Name: id, Why: why}); err != nil {
			return err
		}
		gone[w.batches[id]] = append(gone[w.batches[id]], id)
	}
	size := map[string]int{}
	for _, batch := range w.batches {
		size[batch]++
	}
	for batch, runs := range gone {
		for _, id := range runs {
			delete(w.batches, id)
		}
		if w.Dry {
			w.emptied[batch] = len(runs) == size[batch]
			continue
		}
		var err error
		if w.emptied[batch], err = w.Queue.Unlist(ctx, batch, runs); err != nil {
			return err
		}
	}
	return nil
}

// digests deletes the stored digests of batches that are no longer listed. Digests of a lost Redis are deleted by age.
func (w *purging) digests(ctx context.Context) error {
	if w.Runs == (Keep{}) {
		return nil
	}
	keys, err := w.Store.List(ctx, "batches/")
	if err != nil {
		return err
	}
	files := map[string][]string{}
	for _, key := range keys {
		name, _, ok := strings.Cut(strings.TrimPrefix(key, "batches/"), "/")
		if ok {
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
		if err := w.delete(ctx, Purged{Kind: "batch", Name: name, Why: why}, files[name]); err != nil {
			return err
		}
	}
	return nil
}

// unlisted returns why to delete the files of a batch that this purge has not removed from the lists, or "". Such a
// batch is old and not listed, because an earlier purge was interrupted or its Redis was a different one.
func (w *purging) unlisted(ctx context.Context, batch string) (string, error) {
	_, err := w.Queue.Batch(ctx, batch)
	if !errors.Is(err, redisqueue.ErrNotFound) {
		return "", err
	}
	d, err := digests.Read(ctx, w.Store, batch)
	if steady.Away(err) || ctx.Err() != nil {
		return "", err
	}
	if err != nil { // without a digest, its age is unknown
		return "", nil
	}
	return Keep{Days: max(w.Runs.Days, int(unknownFor/(24*time.Hour)))}.over(d.CreatedAt, w.Now, 0), nil
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
		case rest == "memory.json":
			if err := w.pin(ctx, key); err != nil {
				return err
			}
		case strings.HasPrefix(rest, "versions/"):
			versions[name] = append(versions[name], key)
		case storage.TopicRun(key) != "": // deleted with the report of the run
			w.nights[storage.TopicRun(key)] = append(w.nights[storage.TopicRun(key)], key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		list := versions[name]
		newest := list[len(list)-1]
		if err := w.pin(ctx, newest); err != nil { // memory.json may be behind it
			return err
		}
		if w.Topics == (Keep{}) {
			continue
		}
		slices.Reverse(list)
		for rank, key := range list[1:] {
			m, err := w.memory(ctx, key)
			if err != nil {
				return err
			}
			born := m.CreatedAt
			if born.IsZero() { // unknown format: only its rank counts
				born = w.Now
			}
			if why := w.Topics.over(born, w.Now, rank+1); why != "" {
				if err := w.delete(ctx, Purged{Kind: "topic", Name: name + " " + path.Base(key), Why: why},
					[]string{key}); err != nil {
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

func (w *purging) memory(ctx context.Context, key string) (m memoryHead, err error) {
	body, err := w.Store.Get(ctx, key)
	if errors.Is(err, storage.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if json.Unmarshal(body, &m) != nil {
		return memoryHead{}, nil // not a memory
	}
	return m, nil
}

func (w *purging) pin(ctx context.Context, key string) error {
	m, err := w.memory(ctx, key)
	if m.RunID != "" {
		w.pinned[m.RunID] = true
	}
	return err
}

// leftovers removes incomplete writes of killed processes, if the storage is a directory.
func (w *purging) leftovers(ctx context.Context) error {
	dir, ok := w.Store.(*storage.Dir)
	if !ok {
		return nil
	}
	paths, err := dir.Leftovers(ctx, w.Now.Add(-leftoverAge))
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := w.say(Purged{Kind: "leftover", Name: path, Files: 1,
			Why: "left over from an interrupted write, or an empty folder"}); err != nil {
			return err
		}
		if w.Dry {
			continue
		}
		if err := dir.RemoveLeftover(path); err != nil {
			return err
		}
	}
	return nil
}
