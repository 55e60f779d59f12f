package redisqueue

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// upkeep is the work of workers for all runs: it begins waiting runs and completes interrupted transitions.
type upkeep struct {
	base
	read    *reader
	batches *batches
}

// Due returns runs whose next check has come, and whether lapsed leases may be taken over now.
func (q *upkeep) Due(ctx context.Context) (runs []string, takeover bool, err error) {
	values, err := dueScript.Run(ctx, q.rdb, []string{indexKey, endedKey, clockKey},
		sweepBatch, sweepTime.Milliseconds(), q.timing.Gap.Milliseconds(), q.timing.Quiet.Milliseconds()).Slice()
	if err != nil {
		return nil, false, redisError(err, "find due runs")
	}
	ids, _ := values[1].([]any)
	for i := range ids {
		runs = append(runs, lua.Text(ids, i))
	}
	return runs, lua.Text(values, 0) == "1", nil
}

// Feed chooses the next waiting runs of a lane for planning, oldest first, until the given number of runs have tasks
// in the job queue. It begins no more runs than there are slots, counting runs of this lane and of those before it.
// slots is the total of all workers; 0: no limit. The caller sweeps each returned run to get its task.
func (q *upkeep) Feed(ctx context.Context, lane string, tasks, slots int) ([]string, error) {
	keys := indexKeys(lane)
	for _, before := range lanes[:max(0, slices.Index(lanes, lane))] {
		keys = append(keys, fedKey(before), begunKey(before))
	}
	runs, err := feedScript.Run(ctx, q.rdb, keys, tasks, q.watchTime().Milliseconds(), slots).StringSlice()
	return runs, redisError(err, "feed runs")
}

// Swept is the result of a sweep of a run.
type Swept struct {
	Intents []Intent
	// Forced is the lease of a run's report past its final time. The sweeper commits the existing results, whoever
	// worked on it before. Nil otherwise.
	Forced *Lease
}

// Sweep computes from a run's state the wanted tasks that no attempt holds. If takeover is set, it gives units with
// lapsed leases to new generations. It seals a run whose research time is over, and sets the time of the run's next
// check. A published run wants nothing and is not checked again.
func (q *upkeep) Sweep(ctx context.Context, runID string, takeover bool) (Swept, error) {
	l := Lease{RunID: runID, Unit: UnitReport, owner: newOwner()}
	r, err := q.run(ctx, sweepScript, "sweep", runID, takeover, MaxLapses, q.watchTime().Milliseconds(),
		l.owner, q.timing.Lease.Milliseconds())
	if errors.Is(err, ErrStale) {
		return Swept{}, q.forget(ctx, runID)
	}
	if err != nil {
		return Swept{}, err
	}
	out := Swept{Intents: r.intents(runID)}
	n := note{lane: lua.Text(r.values, 0), state: r.state(), check: strconv.Itoa(lua.Number(r.values, 3)),
		paused: lua.Number(r.values, 7) == 1}
	if n.check == "-1" {
		n.check = "inf"
	}
	if n.state == topicqueue.RunQueued {
		out.Intents, n, err = q.sweepWaiting(ctx, runID, out.Intents, n)
		if err != nil {
			return Swept{}, err
		}
	}
	if l.Generation = lua.Number(r.values, 4); l.Generation > 0 {
		out.Forced, out.Intents = &l, nil
	}
	if err := q.note(ctx, runID, n); err != nil {
		return out, err
	}
	return out, q.count(ctx, map[string]float64{"deadline_missed": float64(lua.Number(r.values, 5)),
		"lapses": float64(lua.Number(r.values, 6))})
}

// forget removes a run from the index that is published, or was never created. It also stores the run's line, because
// the publisher may have died before.
func (q *upkeep) forget(ctx context.Context, runID string) error {
	run, err := q.read.Run(ctx, runID)
	if err == nil && !run.PublishedAt.IsZero() {
		err = q.batches.keepLine(ctx, run)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return q.note(ctx, runID, note{lane: run.Lane, check: "-1"})
}

// sweepWaiting handles a queued run, which wants its task only after Feed has chosen it.
func (q *upkeep) sweepWaiting(ctx context.Context, runID string, intents []Intent, n note) ([]Intent, note, error) {
	if len(intents) == 0 { // paused: it leaves its place to others
		return nil, n, nil
	}
	err := q.rdb.ZScore(ctx, fedKey(n.lane), runID).Err()
	switch {
	case err == nil:
		n.wait = "="
		// inf, or a late deadline
		if left, err := strconv.ParseInt(n.check, 10, 64); err != nil || left > q.watchTime().Milliseconds() {
			n.check = ms(q.watchTime())
		}
		return intents, n, nil
	case !errors.Is(err, redis.Nil):
		return nil, n, redisError(err, "look for run %s", runID)
	}
	times, err := q.rdb.HMGet(ctx, key(runID, "run"), "created", "deadline").Result()
	if err != nil {
		return nil, n, redisError(err, "read run %s", runID)
	}
	n.wait = turn(amount(lua.Text(times, 0)), amount(lua.Text(times, 1)))
	return nil, n, nil
}

// Advance gives a unit to its next generation because the job queue has a task for this one that will never begin. If
// active, the task is running and may still begin, so this happens only after Timing.Stuck.
func (q *upkeep) Advance(ctx context.Context, i Intent, active bool) ([]Intent, error) {
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
