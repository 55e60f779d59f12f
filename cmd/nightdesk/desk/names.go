package desk

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/jobs/bundle"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// Names of runs and batches are part of keys in Redis and in storage.
var (
	runName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
	batchName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,99}$`)
	shortName = regexp.MustCompile(`^[a-z2-7]{10}$`) // the last ten characters of the id of a run
)

// IsName reports whether a name may be that of a run. Such names are safe in keys and paths.
func IsName(name string) bool { return runName.MatchString(name) }

// IsRunID reports whether a name is a run id rather than a batch name.
func IsRunID(name string) bool { return strings.HasPrefix(name, "research_") }

// FullID expands the last ten characters of a run id to the full id. It returns other names unchanged.
func (d *Desk) FullID(ctx context.Context, name string) (string, error) {
	if !shortName.MatchString(name) {
		return name, nil
	}
	var found []string
	if d.HasQueue() {
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
		ids, err := bundle.Archive{Store: d.Store}.IDs(ctx)
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

// reader reads one run, from the queue or from storage.
type reader interface {
	Run(ctx context.Context, runID string) (topicqueue.Run, error)
	Blocks(ctx context.Context, runID string) ([]topicqueue.Block, error)
	Traces(ctx context.Context, runID, block string) ([]topicqueue.ToolTrace, error)
	Usage(ctx context.Context, runID string) ([]topicqueue.Usage, error)
}

// Found is a run, and where it was found.
type Found struct {
	topicqueue.Run
	Queued bool // it is in the queue; otherwise its state has expired, and it was read from storage
	from   reader
}

// Find returns the run with this id, or with these last ten characters of its id.
func (d *Desk) Find(ctx context.Context, name string) (f Found, err error) {
	if !runName.MatchString(name) {
		return f, view.NoSuch(name)
	}
	if name, err = d.FullID(ctx, name); err != nil {
		return f, err
	}
	if d.HasQueue() {
		f.from, f.Queued = d.Queue, true
		if f.Run, err = d.Queue.Run(ctx, name); !errors.Is(err, redisqueue.ErrNotFound) {
			return f, err
		}
	}
	archive := bundle.Archive{Store: d.Store}
	f.from, f.Queued = archive, false
	if f.Run, err = archive.Run(ctx, name); errors.Is(err, bundle.ErrNoBundle) {
		err = view.NoSuch(name)
	}
	return f, err
}

// RunOrBatch finds what a name means: a run or, if there is none and isBatch is set, a batch.
func (d *Desk) RunOrBatch(ctx context.Context, name string) (run Found, isBatch bool, err error) {
	run, err = d.Find(ctx, name)
	if view.KindOf(err) != view.Missing || IsRunID(name) {
		return run, false, err
	}
	runs, readErr := d.Runs(ctx)
	if readErr != nil {
		return run, false, readErr
	}
	batches, readErr := runs.Batches(ctx)
	if readErr != nil {
		return run, false, readErr
	}
	if slices.ContainsFunc(batches, func(b redisqueue.Batch) bool { return b.Name == name }) {
		return run, true, nil
	}
	return run, false, err
}

// Blocks returns the topic blocks of the run.
func (f Found) Blocks(ctx context.Context) ([]topicqueue.Block, error) {
	return f.from.Blocks(ctx, f.ID)
}

// Runs lists runs of batches, from the queue or from storage.
type Runs interface {
	// Batches returns the batches, oldest first.
	Batches(ctx context.Context) ([]redisqueue.Batch, error)
	// RunsFrom calls yield for the runs of a batch from an index on, in the order of enqueueing, until it returns an
	// error. A [redisqueue.BrokenError] tells of runs that were left out because they cannot be read.
	RunsFrom(ctx context.Context, batch string, start int, yield func(at int, run topicqueue.Run) error) error
}

// Runs returns the runs of the queue or, without one, those in storage.
func (d *Desk) Runs(ctx context.Context) (Runs, error) {
	if d.HasQueue() {
		return d.Queue, nil
	}
	return d.Stored(ctx)
}

// Stored are the runs whose bundles are in storage, oldest first.
type Stored []topicqueue.Run

// Stored returns the runs in storage.
func (d *Desk) Stored(ctx context.Context) (Stored, error) {
	return bundle.Archive{Store: d.Store}.Runs(d.Console.Log.WithContext(ctx))
}

// Batches implements Runs.
func (s Stored) Batches(context.Context) (batches []redisqueue.Batch, _ error) {
	for _, run := range s {
		if !slices.ContainsFunc(batches, func(b redisqueue.Batch) bool { return b.Name == run.Batch }) {
			batches = append(batches, redisqueue.Batch{Name: run.Batch, CreatedAt: run.CreatedAt})
		}
	}
	return batches, nil
}

// RunsFrom implements Runs.
func (s Stored) RunsFrom(_ context.Context, batch string, start int, yield func(int, topicqueue.Run) error) error {
	at := 0
	for _, run := range s {
		if run.Batch != batch {
			continue
		}
		if at++; at <= start {
			continue
		}
		if err := yield(at-1, run); err != nil {
			return err
		}
	}
	return nil
}

// Location returns where the report of a run is in storage, or "" if it has no published report.
func (d *Desk) Location(run topicqueue.Run) string {
	if run.Report == "" || run.PublishedAt.IsZero() {
		return ""
	}
	return d.Store.Location(run.Report)
}
