package redisqueue

import (
	"context"
	"fmt"
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
func (q *base) watchTime() time.Duration { return q.timing.Lease / 4 }

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

func (q *base) note(ctx context.Context, runID string, n note) error {
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
func (q *base) watch(ctx context.Context, runID string) error {
	return q.note(ctx, runID, note{check: ms(q.watchTime()), soonest: true, wait: "="})
}

// moved tells the index that a run that is no longer waiting came into a state, and that it is to be looked at: the
// last look may have been at a state in which it had nothing to do.
func (q *base) moved(ctx context.Context, runID string, r reply) error {
	return q.note(ctx, runID, note{lane: lua.Text(r.values, 0), state: r.state(), check: ms(q.watchTime()), soonest: true})
}

// count adds to the counters of Stats.
func (q *base) count(ctx context.Context, counters map[string]float64) error {
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
