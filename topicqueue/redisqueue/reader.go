package redisqueue

import (
	"cmp"
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

// reader reads the contents of runs. It changes nothing and needs no lease.
type reader struct{ base }

// readJSON decodes the JSON value that cmd returns. found is false if there is none.
func readJSON[T any](cmd *redis.StringCmd, what string, args ...any) (v T, found bool, err error) {
	data, err := cmd.Bytes()
	if errors.Is(err, redis.Nil) || err == nil && len(data) == 0 {
		return v, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	return v, true, redisError(err, "read "+what, args...)
}

// readList decodes the JSON values of the list that cmd returns.
func readList[T any](cmd *redis.StringSliceCmd, what string, args ...any) ([]T, error) {
	texts, err := cmd.Result()
	out := make([]T, len(texts))
	for i, text := range texts {
		err = cmp.Or(err, json.Unmarshal([]byte(text), &out[i]))
	}
	if err != nil {
		return nil, redisError(err, "read "+what, args...)
	}
	return out, nil
}

// Run returns one run, or ErrNotFound if there is none with this id.
func (q *reader) Run(ctx context.Context, runID string) (topicqueue.Run, error) {
	fields, err := q.rdb.HGetAll(ctx, key(runID, "run")).Result()
	if err != nil {
		return topicqueue.Run{}, redisError(err, "read run %s", runID)
	}
	if len(fields) == 0 {
		return topicqueue.Run{}, fmt.Errorf("read run %s: %w", runID, ErrNotFound)
	}
	return new(runDecoder).decode(fields)
}

// runDecoder decodes runs one after another. Runs of a batch mostly have the same options, which take longest to
// decode, so it reuses the last decoded options. The options of several runs therefore share their lists.
type runDecoder struct {
	text    string
	options topicqueue.Options
}

func (d *runDecoder) decode(f map[string]string) (topicqueue.Run, error) {
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
	var tally topicqueue.Tally
	if json.Unmarshal([]byte(f["tally"]), &tally) == nil { // earlier versions wrote another format
		run.Tally = &tally
	}
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
	var errs []error
	read := func(field string, into any) {
		if text := f[field]; text != "" {
			errs = append(errs, json.Unmarshal([]byte(text), into))
		}
	}
	for n := 1; f[fmt.Sprint("question:", n)] != ""; n++ {
		number := strconv.Itoa(n)
		e := topicqueue.Exchange{AskedAt: lua.Time(f["posed:"+number]), Until: lua.Time(f["patience:"+number]),
			AnsweredAt: lua.Time(f["replied:"+number])}
		read("question:"+number, &e.Question)
		read("reply:"+number, &e.Reply)
		run.Dialogue = append(run.Dialogue, e)
	}
	read("labels", &run.Labels)
	if text := f["options"]; text != d.text || text == "" {
		d.text, d.options = "", topicqueue.Options{}
		if err := json.Unmarshal([]byte(text), &d.options); err != nil {
			return run, fmt.Errorf("decode options of run %s: %w", run.ID, err)
		}
		d.text = text
	}
	run.Options = d.options
	if f["narration"] != "" {
		run.Narration = &topicqueue.Narration{Mode: run.Options.Audio}
		read("narration", run.Narration)
	}
	if err := errors.Join(errs...); err != nil {
		return run, fmt.Errorf("decode run %s: %w", run.ID, err)
	}
	return run, nil
}

// Blocks returns the blocks of a run by number; none before the plan is committed.
func (q *reader) Blocks(ctx context.Context, runID string) ([]topicqueue.Block, error) {
	fields, err := q.rdb.HGetAll(ctx, key(runID, "blocks")).Result()
	if err != nil {
		return nil, redisError(err, "read blocks of run %s", runID)
	}
	var out []topicqueue.Block
	for n := 1; ; n++ {
		id := topicqueue.BlockID(n)
		static, ok := fields[id]
		if !ok {
			return out, nil
		}
		b, err := decodeBlock(id, static, fields)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", runID, err)
		}
		out = append(out, b)
	}
}

func decodeBlock(id, static string, fields map[string]string) (topicqueue.Block, error) {
	field := func(name string) string { return fields[id+":"+name] }
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
func (q *reader) Traces(ctx context.Context, runID, unit string) ([]topicqueue.ToolTrace, error) {
	return readList[topicqueue.ToolTrace](q.rdb.LRange(ctx, key(runID, "traces:"+unit), 0, -1),
		"traces of %s of run %s", unit, runID)
}

// Returned returns, by unit and in order, the hashes passed as Returned to checkpoints and ends of blocks. Those of
// the plan are in Plan.Returned. The result is empty if the run is unknown.
func (q *reader) Returned(ctx context.Context, runID string) (map[string][]string, error) {
	lines, err := q.rdb.LRange(ctx, key(runID, "returned"), 0, -1).Result()
	if err != nil {
		return nil, redisError(err, "read the returned sources of run %s", runID)
	}
	out := map[string][]string{}
	for _, line := range lines {
		unit, hash, _ := strings.Cut(line, "\t")
		out[unit] = append(out[unit], hash)
	}
	return out, nil
}

// Plan returns the committed plan without its traces, which Traces returns. It returns ErrNotFound before CommitPlan.
func (q *reader) Plan(ctx context.Context, runID string) (topicqueue.Plan, error) {
	plan, found, err := readJSON[topicqueue.Plan](q.rdb.Get(ctx, key(runID, "plan")), "plan of run %s", runID)
	if err == nil && !found {
		err = fmt.Errorf("read plan of run %s: %w", runID, ErrNotFound)
	}
	return plan, err
}

// Memory returns the memory of a block at its last checkpoint; the zero value if there was none.
func (q *reader) Memory(ctx context.Context, runID, block string) (topicqueue.BlockMemory, error) {
	memory, _, err := readJSON[topicqueue.BlockMemory](q.rdb.HGet(ctx, key(runID, "work"), block+":memory"),
		"the memory of %s of run %s", block, runID)
	return memory, err
}

// Review returns the last review of a run; the zero value if there was none.
func (q *reader) Review(ctx context.Context, runID string) (topicqueue.Review, error) {
	review, _, err := readJSON[topicqueue.Review](q.rdb.HGet(ctx, key(runID, "run"), "review"), "review of run %s", runID)
	return review, err
}

// titles returns the titles of all blocks of a run.
func (q *reader) titles(ctx context.Context, runID string) ([]topicqueue.BlockTitle, error) {
	blocks, err := q.Blocks(ctx, runID)
	if err != nil {
		return nil, err
	}
	out := make([]topicqueue.BlockTitle, len(blocks))
	for i, b := range blocks {
		out[i] = topicqueue.BlockTitle{ID: b.ID, Title: b.Title}
	}
	return out, nil
}

// Report returns the Outcome.Content passed to Finish; nil if the run has no report or is published.
func (q *reader) Report(ctx context.Context, runID string) ([]byte, error) {
	data, err := q.rdb.Get(ctx, key(runID, "report")).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	return data, redisError(err, "read report of run %s", runID)
}

// Usage returns the recorded model calls of a run, oldest first.
func (q *reader) Usage(ctx context.Context, runID string) ([]topicqueue.Usage, error) {
	return readList[topicqueue.Usage](q.rdb.LRange(ctx, key(runID, "usage"), 0, -1), "usage of run %s", runID)
}
