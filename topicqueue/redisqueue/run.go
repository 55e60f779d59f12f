package redisqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
)

const batchesKey = prefix + "batches" // sorted set: batch name by creation (ms)

func batchKey(name, part string) string { return prefix + "batch:{" + name + "}:" + part }

// OpenBatch makes a batch known and returns the time of its creation, which is the same for every call: it is part of
// the run ids.
func (q *Queue) OpenBatch(ctx context.Context, name string, now time.Time) (time.Time, error) {
	if err := q.rdb.ZAddNX(ctx, batchesKey, redis.Z{Score: float64(now.UnixMilli()), Member: name}).Err(); err != nil {
		return time.Time{}, fmt.Errorf("open batch %q in Redis: %w", name, err)
	}
	created, err := q.rdb.ZScore(ctx, batchesKey, name).Result()
	if err != nil {
		return time.Time{}, fmt.Errorf("open batch %q in Redis: %w", name, err)
	}
	return time.UnixMilli(int64(created)).UTC(), nil
}

// Create stores a run in state queued and returns the task it wants. A run with this id that exists already is left as
// it is: created is false and the intents are the existing run's.
func (q *Queue) Create(ctx context.Context, run topicqueue.Run) (created bool, intents []Intent, err error) {
	options, err := json.Marshal(run.Options)
	if err != nil {
		return false, nil, fmt.Errorf("encode options of run %s: %w", run.ID, err)
	}
	// The batch entry comes first: an entry without a run is skipped by readers, a run without an entry would be lost.
	// Runs are listed in the order in which they were enqueued.
	order := float64(run.CreatedAt.UnixNano() / 1000)
	if err := q.rdb.ZAddNX(ctx, batchKey(run.Batch, "runs"), redis.Z{Score: order, Member: run.ID}).Err(); err != nil {
		return false, nil, fmt.Errorf("add run %s to batch %q in Redis: %w", run.ID, run.Batch, err)
	}
	if err := q.watch(ctx, run.ID, q.watchTime()); err != nil {
		return false, nil, err
	}
	r, err := q.run(ctx, createScript, "create", run.ID,
		run.ID, run.Batch, run.Topic, options, run.Lane, max(1, run.Options.MaxParallel))
	if err != nil {
		return false, nil, err
	}
	return r.status == "ok", r.intents(run.ID), nil
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
		CreatedAt: millis(f["created"]), StartedAt: millis(f["started"]), EndedAt: millis(f["ended"]),
	}
	if err := json.Unmarshal([]byte(f["options"]), &run.Options); err != nil {
		return run, fmt.Errorf("decode options of run %s: %w", run.ID, err)
	}
	return run, nil
}

// Batch names one batch.
type Batch struct {
	Name      string    `json:"batch"`
	CreatedAt time.Time `json:"created_at"`
}

// Batches returns all batches, oldest first.
func (q *Queue) Batches(ctx context.Context) ([]Batch, error) {
	members, err := q.rdb.ZRangeWithScores(ctx, batchesKey, 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("list batches in Redis: %w", err)
	}
	out := make([]Batch, len(members))
	for i, m := range members {
		name, _ := m.Member.(string)
		out[i] = Batch{Name: name, CreatedAt: time.UnixMilli(int64(m.Score)).UTC()}
	}
	return out, nil
}

// listChunk is how many runs one round trip reads.
const listChunk = 500

// Runs calls yield for every run of a batch in the order of enqueueing, and stops at its first error.
func (q *Queue) Runs(ctx context.Context, batch string, yield func(topicqueue.Run) error) error {
	for start := int64(0); ; start += listChunk {
		ids, err := q.rdb.ZRange(ctx, batchKey(batch, "runs"), start, start+listChunk-1).Result()
		if err != nil {
			return fmt.Errorf("list runs of batch %q in Redis: %w", batch, err)
		}
		if len(ids) == 0 {
			return nil
		}
		cmds, err := q.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, id := range ids {
				p.HGetAll(ctx, key(id, "run"))
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("read runs of batch %q from Redis: %w", batch, err)
		}
		for _, cmd := range cmds {
			fields := cmd.(*redis.MapStringStringCmd).Val()
			if len(fields) == 0 {
				continue
			}
			run, err := decodeRun(fields)
			if err != nil {
				return err
			}
			if err := yield(run); err != nil {
				return err
			}
		}
	}
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
		ID: id, Title: s.Title, Overview: s.Overview, Queries: s.Queries, Parent: s.Parent,
		Status: topicqueue.BlockStatus(field("status")), Reason: field("reason"), Iterations: iterations,
		Fallbacks: fallbacks,
		CreatedAt: millis(field("created")), UpdatedAt: millis(field("updated")),
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

// RecordUsage appends the cost of one model call to a run. It is not fenced: a call that was made was paid for.
func (q *Queue) RecordUsage(ctx context.Context, runID string, u topicqueue.Usage) error {
	data, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("encode usage of run %s: %w", runID, err)
	}
	if err := q.rdb.RPush(ctx, key(runID, "usage"), data).Err(); err != nil {
		return fmt.Errorf("record usage of run %s in Redis: %w", runID, err)
	}
	return nil
}

// Usage returns the recorded model calls of a run, oldest first.
func (q *Queue) Usage(ctx context.Context, runID string) ([]topicqueue.Usage, error) {
	texts, err := q.rdb.LRange(ctx, key(runID, "usage"), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("read usage of run %s from Redis: %w", runID, err)
	}
	return decodeList[topicqueue.Usage](texts, "usage record")
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
