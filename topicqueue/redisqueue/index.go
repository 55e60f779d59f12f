package redisqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// The run index. Its keys share a hash tag of their own: no script can touch them together with a run's keys, so each
// is written after the run, and what a crash leaves out is found by the sweep, to which every run is announced before
// it changes.
const (
	indexKey = lua.Prefix + "{index}:runs" // sorted set: run by the time of its next check (ms)
	// the same for runs that have ended: however many are to be published, no run in work waits for its check
	endedKey = lua.Prefix + "{index}:ended"
	clockKey = lua.Prefix + "{index}:clock"  // hash: last sweep, end of the quiet time after a gap
	statsKey = lua.Prefix + "{index}:stats"  // hash: counts for metrics, see Stats
	stateKey = lua.Prefix + "{index}:states" // hash: run -> state, of all runs that are not yet published
)

// sorted set: run by age (ms)
func waitingKey(lane string) string { return lua.Prefix + "{index}:waiting:" + lane }

// sorted set: of those that wait, the ones with a task
func fedKey(lane string) string { return lua.Prefix + "{index}:fed:" + lane }

// set: runs that take slots, see begun
func begunKey(lane string) string { return lua.Prefix + "{index}:begun:" + lane }

// Lanes that all workers serve, in the order in which they do; others are private to one process.
var lanes = []string{"high", "", "low"}

// begun reports whether a run in this state takes slots for research: those that have slots of their own or need none
// do not.
func begun(s topicqueue.RunState) bool {
	return s == topicqueue.RunPlanning || s == topicqueue.RunResearching
}

// MaxLapses is how often a unit's workers may end without any progress before the unit is given up: what kills five
// workers would kill them all.
const MaxLapses = 5

const (
	sweepBatch = 200              // runs of one Due, and as many that have ended
	sweepTime  = 30 * time.Second // a run that was due is seen by others after this when its sweeper dies
)

// watchTime is how often a run that is worked is looked at: often enough that a lapsed lease is seen soon.
func (q *Queue) watchTime() time.Duration { return q.timing.Lease / 4 }

// note is what the index is told of one run.
type note struct {
	lane  string
	state topicqueue.RunState // empty = unchanged
	// next look in ms; empty = unchanged, "inf" = never, "-1" = forget the run; after "=": its time, ms since 1970
	check   string
	soonest bool   // the next look is only brought forward
	wait    string // place among those that wait for planning; empty: does not wait, "=" unchanged
	paused  bool
}

func (q *Queue) note(ctx context.Context, runID string, n note) error {
	soonest := 0
	if n.soonest {
		soonest = 1
	}
	slots := ""
	switch {
	case n.check == "-1", n.state != "" && (n.paused || !begun(n.state)):
		slots = "0"
	case n.state != "":
		slots = "1"
	}
	if err := noteScript.Run(ctx, q.rdb, indexKeys(n.lane), runID, string(n.state), n.check, soonest, n.wait,
		ms(q.watchTime()), slots).Err(); err != nil {
		return fmt.Errorf("note run %s in Redis: %w", runID, err)
	}
	return nil
}

func indexKeys(lane string) []string {
	return []string{indexKey, stateKey, statsKey, waitingKey(lane), fedKey(lane), endedKey, begunKey(lane)}
}

