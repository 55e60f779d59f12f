package redisqueue

import (
	"cmp"
	"context"
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
	Runs            map[topicqueue.RunState]int64 // unpublished runs by state; nil before the first run was counted
	Ended           map[topicqueue.RunState]int64 // all runs so far by final state
	DeadlinesMissed int64                         // total
	Lapses          int64                         // total of lapsed leases
	Models          []ModelStats
	Tools           map[string]topicqueue.ToolCalls // totals by tool
	Iterations      int64                           // total of block iterations
	IterationTime   time.Duration                   // sum of their durations
	Waiting         []Waiting                       // by lane, as requested
	Unpublished     int64                           // runs not yet published, which the sweep checks regularly
	Overdue         time.Duration                   // how late the oldest due check is; it grows if no worker runs
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
		return Stats{}, redisError(err, "read the statistics")
	}
	s := decodeStats(counters.Val())
	s.Unpublished, s.Overdue = watched.Val()+ended.Val(), sinceFirst(next.Val(), clock.Val())
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

// decodeStats parses the fields of the counters' hash. A value that is not a number counts as 0.
func decodeStats(fields map[string]string) Stats {
	s := Stats{Tools: map[string]topicqueue.ToolCalls{}}
	if len(fields) > 0 {
		s.Runs, s.Ended = map[topicqueue.RunState]int64{}, map[topicqueue.RunState]int64{}
		for _, state := range topicqueue.RunStates {
			s.Runs[state] = 0
			if state.Final() {
				s.Ended[state] = 0
			}
		}
	}
	models := modelCounters{}
	for field, text := range fields {
		kind, name, _ := strings.Cut(field, ":")
		n, _ := strconv.ParseInt(text, 10, 64)
		tool := s.Tools[name]
		switch kind {
		case "state":
			s.Runs[topicqueue.RunState(name)] = n
		case "ended":
			s.Ended[topicqueue.RunState(name)] = n
		case "deadline_missed":
			s.DeadlinesMissed = n
		case "iterations":
			s.Iterations = n
		case "iteration_ms":
			s.IterationTime = time.Duration(n) * time.Millisecond
		case "lapses":
			s.Lapses = n
		case "tool_asked":
			tool.Asked = int(n)
			s.Tools[name] = tool
		case "tool_shared":
			tool.Shared = int(n)
			s.Tools[name] = tool
		case "calls":
			models.of(name).Calls = n
		case "tokens_in":
			models.of(name).TokensIn = n
		case "tokens_out":
			models.of(name).TokensOut = n
		case "longest":
			models.of(name).Longest = n
		case "cost_usd":
			models.of(name).CostUSD, _ = strconv.ParseFloat(text, 64)
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

// modelCounters are the counters of models by field name, which is role:model.
type modelCounters map[string]*ModelStats

// of returns the counters of a model, and adds them if necessary.
func (c modelCounters) of(name string) *ModelStats {
	if c[name] == nil {
		role, model, _ := strings.Cut(name, ":") // model names may contain colons
		c[name] = &ModelStats{Role: role, Model: model}
	}
	return c[name]
}
