package redisqueue

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
)

// Stats are the counters of all runs in this Redis. Scripts update them in a hash with the fields state:<state>,
// ended:<state>, deadline_missed, lapses, iterations, iteration_ms, tool_asked:<tool>, tool_shared:<tool>, and
// calls:<role>:<model>, tokens_in:..., tokens_out:..., cost_usd:..., longest:... of each model. Reading them does not
// iterate over runs.
type Stats struct {
	// unpublished runs by state; nil before the first run was counted
	Runs            map[topicqueue.RunState]int64
	Ended           map[topicqueue.RunState]int64 // all runs so far by final state
	DeadlinesMissed int64                         // total
	Lapses          int64                         // total of lapsed leases
	Models          []ModelStats
	Tools           map[string]topicqueue.ToolCalls // totals by tool
	Iterations      int64                           // total of block iterations
	IterationTime   time.Duration                   // sum of their durations
	Waiting         []Waiting                       // by lane, as requested
	// runs with regular checks: all runs not yet published
	Watched int64
	// delay of the next check of a run that has not ended; it grows if no worker runs
	Overdue time.Duration
}

// Waiting describes the runs of a lane that wait for planning and have no task yet.
type Waiting struct {
	Lane   string
	Runs   int64
	Oldest time.Duration // waiting time of the first run
}

// ModelStats counts the calls of one model in one role.
type ModelStats struct {
	Role, Model         string
	Calls               int64
	TokensIn, TokensOut int64
	CostUSD             float64 // of the calls with a known price
	// tokens of the longest answer that exceeded its limit; 0: none did
	Longest int64
}

// Stats reads the counters in one round trip, whatever the number of runs. lanes are the lanes whose waiting runs are
// counted.
func (q *upkeep) Stats(ctx context.Context, lanes ...string) (Stats, error) {
	var counters *redis.MapStringStringCmd
	var watched, ended *redis.IntCmd
	var next *redis.ZSliceCmd
	var clock *redis.TimeCmd
	waiting, oldest := make([]*redis.IntCmd, len(lanes)), make([]*redis.ZSliceCmd, len(lanes))
	// All keys share one hash tag. Redis's clock is the one that set the times.
	_, err := q.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		counters, next = p.HGetAll(ctx, statsKey), p.ZRangeWithScores(ctx, indexKey, 0, 0)
		watched, ended, clock = p.ZCard(ctx, indexKey), p.ZCard(ctx, endedKey), p.Time(ctx)
		for i, lane := range lanes {
			waiting[i], oldest[i] = p.ZCard(ctx, waitingKey(lane)), p.ZRangeWithScores(ctx, waitingKey(lane), 0, 0)
		}
		return nil
	})
	if err != nil {
		return Stats{}, fmt.Errorf("read the statistics from Redis: %w", err)
	}
	s := decodeStats(counters.Val())
	s.Watched, s.Overdue = watched.Val()+ended.Val(), sinceFirst(next.Val(), clock.Val())
	for i, lane := range lanes {
		s.Waiting = append(s.Waiting,
			Waiting{Lane: lane, Runs: waiting[i].Val(), Oldest: oldestOf(oldest[i].Val(), clock.Val().UnixMilli())})
	}
	return s, nil
}

// sinceFirst returns the time from the first score (ms) of a sorted set until now; 0 if there is none or it is in the
// future.
func sinceFirst(first []redis.Z, now time.Time) time.Duration {
	for _, z := range first {
		if !math.IsInf(z.Score, 0) { // infinite: no check before the run's next change
			return max(0, now.Sub(time.UnixMilli(int64(z.Score))))
		}
	}
	return 0
}

// oldestOf returns the waiting time of the first waiting run.
func oldestOf(first []redis.Z, now int64) time.Duration {
	for _, z := range first {
		return time.Duration(max(0, now-waitedSince(int64(z.Score)))) * time.Millisecond
	}
	return 0
}

func decodeStats(fields map[string]string) Stats {
	var s Stats
	if len(fields) > 0 {
		s.Runs, s.Ended = map[topicqueue.RunState]int64{}, map[topicqueue.RunState]int64{}
		for _, state := range topicqueue.RunStates {
			s.Runs[state] = 0
			if state.Final() {
				s.Ended[state] = 0
			}
		}
	}
	s.Tools = map[string]topicqueue.ToolCalls{}
	models := map[[2]string]*ModelStats{}
	for field, text := range fields {
		kind, name, _ := strings.Cut(field, ":")
		n, _ := strconv.ParseInt(text, 10, 64) // a value that is not a number counts as 0
		switch kind {
		case "state":
			s.Runs[topicqueue.RunState(name)] = n
			continue
		case "ended":
			s.Ended[topicqueue.RunState(name)] = n
			continue
		case "deadline_missed":
			s.DeadlinesMissed = n
			continue
		case "iterations":
			s.Iterations = n
			continue
		case "iteration_ms":
			s.IterationTime = time.Duration(n) * time.Millisecond
			continue
		case "lapses":
			s.Lapses = n
			continue
		case "tool_asked", "tool_shared":
			t := s.Tools[name]
			if kind == "tool_asked" {
				t.Asked = int(n)
			} else {
				t.Shared = int(n)
			}
			s.Tools[name] = t
			continue
		case "calls", "tokens_in", "tokens_out", "cost_usd", "longest":
		default:
			continue
		}
		role, model, _ := strings.Cut(name, ":") // names of models may contain colons
		m := models[[2]string{role, model}]
		if m == nil {
			m = &ModelStats{Role: role, Model: model}
			models[[2]string{role, model}] = m
		}
		switch kind {
		case "calls":
			m.Calls = n
		case "tokens_in":
			m.TokensIn = n
		case "tokens_out":
			m.TokensOut = n
		case "longest":
			m.Longest = n
		case "cost_usd":
			m.CostUSD, _ = strconv.ParseFloat(text, 64)
		}
	}
	for _, m := range models {
		s.Models = append(s.Models, *m)
	}
	slices.SortFunc(s.Models, func(a, b ModelStats) int {
		return cmp.Or(strings.Compare(a.Role, b.Role), strings.Compare(a.Model, b.Model))
	})
	return s
}
