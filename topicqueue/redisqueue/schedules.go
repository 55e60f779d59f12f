package redisqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue/redisqueue/lua"
	"nightdesk/topicqueue/schedule"
)

// schedulesKey is a hash: record by name. There are few schedules, and each changes by compare-and-set.
const schedulesKey = lua.Prefix + "{index}:schedules"

// ErrNoSchedule means that there is no schedule with this name.
var ErrNoSchedule = errors.New("no such schedule")

// schedules keeps the schedules of recurring batches.
type schedules struct{ base }

// Schedules returns all schedules by name.
func (q *schedules) Schedules(ctx context.Context) ([]schedule.Record, error) {
	fields, err := q.rdb.HGetAll(ctx, schedulesKey).Result()
	if err != nil {
		return nil, redisError(err, "read schedules")
	}
	var out []schedule.Record
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		r, err := decodeSchedule(name, fields[name])
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Schedule returns one schedule, or ErrNoSchedule.
func (q *schedules) Schedule(ctx context.Context, name string) (schedule.Record, error) {
	r, _, err := q.schedule(ctx, name)
	return r, err
}

// schedule returns one schedule and its text.
func (q *schedules) schedule(ctx context.Context, name string) (r schedule.Record, text string, err error) {
	text, err = q.rdb.HGet(ctx, schedulesKey, name).Result()
	switch {
	case errors.Is(err, redis.Nil):
		return r, "", fmt.Errorf("schedule %q: %w", name, ErrNoSchedule)
	case err != nil:
		return r, "", redisError(err, "read schedule %q", name)
	}
	r, err = decodeSchedule(name, text)
	return r, text, err
}

// AddSchedule stores a schedule unless the name exists. added reports whether it did.
func (q *schedules) AddSchedule(ctx context.Context, r schedule.Record) (added bool, err error) {
	data, err := json.Marshal(r)
	if err != nil {
		return false, fmt.Errorf("encode schedule %q: %w", r.Name, err)
	}
	return q.setSchedule(ctx, r.Name, "", string(data))
}

// ChangeSchedule changes a schedule. Concurrent changes are applied one after the other, each to the result of the
// one before. change may be called several times; its error ends the change and is returned. It returns ErrNoSchedule
// if there is no such schedule.
func (q *schedules) ChangeSchedule(ctx context.Context, name string,
	change func(*schedule.Record) error) (schedule.Record, error) {
	for {
		r, text, err := q.schedule(ctx, name)
		if err != nil {
			return r, err
		}
		if err := change(&r); err != nil {
			return r, err
		}
		data, err := json.Marshal(r)
		if err != nil {
			return r, fmt.Errorf("encode schedule %q: %w", name, err)
		}
		if string(data) == text {
			return r, nil
		}
		if set, err := q.setSchedule(ctx, name, text, string(data)); err != nil || set {
			return r, err
		}
	}
}

// RemoveSchedule removes a schedule and reports whether it existed. Its batches stay.
func (q *schedules) RemoveSchedule(ctx context.Context, name string) (removed bool, err error) {
	n, err := q.rdb.HDel(ctx, schedulesKey, name).Result()
	return n > 0, redisError(err, "remove schedule %q", name)
}

func (q *schedules) setSchedule(ctx context.Context, name, from, to string) (bool, error) {
	set, err := scheduleScript.Run(ctx, q.rdb, []string{schedulesKey}, name, from, to).Int()
	return set == 1, redisError(err, "change schedule %q", name)
}

func decodeSchedule(name, text string) (r schedule.Record, err error) {
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("decode schedule %q: %w", name, err)
	}
	return r, nil
}
