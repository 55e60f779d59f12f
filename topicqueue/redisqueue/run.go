package redisqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Create stores a run in state queued, where it waits until Feed chooses it. A run with this id that exists already is
// left as it is: created is false.
func (q *Queue) Create(ctx context.Context, run topicqueue.Run) (created bool, err error) {
	options, err := json.Marshal(run.Options)
	if err != nil {
		return false, fmt.Errorf("encode options of run %s: %w", run.ID, err)
	}
	// The batch entry comes first: an entry without a run is skipped by readers, a run without an entry would be lost.
	// Runs are listed in the order in which they were enqueued.
	order := float64(run.CreatedAt.UnixNano() / 1000)
	if added, err := q.addToBatch(ctx, run.Batch, run.ID, order); err != nil || !added { // its state may have expired
		return false, err
	}
	if err := q.join(ctx, run); err != nil {
		return false, err
	}
	// Looked at only when what follows breaks off: not one of 100,000 that wait is swept for nothing.
	if err := q.note(ctx, run.ID, note{check: ms(sweepTime), soonest: true, wait: "="}); err != nil {
		return false, err
	}
	deadline := int64(0)
	if !run.Options.Deadline.IsZero() {
		deadline = run.Options.Deadline.UnixMilli()
	}
	labels := ""
	if run.Ref != "" || len(run.Tags) > 0 {
		data, err := json.Marshal(run.Labels)
		if err != nil {
			return false, fmt.Errorf("encode labels of run %s: %w", run.ID, err)
		}
		labels = string(data)
	}
	narrate := 0
	if run.Options.Narrate {
		narrate = 1
	}
	r, err := q.run(ctx, createScript, "create", run.ID,
		run.ID, run.Batch, run.Topic, options, run.Lane, max(1, run.Options.MaxParallel), run.Options.Duration.Milliseconds(),
		run.Options.WritingTime.Milliseconds(), deadline, run.Options.MaxLoops, narrate, run.Options.Budget.Amount(),
		firstLimit(run.Options), labels)
	if err != nil || r.status != "ok" {
		return false, err
	}
	check := "inf"
	if deadline > 0 {
		check = "=" + strconv.FormatInt(deadline, 10) // by Redis's clock, whatever the one of this machine says
	}
	return true, q.note(ctx, run.ID, note{lane: run.Lane, state: topicqueue.RunQueued, check: check,
		wait: turn(run.CreatedAt.UnixMilli(), deadline)})
}

// turn is the place of a run among those of its lane that wait: the one that is due first, to the minute, then the
// oldest. Runs without a deadline come after all others, and have the time of their creation (ms) as their place.
func turn(created, deadline int64) string {
	if deadline > 0 {
		minute := deadline / turnMinute
		before := min(max(minute*turnMinute-created, 0), turnSpan-1)
		created = minute*turnSpan - before - turnsBefore
	}
	return strconv.FormatInt(created, 10)
}

const (
	turnMinute  = 60_000                // ms
	turnSpan    = 200_000_000           // ms before the minute, more than two days, in which ages count
	turnsBefore = 9_000_000_000_000_000 // makes places with a deadline negative; sorted sets keep them exactly
)

// waitedSince returns when the run at a place was created, ms; of one that is due in more than turnSpan the last time
// that it can have been.
func waitedSince(turn int64) int64 {
	if turn >= 0 {
		return turn
	}
	place := turn + turnsBefore
	minute := (place + turnSpan - 1) / turnSpan
	return minute*turnMinute - (minute*turnSpan - place)
}

// firstLimit is what a run may spend before it has a share of a common budget.
func firstLimit(o topicqueue.Options) int64 {
	if o.Common() {
		return 1
	}
	return o.Budget.Amount()
}

// Run returns one run. ErrNotFound when there is none with this id.
func (q *Queue) Run(ctx context.Context, runID string) (topicqueue.Run, error) {
	fields, err := q.rdb.HGetAll(ctx, key(runID, "run")).Result()
	if err != nil {
		return topicqueue.Run{}, fmt.Errorf("read run %s from Redis: %w", runID, err)
	}
	if len(fields) == 0 {
		return topicqueue.Run{}, fmt.Errorf("read run %s: %w", runID, ErrNotFound)
	}
	return decodeRun(fields)
}

func decodeRun(f map[string]string) (topicqueue.Run, error) {
	run := topicqueue.Run{
		ID: f["id"], Batch: f["batch"], Topic: f["topic"], Lane: f["lane"], State: topicqueue.RunState(f["state"]),
		Reason: f["reason"], Report: f["report"],
		Sealed: f["sealed"], Unpublished: f["unpublished"], Paused: f["paused"] != "",
		CreatedAt: lua.Time(f["created"]), StartedAt: lua.Time(f["started"]), EndedAt: lua.Time(f["ended"]),
		SealAt: lua.Time(f["seal"]), FinalAt: lua.Time(f["final"]), PublishedAt: lua.Time(f["published"]),
	}
	run.Limit, _ = strconv.ParseInt(f["limit"], 10, 64)
	run.Spent, _ = strconv.ParseInt(f["spent"], 10, 64)
	run.Cuts = strings.Fields(f["cuts"])
	for field, count := range f {
		if tool, ok := strings.CutPrefix(field, "asked:"); ok {
			if run.ToolCalls == nil {
				run.ToolCalls = map[string]topicqueue.ToolCalls{}
			}
			asked, _ := strconv.Atoi(count)
			shared, _ := strconv.Atoi(f["shared:"+tool])
			run.ToolCalls[tool] = topicqueue.ToolCalls{Asked: asked, Shared: shared}
		}
	}
	if labels := f["labels"]; labels != "" {
		if err := json.Unmarshal([]byte(labels), &run.Labels); err != nil {
			return run, fmt.Errorf("decode labels of run %s: %w", run.ID, err)
		}
	}
	if err := json.Unmarshal([]byte(f["options"]), &run.Options); err != nil {
		return run, fmt.Errorf("decode options of run %s: %w", run.ID, err)
	}
	return run, nil
}

