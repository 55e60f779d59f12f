package redisqueue

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Keys of the run index. They share a hash tag of their own, so no script can change them together with a run's keys.
// The index is written after the run. Every run is announced to the sweep before it changes, so that the sweep finds
// updates lost in a crash.
const (
	indexKey = lua.Prefix + "{index}:runs" // sorted set: run by time of its next check (ms)
	// the same for runs that have ended, so that a backlog of publishing does not delay checks of runs in work
	endedKey = lua.Prefix + "{index}:ended"
	clockKey = lua.Prefix + "{index}:clock"  // hash: last sweep, end of the quiet time after a gap
	statsKey = lua.Prefix + "{index}:stats"  // hash: counts for metrics, see Stats
	stateKey = lua.Prefix + "{index}:states" // hash: run -> state, for all runs not yet published
)

// waitingKey names a sorted set: waiting runs by turn.
func waitingKey(lane string) string { return lua.Prefix + "{index}:waiting:" + lane }

// fedKey names a sorted set: waiting runs that have a task.
func fedKey(lane string) string { return lua.Prefix + "{index}:fed:" + lane }

// begunKey names a set: runs that take slots, see begun.
func begunKey(lane string) string { return lua.Prefix + "{index}:begun:" + lane }

// lanes are the lanes that all workers serve, in their order. Other lanes are private to one process.
var lanes = []string{"high", "", "low"}

// begun reports whether a run in this state takes a research slot. Other states have slots of their own or need none.
func begun(s topicqueue.RunState) bool {
	return s == topicqueue.RunPlanning || s == topicqueue.RunResearching
}

// MaxLapses is how often a unit's workers may die without progress before the unit is given up. A unit that kills
// five workers would kill them all.
const MaxLapses = 5

const (
	sweepBatch = 200              // maximum number of runs per Due, and of ended runs
	sweepTime  = 30 * time.Second // time after which another sweeper gets a due run, if its sweeper died
)

// watchTime is the interval between checks of a run in work, short enough to see a lapsed lease soon.
func (q *base) watchTime() time.Duration { return q.timing.Lease / 4 }

// note is an update of the index for one run.
type note struct {
	lane  string
	state topicqueue.RunState // empty: unchanged
	// next check in ms; empty: unchanged, "inf": never, "-1": remove the run, "=" and a number: time in ms since 1970
	check   string
	soonest bool   // only bring the next check forward
	wait    string // position among the runs that wait for planning; empty: does not wait, "=": unchanged
	paused  bool
}

func (q *base) note(ctx context.Context, runID string, n note) error {
	slots := ""
	switch {
	case n.check == "-1", n.state != "" && (n.paused || !begun(n.state)):
		slots = "0"
	case n.state != "":
		slots = "1"
	}
	return redisError(noteScript.Run(ctx, q.rdb, indexKeys(n.lane), runID, string(n.state), n.check, n.soonest, n.wait,
		ms(q.watchTime()), slots).Err(), "record run %s", runID)
}

func indexKeys(lane string) []string {
	return []string{indexKey, stateKey, statsKey, waitingKey(lane), fedKey(lane), endedKey, begunKey(lane)}
}

func ms(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// watch ensures that a run is checked again soon. Call it before a transition whose tasks could be lost.
func (q *base) watch(ctx context.Context, runID string) error {
	return q.note(ctx, runID, note{check: ms(q.watchTime()), soonest: true, wait: "="})
}

// moved records in the index the new state of a run that no longer waits. It also brings the next check forward,
// because the last one may have seen a state in which the run had nothing to do.
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
	return redisError(err, "count")
}
