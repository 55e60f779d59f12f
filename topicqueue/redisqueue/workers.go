package redisqueue

import (
	"context"
	"strconv"
	"time"

	"nightdesk/topicqueue/redisqueue/lua"
)

const workersKey = lua.Prefix + "{index}:workers" // sorted set: worker by last sign of life (ms)

var attendScript = lua.Script("attend")

const (
	// workerSilence is the time without a sign of life after which a worker does not count. It gives one every
	// second.
	workerSilence = 5 * time.Second
	// workerMemory is how long the last sign of life of a worker is kept.
	workerMemory = 7 * 24 * time.Hour
)

// Workers describes the workers that serve the shared lanes, as reported by themselves.
type Workers struct {
	Live  int
	Slots int           // total research slots
	Seen  time.Duration // time since the last sign of life of any; negative: none for a week
}

// Workers returns the present workers.
func (q *upkeep) Workers(ctx context.Context) (Workers, error) {
	_, w, err := q.attend(ctx, "", 0)
	return w, err
}

func (q *upkeep) attend(ctx context.Context, worker string, since int64) (int64, Workers, error) {
	v, err := attendScript.Run(ctx, q.rdb, []string{workersKey}, worker, since, workerSilence.Milliseconds(),
		workerMemory.Milliseconds()).Int64Slice()
	if err != nil {
		return 0, Workers{}, redisError(err, "count the workers")
	}
	return v[0], Workers{Live: int(v[1]), Slots: int(v[2]), Seen: time.Duration(v[3]) * time.Millisecond}, nil
}

// Attendance is the presence of one worker. Not safe for concurrent use.
type Attendance struct {
	q      *upkeep
	worker string
	since  int64 // time of its first sign of life, by Redis's clock
}

// Attend returns the presence of a worker with the given number of slots. It begins with the first Beat.
func (q *upkeep) Attend(slots int) *Attendance {
	return &Attendance{q: q, worker: newOwner() + " " + strconv.Itoa(slots)}
}

// Beat gives a sign of life and returns the present workers. Other workers count only if they were seen since this
// one began, because earlier ones may have been killed.
func (a *Attendance) Beat(ctx context.Context) (Workers, error) {
	now, w, err := a.q.attend(ctx, a.worker, a.since)
	if err == nil && a.since == 0 { // the first answer includes all earlier workers
		a.since = now
		return a.Beat(ctx)
	}
	return w, err
}

// End records that the worker takes no more tasks.
func (a *Attendance) End(ctx context.Context) error {
	return redisError(a.q.rdb.ZRem(ctx, workersKey, a.worker).Err(), "leave the workers")
}
