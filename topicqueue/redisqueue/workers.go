package redisqueue

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"nightdesk/topicqueue/redisqueue/lua"
)

const workersKey = lua.Prefix + "{index}:workers" // sorted set: worker by its last sign of life (ms)

var attendScript = lua.Script("attend")

const (
	// workerSilence is after how long without a sign of life a worker does not count: it gives one every second.
	workerSilence = 5 * time.Second
	// workerMemory is how long the last sign of life of a worker is kept.
	workerMemory = 7 * 24 * time.Hour
)

// Workers are those that serve the lanes for all, as they tell of themselves.
type Workers struct {
	Live  int
	Slots int           // that research, of all of them
	Seen  time.Duration // since the last sign of life of any; negative: there was none for a week
}

// Workers returns who works now.
func (q *upkeep) Workers(ctx context.Context) (Workers, error) {
	_, w, err := q.attend(ctx, "", 0)
	return w, err
}

func (q *upkeep) attend(ctx context.Context, worker string, since int64) (int64, Workers, error) {
	v, err := attendScript.Run(ctx, q.rdb, []string{workersKey}, worker, since, workerSilence.Milliseconds(),
		workerMemory.Milliseconds()).Int64Slice()
	if err != nil {
		return 0, Workers{}, fmt.Errorf("count the workers in Redis: %w", err)
	}
	return v[0], Workers{Live: int(v[1]), Slots: int(v[2]), Seen: time.Duration(v[3]) * time.Millisecond}, nil
}

// Attendance is the presence of one worker among all. Not safe for concurrent use.
type Attendance struct {
	q      *upkeep
	worker string
	since  int64 // of its first sign of life, by Redis's clock
}

// Attend returns the presence of a worker with so many slots, which begins with its first Beat.
func (q *upkeep) Attend(slots int) *Attendance {
	return &Attendance{q: q, worker: newOwner() + " " + strconv.Itoa(slots)}
}

// Beat gives a sign of life and returns who works now. Of the others only those count that were heard of since this one
// began: which of those before it were killed nobody knows yet.
func (a *Attendance) Beat(ctx context.Context) (Workers, error) {
	now, w, err := a.q.attend(ctx, a.worker, a.since)
	if err == nil && a.since == 0 { // the first answer has all that were there before
		a.since = now
		return a.Beat(ctx)
	}
	return w, err
}

// End says that the worker takes no more tasks.
func (a *Attendance) End(ctx context.Context) error {
	if err := a.q.rdb.ZRem(ctx, workersKey, a.worker).Err(); err != nil {
		return fmt.Errorf("leave the workers in Redis: %w", err)
	}
	return nil
}
