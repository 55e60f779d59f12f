package redisqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

const batchesKey = lua.Prefix + "batches" // sorted set: batch name by creation (ms)

func batchKey(name, part string) string { return lua.Prefix + "batch:{" + name + "}:" + part }

// batches keeps the lists of batches and their runs, and determines when a batch has ended.
type batches struct {
	base
	read *reader
}

// OpenBatch registers a batch, to which runs are added until SealBatch. It returns the creation time, which is part
// of the run ids and the same for every call.
func (q *batches) OpenBatch(ctx context.Context, name string, now time.Time) (time.Time, error) {
	err := q.rdb.ZAddNX(ctx, batchesKey, redis.Z{Score: float64(now.UnixMilli()), Member: name}).Err()
	if err == nil {
		err = q.rdb.HDel(ctx, batchKey(name, "state"), "sealed").Err() // more runs follow
	}
	if err != nil {
		return time.Time{}, redisError(err, "open batch %q", name)
	}
	b, err := q.Batch(ctx, name)
	return b.CreatedAt, err
}

// Batch names one batch.
type Batch struct {
	Name      string    `json:"batch"`
	CreatedAt time.Time `json:"created_at"`
}

// Batch returns one batch, or ErrNotFound if there is none of this name.
func (q *batches) Batch(ctx context.Context, name string) (Batch, error) {
	created, err := q.rdb.ZScore(ctx, batchesKey, name).Result()
	if errors.Is(err, redis.Nil) {
		return Batch{}, fmt.Errorf("read batch %q: %w", name, ErrNotFound)
	}
	return Batch{Name: name, CreatedAt: time.UnixMilli(int64(created)).UTC()}, redisError(err, "read batch %q", name)
}

// Batches returns all batches, oldest first.
func (q *batches) Batches(ctx context.Context) ([]Batch, error) {
	members, err := q.rdb.ZRangeWithScores(ctx, batchesKey, 0, -1).Result()
	if err != nil {
		return nil, redisError(err, "list batches")
	}
	out := make([]Batch, len(members))
	for i, m := range members {
		name, _ := m.Member.(string)
		out[i] = Batch{Name: name, CreatedAt: time.UnixMilli(int64(m.Score)).UTC()}
	}
	return out, nil
}

// BatchRuns returns the ids of all runs of a batch in the order of enqueueing.
func (q *batches) BatchRuns(ctx context.Context, batch string) ([]string, error) {
	ids, err := q.rdb.ZRange(ctx, batchKey(batch, "runs"), 0, -1).Result()
	return ids, redisError(err, "list runs of batch %q", batch)
}

// listChunk is the number of runs read per round trip.
const listChunk = 500

// Runs calls yield for every run of a batch in the order of enqueueing, and stops at its first error. Runs whose
// state cannot be read are skipped and returned at the end as a *BrokenError.
func (q *batches) Runs(ctx context.Context, batch string, yield func(topicqueue.Run) error) error {
	return q.RunsFrom(ctx, batch, 0, func(_ int, run topicqueue.Run) error { return yield(run) })
}

// RunsFrom is like Runs but starts at position from. yield receives the position of each run, counted from 0.
func (q *batches) RunsFrom(ctx context.Context, batch string, from int,
	yield func(at int, run topicqueue.Run) error) error {
	var broken []error
	var decoder runDecoder
	for start := from; ; start += listChunk {
		ids, err := q.rdb.ZRange(ctx, batchKey(batch, "runs"), int64(start), int64(start+listChunk-1)).Result()
		if err != nil {
			return redisError(err, "list runs of batch %q", batch)
		}
		if len(ids) == 0 && len(broken) > 0 {
			return &BrokenError{errors.Join(broken...)}
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
		if err != nil && !wrongType(err) { // that is for single runs, whose commands have the error
			return redisError(err, "read runs of batch %q", batch)
		}
		for i, cmd := range cmds {
			run, err := q.listed(ctx, batch, ids[i], &decoder, cmd.(*redis.MapStringStringCmd))
			switch {
			case wrongType(err), errors.Is(err, errDamaged):
				broken = append(broken, fmt.Errorf("run %s cannot be read from Redis: key %s has an unexpected value (%w); "+
					"remove it with redis-cli DEL '%[2]s'", ids[i], key(ids[i], "run"), err))
			case err != nil:
				return err
			case run == nil: // purged meanwhile
			default:
				if err := yield(start+i, *run); err != nil {
					return err
				}
			}
		}
	}
}

// listed returns a run of a batch: the state that cmd has read, otherwise the stored line, or nil if there is
// neither.
func (q *batches) listed(ctx context.Context, batch, id string, decoder *runDecoder,
	cmd *redis.MapStringStringCmd) (*topicqueue.Run, error) {
	fields, err := cmd.Result()
	if err != nil {
		return nil, err
	}
	if len(fields) == 0 {
		return q.line(ctx, batch, id)
	}
	run, err := decoder.decode(fields)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return &run, nil
}

// errDamaged means that a key holds data that this program does not write.
var errDamaged = errors.New("damaged")

// wrongType reports whether err says that a key holds another type of value.
func wrongType(err error) bool { return err != nil && strings.HasPrefix(err.Error(), "WRONGTYPE") }

// BrokenError names the runs whose state in Redis cannot be read, and says what to do.
type BrokenError struct{ error }

// keepLine stores the fields that lists show of a published run; they outlive its state. The run is no longer open in
// its batch.
func (q *batches) keepLine(ctx context.Context, run topicqueue.Run) error {
	run.PublishedAt, run.Unpublished, run.ToolCalls = time.Now().UTC(), "", nil
	run.Options = topicqueue.Options{Preset: run.Options.Preset, Language: run.Options.Language,
		KnowledgeBase: run.Options.KnowledgeBase, KnowledgeVersion: run.Options.KnowledgeVersion,
		Attached: run.Options.Attached, Tools: run.Options.Tools,
		Budget: run.Options.Budget, BatchBudget: run.Options.BatchBudget, NightBudget: run.Options.NightBudget}
	data, err := json.Marshal(run)
	if err != nil {
		return fmt.Errorf("encode run %s: %w", run.ID, err)
	}
	keys := []string{batchKey(run.Batch, "lines"), batchKey(run.Batch, "open"), batchKey(run.Batch, "state")}
	last, err := lineScript.Run(ctx, q.rdb, keys, run.ID, data).Int()
	if err != nil {
		return redisError(err, "keep run %s in batch %q", run.ID, run.Batch)
	}
	if last == 1 {
		return q.noteBatch(ctx, run.Batch, 0)
	}
	return nil
}

// line returns the stored line of a run; nil if there is none.
func (q *batches) line(ctx context.Context, batch, runID string) (*topicqueue.Run, error) {
	run, found, err := readJSON[topicqueue.Run](q.rdb.HGet(ctx, batchKey(batch, "lines"), runID),
		"run %s of batch %q", runID, batch)
	if err != nil || !found {
		return nil, err
	}
	return &run, nil
}

// BatchSize returns the number of runs of a batch.
func (q *batches) BatchSize(ctx context.Context, batch string) (int, error) {
	n, err := q.rdb.ZCard(ctx, batchKey(batch, "runs")).Result()
	return int(n), redisError(err, "count runs of batch %q", batch)
}
