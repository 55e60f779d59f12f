package redisqueue

import (
	"context"
	"fmt"
	"time"

	"nightdesk/topicqueue/redisqueue/lua"
)

// digestsKey is a sorted set: batch by the time of the next look (ms), of those that may want a digest.
const digestsKey = lua.Prefix + "{index}:digests"

const (
	batchLooks  = 20               // batches of one DueBatches
	batchSample = 50               // open runs of a batch that one look checks
	digestStuck = 15 * time.Minute // a digest whose task is active for so long is given to another task
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

// Ending is how far a batch is from its end.
type Ending struct {
	Sealed     bool // its enqueueing has finished
	Open       int  // runs that are not yet published
	Generation int  // raised by every run that ends
	Digested   int  // generation that the last digest is of; 0 = there is none
}

// DigestDue reports that the batch has ended and its digest does not know it yet.
func (e Ending) DigestDue() bool { return e.Sealed && e.Open == 0 && e.Generation > e.Digested }

// SealBatch says that the enqueueing of a batch has finished: when its last run is published, it wants a digest. Runs
// that come later, or are retried, make it want another one. OpenBatch takes the seal away.
func (q *batches) SealBatch(ctx context.Context, name string) error {
	if err := q.noteBatch(ctx, name, sweepTime); err != nil { // what follows may break off
		return err
	}
	if err := q.rdb.HSet(ctx, batchKey(name, "state"), "sealed", 1).Err(); err != nil {
		return fmt.Errorf("seal batch %q in Redis: %w", name, err)
	}
	return q.noteBatch(ctx, name, 0)
}

// noteBatch makes sure that a batch is looked at in this time.
func (q *batches) noteBatch(ctx context.Context, name string, in time.Duration) error {
	if err := batchNoteScript.Run(ctx, q.rdb, []string{digestsKey}, name, in.Milliseconds()).Err(); err != nil {
		return fmt.Errorf("note batch %q in Redis: %w", name, err)
	}
	return nil
}

// addToBatch puts a run into its batch, where it is open until it is published; false when it was published before.
func (q *batches) addToBatch(ctx context.Context, batch, runID string, order float64) (bool, error) {
	keys := []string{batchKey(batch, "runs"), batchKey(batch, "open"), batchKey(batch, "lines")}
	added, err := batchAddScript.Run(ctx, q.rdb, keys, runID, order).Int()
	if err != nil {
		return false, fmt.Errorf("add run %s to batch %q in Redis: %w", runID, batch, err)
	}
	return added == 1, nil
}

// Ending returns how far a batch is from its end.
func (q *batches) Ending(ctx context.Context, name string) (Ending, error) {
	end, _, err := q.lookAtBatch(ctx, name, 0)
	return end, err
}

func (q *batches) lookAtBatch(ctx context.Context, name string, sample int) (Ending, []string, error) {
	values, err := batchLookScript.Run(ctx, q.rdb, []string{batchKey(name, "open"), batchKey(name, "state")},
		sample).Slice()
	if err != nil {
		return Ending{}, nil, fmt.Errorf("look at batch %q in Redis: %w", name, err)
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

// DueBatch is a batch that one sweeper looks at.
type DueBatch struct {
	Name  string
	until string // its next look, by others
}

// DueBatches returns batches that may want a digest. Each goes to one caller, and to another after 30 s.
func (q *batches) DueBatches(ctx context.Context) ([]DueBatch, error) {
	values, err := batchDueScript.Run(ctx, q.rdb, []string{digestsKey}, batchLooks, sweepTime.Milliseconds()).Slice()
	if err != nil {
		return nil, fmt.Errorf("find batches that have ended in Redis: %w", err)
	}
	var due []DueBatch
	for i := 0; i+1 < len(values); i += 2 {
		due = append(due, DueBatch{lua.Text(values, i), lua.Text(values, i+1)})
	}
	return due, nil
}

// SweepBatch returns the generation of the digest that a batch wants now, 0 for none. One that will want none before
// something happens to it is forgotten until then.
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
	if err := batchForgetScript.Run(ctx, q.rdb, []string{digestsKey}, b.Name, b.until).Err(); err != nil {
		return 0, fmt.Errorf("forget batch %q in Redis: %w", b.Name, err)
	}
	return 0, nil
}

// checkOpen takes runs out of the open ones that are not: their creation, the publishing or a retry broke off.
func (q *batches) checkOpen(ctx context.Context, batch string, open []string) error {
	for _, id := range open {
		fields, err := q.rdb.HGetAll(ctx, key(id, "run")).Result()
		if err != nil {
			return fmt.Errorf("read run %s from Redis: %w", id, err)
		}
		if len(fields) == 0 { // expired, or never created: if it is created yet, its end raises the generation
			if err := q.rdb.SRem(ctx, batchKey(batch, "open"), id).Err(); err != nil {
				return fmt.Errorf("look at batch %q in Redis: %w", batch, err)
			}
			continue
		}
		run, err := new(runDecoder).decode(fields)
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

// Digested says that the digest of this generation is in storage. The next look finds whether another one is wanted.
func (q *batches) Digested(ctx context.Context, name string, generation int) error {
	if err := batchDigestedScript.Run(ctx, q.rdb, []string{batchKey(name, "state")}, generation).Err(); err != nil {
		return fmt.Errorf("note the digest of batch %q in Redis: %w", name, err)
	}
	return q.noteBatch(ctx, name, 0)
}

// AdvanceDigest gives a digest to the next generation because the job queue has a task for this one that will never
// run. active: it is active there and may still end; then only after a quarter of an hour. It returns what is wanted
// now.
func (q *batches) AdvanceDigest(ctx context.Context, name string, generation int, active bool) (int, error) {
	stuck := int64(0)
	if active {
		stuck = digestStuck.Milliseconds()
	}
	next, err := batchAdvanceScript.Run(ctx, q.rdb, []string{batchKey(name, "state")}, generation, stuck).Int()
	if err != nil {
		return 0, fmt.Errorf("advance the digest of batch %q in Redis: %w", name, err)
	}
	return next, nil
}
