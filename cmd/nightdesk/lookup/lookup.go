// Package lookup finds the run or the batch that a name on the command line means, in the queue or in storage, and
// explains names that mean nothing.
//
// Entry points: [FullID], [ListerOf] and [Unknown].
package lookup

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/config"
	"nightdesk/jobs/bundle"
	"nightdesk/storage"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Lister lists runs from the queue, or from storage on a machine without a queue.
type Lister interface {
	// Batches returns the batches, oldest first.
	Batches(ctx context.Context) ([]redisqueue.Batch, error)
	// Runs calls yield for every run of a batch in the order of enqueueing. It stops at the first error of yield.
	Runs(ctx context.Context, batch string, yield func(topicqueue.Run) error) error
}

// Stored are the runs whose bundles are in storage.
type Stored []topicqueue.Run

func StoredRuns(ctx context.Context, con *view.Console, store storage.Store) (Stored, error) {
	return bundle.Archive{Store: store}.Runs(con.Log.WithContext(ctx))
}

// ListerOf returns the queue, or the runs in storage if d is nil.
func ListerOf(ctx context.Context, con *view.Console, store storage.Store, d *wiring.Desk) (Lister, error) {
	if d == nil {
		return StoredRuns(ctx, con, store)
	}
	return d.Queue, nil
}

// Batches implements Lister.
func (s Stored) Batches(context.Context) (batches []redisqueue.Batch, _ error) {
	for _, run := range s {
		if !slices.ContainsFunc(batches, func(b redisqueue.Batch) bool { return b.Name == run.Batch }) {
			batches = append(batches, redisqueue.Batch{Name: run.Batch, CreatedAt: run.CreatedAt})
		}
	}
	return batches, nil
}

// Runs implements Lister.
func (s Stored) Runs(_ context.Context, batch string, yield func(topicqueue.Run) error) error {
	for _, run := range s {
		if run.Batch != batch {
			continue
		}
		if err := yield(run); err != nil {
			return err
		}
	}
	return nil
}

// shortID matches the last ten characters of a run id.
var shortID = regexp.MustCompile(`^[a-z2-7]{10}$`)

// FullID expands the last ten characters of a run id to the full id. It returns other names unchanged. d may be nil.
func FullID(ctx context.Context, cfg config.Config, d *wiring.Desk, name string) (string, error) {
	if !shortID.MatchString(name) {
		return name, nil
	}
	var found []string
	if d != nil {
		batches, err := d.Queue.Batches(ctx)
		if err != nil {
			return "", err
		}
		for _, b := range batches {
			if b.Name == name {
				return name, nil
			}
			ids, err := d.Queue.BatchRuns(ctx, b.Name)
			if err != nil {
				return "", err
			}
			found = append(found, endingWith(ids, name)...)
		}
	}
	if len(found) == 0 {
		store, err := wiring.OpenStore(ctx, cfg)
		if err != nil {
			return "", err
		}
		ids, err := bundle.Archive{Store: store}.IDs(ctx)
		if err != nil {
			return "", err
		}
		found = endingWith(ids, name)
	}
	switch len(found) {
	case 0:
		return name, nil
	case 1:
		return found[0], nil
	}
	return "", view.Usage(view.Hint(fmt.Errorf("%d runs end with %s", len(found), name), "Give one of the full ids: "+
		strings.Join(found, ", ")))
}

func endingWith(ids []string, end string) (found []string) {
	for _, id := range ids {
		if strings.HasSuffix(id, "_"+end) {
			found = append(found, id)
		}
	}
	return found
}

// IsRunID reports whether a name is a run id rather than a batch name.
func IsRunID(name string) bool { return strings.HasPrefix(name, "research_") }

// Location returns where the report of a run is in storage, or "" if it has no published report.
func Location(store storage.Store, run topicqueue.Run) string {
	if run.Report == "" || run.PublishedAt.IsZero() {
		return ""
	}
	return store.Location(run.Report)
}