func ms(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// watch makes sure that a run is looked at again soon. It is called before a transition whose tasks could be lost.
func (q *Queue) watch(ctx context.Context, runID string) error {
	return q.note(ctx, runID, note{check: ms(q.watchTime()), soonest: true, wait: "="})
}

// moved tells the index that a run that is no longer waiting came into a state, and that it is to be looked at: the
// last look may have been at a state in which it had nothing to do.
func (q *Queue) moved(ctx context.Context, runID string, r reply) error {
	return q.note(ctx, runID, note{lane: lua.Text(r.values, 0), state: r.state(), check: ms(q.watchTime()), soonest: true})
}

// Due returns runs whose next check has come, and whether lapsed leases may be taken over now.
func (q *Queue) Due(ctx context.Context) (runs []string, takeover bool, err error) {
	values, err := dueScript.Run(ctx, q.rdb, []string{indexKey, endedKey, clockKey},
		sweepBatch, sweepTime.Milliseconds(), q.timing.Gap.Milliseconds(), q.timing.Quiet.Milliseconds()).Slice()
	if err != nil {
		return nil, false, fmt.Errorf("find due runs in Redis: %w", err)
	}
	ids, _ := values[1].([]any)
	for i := range ids {
		runs = append(runs, lua.Text(ids, i))
	}
	return runs, lua.Text(values, 0) == "1", nil
}

// Feed chooses which waiting runs of a lane are planned next, the oldest first, until tasks of them are in the job
// queue. No more runs are begun than there are slots, of this lane and those before it; slots: of all workers, 0 = any
// number of runs. The caller sweeps each for its task.
func (q *Queue) Feed(ctx context.Context, lane string, tasks, slots int) ([]string, error) {
	keys := indexKeys(lane)
	for _, before := range lanes[:max(0, slices.Index(lanes, lane))] {
		keys = append(keys, fedKey(before), begunKey(before))
	}
	runs, err := feedScript.Run(ctx, q.rdb, keys, tasks, q.watchTime().Milliseconds(), slots).StringSlice()
	if err != nil {
		return nil, fmt.Errorf("feed runs from Redis: %w", err)
	}
	return runs, nil
}

// Swept is what a look at a run found.
type Swept struct {
	Intents []Intent
	// Forced is the lease of a run's report past its final time: whoever swept it commits what there is, whoever worked
	// on it before. Nil otherwise.
	Forced *Lease
}

// Sweep computes from a run's state alone which tasks it wants that nobody works on, gives units with lapsed leases to
// new generations when takeover is set, seals a run whose time for research is over, and sets the time of the run's
// next check. A run that is published wants nothing and is not looked at again.
func (q *Queue) Sweep(ctx context.Context, runID string, takeover bool) (Swept, error) {
	flag := 0
	if takeover {
		flag = 1
	}
	l := Lease{RunID: runID, Unit: UnitReport, owner: newOwner()}
	r, err := q.run(ctx, sweepScript, "sweep", runID, flag, MaxLapses, q.watchTime().Milliseconds(),
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

// count adds to the counters of Stats.
func (q *Queue) count(ctx context.Context, counters map[string]float64) error {
	_, err := q.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for name, n := range counters {
			if n != 0 {
				p.HIncrByFloat(ctx, statsKey, name, n)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("count in Redis: %w", err)
	}
	return nil
}

// forget takes a run that is published, or that was never created, out of the index. Whoever published it may have died
// before its line was kept.
func (q *Queue) forget(ctx context.Context, runID string) error {
	run, err := q.Run(ctx, runID)
	if err == nil && !run.PublishedAt.IsZero() {
		err = q.keepLine(ctx, run)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return q.note(ctx, runID, note{lane: run.Lane, check: "-1"})
}

// sweepWaiting looks at a run that is to be planned: it wants its task only when it was fed.
func (q *Queue) sweepWaiting(ctx context.Context, runID string, intents []Intent, n note) ([]Intent, note, error) {
	if len(intents) == 0 { // paused: it gives its place to others
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
		return nil, n, fmt.Errorf("look for run %s in Redis: %w", runID, err)
	}
	times, err := q.rdb.HMGet(ctx, key(runID, "run"), "created", "deadline").Result()
	if err != nil {
		return nil, n, fmt.Errorf("read run %s from Redis: %w", runID, err)
	}
	n.wait = turn(amount(lua.Text(times, 0)), amount(lua.Text(times, 1)))
	return nil, n, nil
}

// Advance gives a unit to its next generation because the job queue has a task for this one that will never begin.
// active: the task is active there, so it may still begin; then the unit is given on only when that has lasted too
// long.
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
