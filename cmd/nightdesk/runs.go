package main

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

// runLister lists runs from the queue, or from storage on a machine without a queue.
type runLister interface {
	// Batches returns the batches, oldest first.
	Batches(ctx context.Context) ([]redisqueue.Batch, error)
	// Runs calls yield for every run of a batch in the order of enqueueing. It stops at the first error of yield.
	Runs(ctx context.Context, batch string, yield func(topicqueue.Run) error) error
}

// runReader reads one run.
type runReader interface {
	Run(ctx context.Context, runID string) (topicqueue.Run, error)
	Blocks(ctx context.Context, runID string) ([]topicqueue.Block, error)
	Traces(ctx context.Context, runID, unit string) ([]topicqueue.ToolTrace, error)
	Usage(ctx context.Context, runID string) ([]topicqueue.Usage, error)
}

// storedRuns are the runs whose bundles are in storage.
type storedRuns []topicqueue.Run

func storedRunsOf(ctx context.Context, con *view.Console, store storage.Store) (storedRuns, error) {
	return bundle.Archive{Store: store}.Runs(con.Log.WithContext(ctx))
}

// listerOf returns the queue, or the runs in storage if d is nil.
func listerOf(ctx context.Context, con *view.Console, store storage.Store, d *wiring.Desk) (runLister, error) {
	if d == nil {
		return storedRunsOf(ctx, con, store)
	}
	return d.Queue, nil
}

// Batches implements runLister.
func (s storedRuns) Batches(context.Context) (batches []redisqueue.Batch, _ error) {
	for _, run := range s {
		if !slices.ContainsFunc(batches, func(b redisqueue.Batch) bool { return b.Name == run.Batch }) {
			batches = append(batches, redisqueue.Batch{Name: run.Batch, CreatedAt: run.CreatedAt})
		}
	}
	return batches, nil
}

// Runs implements runLister.
func (s storedRuns) Runs(_ context.Context, batch string, yield func(topicqueue.Run) error) error {
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

// fullID expands the last ten characters of a run id to the full id. It returns other names unchanged. d may be nil.
func fullID(ctx context.Context, cfg config.Config, d *wiring.Desk, name string) (string, error) {
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