// Blocks returns the blocks of a run by number; none before the plan is committed.
func (q *Queue) Blocks(ctx context.Context, runID string) ([]topicqueue.Block, error) {
	fields, err := q.rdb.HGetAll(ctx, key(runID, "blocks")).Result()
	if err != nil {
		return nil, fmt.Errorf("read blocks of run %s from Redis: %w", runID, err)
	}
	var out []topicqueue.Block
	for n := 1; ; n++ {
		id := topicqueue.BlockID(n)
		static, ok := fields[id]
		if !ok {
			return out, nil
		}
		b, err := decodeBlock(id, static, func(name string) string { return fields[id+":"+name] })
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", runID, err)
		}
		out = append(out, b)
	}
}

func decodeBlock(id, static string, field func(string) string) (topicqueue.Block, error) {
	var s topicqueue.SubTopic
	if err := json.Unmarshal([]byte(static), &s); err != nil {
		return topicqueue.Block{}, fmt.Errorf("decode %s: %w", id, err)
	}
	iterations, _ := strconv.Atoi(field("iterations"))
	var fallbacks []string
	if list := field("fallbacks"); list != "" {
		if err := json.Unmarshal([]byte(list), &fallbacks); err != nil {
			return topicqueue.Block{}, fmt.Errorf("decode fallbacks of %s: %w", id, err)
		}
	}
	return topicqueue.Block{
		ID: id, Title: s.Title, Overview: s.Overview, Queries: s.Queries, Parent: s.Parent, Why: s.Why,
		Status: topicqueue.BlockStatus(field("status")), Reason: field("reason"), Iterations: iterations,
		Fallbacks: fallbacks, BeganAt: lua.Time(field("began")),
		CreatedAt: lua.Time(field("created")), UpdatedAt: lua.Time(field("updated")),
	}, nil
}

// Traces returns the traces of one block, or of planning for UnitPlan, in the order in which they were stored.
func (q *Queue) Traces(ctx context.Context, runID, unit string) ([]topicqueue.ToolTrace, error) {
	texts, err := q.rdb.LRange(ctx, key(runID, "traces:"+unit), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("read traces of %s of run %s from Redis: %w", unit, runID, err)
	}
	return decodeList[topicqueue.ToolTrace](texts, "trace of "+unit)
}

// Returned returns the hashes that checkpoints and ends of blocks gave as Returned, in order, by unit. Those of the
// plan are in Plan.Returned. Empty when the run is unknown.
func (q *Queue) Returned(ctx context.Context, runID string) (map[string][]string, error) {
	lines, err := q.rdb.LRange(ctx, key(runID, "returned"), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("read what the calls of run %s returned from Redis: %w", runID, err)
	}
	out := map[string][]string{}
	for _, line := range lines {
		unit, hash, _ := strings.Cut(line, "\t")
		out[unit] = append(out[unit], hash)
	}
	return out, nil
}

// Plan returns the committed plan without its traces, which Traces has. ErrNotFound before CommitPlan.
func (q *Queue) Plan(ctx context.Context, runID string) (topicqueue.Plan, error) {
	var plan topicqueue.Plan
	data, err := q.rdb.Get(ctx, key(runID, "plan")).Bytes()
	if errors.Is(err, redis.Nil) {
		return plan, fmt.Errorf("read plan of run %s: %w", runID, ErrNotFound)
	}
	if err != nil {
		return plan, fmt.Errorf("read plan of run %s from Redis: %w", runID, err)
	}
	if err := json.Unmarshal(data, &plan); err != nil {
		return plan, fmt.Errorf("decode plan of run %s: %w", runID, err)
	}
	return plan, nil
}

// Review returns the last review of a run, the zero value when there was none.
func (q *Queue) Review(ctx context.Context, runID string) (topicqueue.Review, error) {
	var review topicqueue.Review
	data, err := q.rdb.HGet(ctx, key(runID, "run"), "review").Bytes()
	if errors.Is(err, redis.Nil) {
		return review, nil
	}
	if err != nil {
		return review, fmt.Errorf("read review of run %s from Redis: %w", runID, err)
	}
	if err := json.Unmarshal(data, &review); err != nil {
		return review, fmt.Errorf("decode review of run %s: %w", runID, err)
	}
	return review, nil
}

func decodeList[T any](texts []string, what string) ([]T, error) {
	out := make([]T, len(texts))
	for i, s := range texts {
		if err := json.Unmarshal([]byte(s), &out[i]); err != nil {
			return nil, fmt.Errorf("decode %s: %w", what, err)
		}
	}
	return out, nil
}

// encodeList returns the JSON list of the JSON texts of items, which scripts store one by one.
func encodeList[T any](items []T) (string, error) {
	texts := make([]string, len(items))
	for i, item := range items {
		data, err := json.Marshal(item)
		if err != nil {
			return "", err
		}
		texts[i] = string(data)
	}
	data, err := json.Marshal(texts)
	return string(data), err
}
