package redisqueue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	indexKey = prefix + "{index}:runs"  // sorted set: run by the time of its next check (ms)
	clockKey = prefix + "{index}:clock" // hash: last sweep, end of the quiet time after a gap
)

// MaxLapses is how often a unit's workers may end without any progress before the unit is given up: what kills five
// workers would kill them all.
const MaxLapses = 5

const (
	sweepBatch = 200              // runs of one Due
	sweepTime  = 30 * time.Second // a run that was due is seen by others after this when its sweeper dies
)

// waitingCheck is how often a run that waits for its planning is looked at: its task is in the job queue, and 100,000
// runs may wait.
const waitingCheck = 10 * time.Minute

// watchTime is how often a run that is worked is looked at: often enough that a lapsed lease is seen soon.
func (q *Queue) watchTime() time.Duration { return q.timing.Lease / 4 }

// watch makes sure that a run is looked at again within d. It is called before a transition whose tasks could be lost.
func (q *Queue) watch(ctx context.Context, runID string, d time.Duration) error {
	next := float64(time.Now().Add(d).UnixMilli())
	if err := q.rdb.ZAddArgs(ctx, indexKey, redis.ZAddArgs{LT: true, Members: []redis.Z{{Score: next, Member: runID}}}).Err(); err != nil {
		return fmt.Errorf("watch run %s in Redis: %w", runID, err)
	}
	return nil
}

// Due returns runs whose next check has come, and whether lapsed leases may be taken over now.
func (q *Queue) Due(ctx context.Context) (runs []string, takeover bool, err error) {
	values, err := dueScript.Run(ctx, q.rdb, []string{indexKey, clockKey},
		sweepBatch, sweepTime.Milliseconds(), q.timing.Gap.Milliseconds(), q.timing.Quiet.Milliseconds()).Slice()
	if err != nil {
		return nil, false, fmt.Errorf("find due runs in Redis: %w", err)
	}
	ids, _ := values[1].([]any)
	for i := range ids {
		runs = append(runs, text(ids, i))
	}
	return runs, text(values, 0) == "1", nil
}

// Sweep computes from a run's state alone which tasks it wants that nobody works on, gives units with lapsed leases to new generations when
// takeover is set, and sets the time of the run's next check. A run that has ended wants nothing and is not looked at
// again.
func (q *Queue) Sweep(ctx context.Context, runID string, takeover bool) ([]Intent, error) {
	flag := 0
	if takeover {
		flag = 1
	}
	r, err := q.run(ctx, sweepScript, "sweep", runID, flag, MaxLapses, q.watchTime().Milliseconds(), waitingCheck.Milliseconds())
	if errors.Is(err, ErrStale) {
		if err := q.rdb.ZRem(ctx, indexKey, runID).Err(); err != nil {
			return nil, fmt.Errorf("forget run %s in Redis: %w", runID, err)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	next := float64(time.Now().Add(time.Duration(number(r.values, 2)) * time.Millisecond).UnixMilli())
	if err := q.rdb.ZAddArgs(ctx, indexKey, redis.ZAddArgs{XX: true, Members: []redis.Z{{Score: next, Member: runID}}}).Err(); err != nil {
		return nil, fmt.Errorf("watch run %s in Redis: %w", runID, err)
	}
	return r.intents(runID), nil
}

// Advance gives a unit to its next generation because the job queue has a task for this one that will never begin.
// active: the task is active there, so it may still begin; then the unit is given on only when that has lasted too long.
func (q *Queue) Advance(ctx context.Context, i Intent, active bool) ([]Intent, error) {
	stuck := int64(0)
	if active {
		stuck = q.timing.Stuck.Milliseconds()
	}
	r, err := q.run(ctx, advanceScript, "advance "+i.Unit, i.RunID, i.Unit, i.Generation, stuck)
	if err != nil {
		return nil, err
	}
	return r.intents(i.RunID), nil
}
