package redisqueue

import (
	"context"
	"errors"
	"time"

	"nightdesk/topicqueue/redisqueue/lua"
)

// digestsKey is a sorted set: batches that may want a digest by the time of their next check (ms).
const digestsKey = lua.Prefix + "{index}:digests"

const (
	batchLooks  = 20               // maximum number of batches per DueBatches
	batchSample = 50               // open runs of a batch that one check examines
	digestStuck = 15 * time.Minute // time after which a digest with an active task is given to another task
)

var (
	batchAddScript      = lua.Script("batch_add")
	batchLookScript     = lua.Script("batch_look")
	batchAdvanceScript  = lua.Script("batch_advance")
	batchDigestedScript = lua.Script("batch_digested")
	batchNoteScript     = lua.Script("batch_note")
	batchDueScript      = lua.Script("batch_due")
	batchForgetScript   = lua.Script("batch_forget")
)

// Ending is the progress of a batch towards its end.
type Ending struct {
	Sealed     bool // its enqueueing has finished
	Open       int  // number of runs not yet published
	Generation int  // raised by every run that ends
	Digested   int  // generation of the last digest; 0: none
}

// DigestDue reports whether the batch has ended and its digest does not cover that yet.
func (e Ending) DigestDue() bool { return e.Sealed && e.Open == 0 && e.Generation > e.Digested }

// SealBatch marks that the enqueueing of a batch has finished. The batch wants a digest when its last run is
// published, and again after later or retried runs. OpenBatch removes the mark.
func (q *batches) SealBatch(ctx context.Context, name string) error {
	if err := q.noteBatch(ctx, name, sweepTime); err != nil { // the rest may be interrupted
		return err
	}
	if err := q.rdb.HSet(ctx, batchKey(name, "state"), "sealed", 1).Err(); err != nil {
		return redisError(err, "seal batch %q", name)
	}
	return q.noteBatch(ctx, name, 0)
}

// noteBatch ensures that a batch is checked within in.
func (q *batches) noteBatch(ctx context.Context, name string, in time.Duration) error {
	return redisError(batchNoteScript.Run(ctx, q.rdb, []string{digestsKey}, name, in.Milliseconds()).Err(),
		"record batch %q", name)
}

// addToBatch adds a run to its batch as open until it is published. It returns false if the run was published before.
func (q *batches) addToBatch(ctx context.Context, batch, runID string, order float64) (bool, error) {
	keys := []string{batchKey(batch, "runs"), batchKey(batch, "open"), batchKey(batch, "lines")}
	added, err := batchAddScript.Run(ctx, q.rdb, keys, runID, order).Int()
	return added == 1, redisError(err, "add run %s to batch %q", runID, batch)
}

// Ending returns the progress of a batch towards its end.
func (q *batches) Ending(ctx context.Context, name string) (Ending, error) {
	end, _, err := q.lookAtBatch(ctx, name, 0)
	return end, err
}

func (q *batches) lookAtBatch(ctx context.Context, name string, sample int) (Ending, []string, error) {
	values, err := batchLookScript.Run(ctx, q.rdb, []string{batchKey(name, "open"), batchKey(name, "state")},
		sample).Slice()
	if err != nil {
		return Ending{}, nil, redisError(err, "look at batch %q", name)
	}
	end := Ending{Sealed: lua.Number(values, 0) == 1, Open: lua.Number(values, 1), Generation: lua.Number(values, 2),
		Digested: lua.Number(values, 3)}
	list, _ := values[4].([]any)
	open := make([]string, len(list))
	for i := range list {
		open[i] = lua.Text(list, i)
	}
	return end, open, nil
}

// DueBatch is a batch that one sweeper checks.
type DueBatch struct {
	Name  string
	until string // its next check, by other sweepers
}

// DueBatches returns batches that may need a digest. Each is returned to one caller, and after 30 s to another.
func (q *batches) DueBatches(ctx context.Context) ([]DueBatch, error) {
	values, err := batchDueScript.Run(ctx, q.rdb, []string{digestsKey}, batchLooks, sweepTime.Milliseconds()).Slice()
	if err != nil {
		return nil, redisError(err, "find batches that have ended")
	}
	var due []DueBatch
	for i := 0; i+1 < len(values); i += 2 {
		due = append(due, DueBatch{lua.Text(values, i), lua.Text(values, i+1)})
	}
	return due, nil
}

// SweepBatch returns the generation of the digest that a batch now wants; 0: none. A batch that cannot want a digest
// before its next change is removed from the index.
func (q *batches) SweepBatch(ctx context.Context, b DueBatch) (generation int, err error) {
	end, open, err := q.lookAtBatch(ctx, b.Name, batchSample)
	switch {
	case err != nil:
		return 0, err
	case end.DigestDue():
		return end.Generation, nil
	case end.Sealed && end.Open > 0:
		return 0, q.checkOpen(ctx, b.Name, open)
	}
	err = batchForgetScript.Run(ctx, q.rdb, []string{digestsKey}, b.Name, b.until).Err()
	return 0, redisError(err, "remove batch %q", b.Name)
}

// checkOpen removes runs from the open set that are not open because their creation, publishing or retry was
// interrupted.
func (q *batches) checkOpen(ctx context.Context, batch string, open []string) error {
	for _, id := range open {
		run, err := q.read.Run(ctx, id)
		if errors.Is(err, ErrNotFound) { // expired, or never created; if it is created later, its end raises the generation
			if err := q.rdb.SRem(ctx, batchKey(batch, "open"), id).Err(); err != nil {
				return redisError(err, "look at batch %q", batch)
			}
			continue
		}
		if err != nil {
			return err
		}
		if !run.PublishedAt.IsZero() {
			if err := q.keepLine(ctx, run); err != nil {
				return err
			}
		}
	}
	return nil
}

// Digested records that the digest of this generation is in storage. The next check finds whether another one is
// wanted.
func (q *batches) Digested(ctx context.Context, name string, generation int) error {
	if err := batchDigestedScript.Run(ctx, q.rdb, []string{batchKey(name, "state")}, generation).Err(); err != nil {
		return redisError(err, "record the digest of batch %q", name)
	}
	return q.noteBatch(ctx, name, 0)
}

// AdvanceDigest moves a digest to the next generation because the job queue has a task for this one that will never
// run. If active, the task is running and may still end, so this happens only after digestStuck. AdvanceDigest
// returns the generation wanted now.
func (q *batches) AdvanceDigest(ctx context.Context, name string, generation int, active bool) (int, error) {
	stuck := int64(0)
	if active {
		stuck = digestStuck.Milliseconds()
	}
	next, err := batchAdvanceScript.Run(ctx, q.rdb, []string{batchKey(name, "state")}, generation, stuck).Int()
	return next, redisError(err, "advance the digest of batch %q", name)
}
