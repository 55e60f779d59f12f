package redisqueue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
)

// Journaled returns what was answered at a place of the run, and false when nothing was. The entries of a block are
// those since its last checkpoint: what lies before is decided.
func (q *Queue) Journaled(ctx context.Context, l Lease, place string) ([]byte, bool, error) {
	value, err := q.rdb.HGet(ctx, key(l.RunID, "journal:"+l.Unit), place).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the journal of %s of run %s from Redis: %w", l.Unit, l.RunID, err)
	}
	return value, true, nil
}

// Journal stores what was answered at a place of the run. The first writer wins, whatever its generation: the result is
// what stands there now. epoch: Begun.Epoch.
func (q *Queue) Journal(ctx context.Context, l Lease, epoch int, place string, value []byte) ([]byte, error) {
	r, err := q.run(ctx, journalScript, "journal", l.RunID, l.Unit, epoch, place, value)
	if err != nil {
		return nil, err
	}
	return []byte(text(r.values, 0)), nil
}

// RecordUsage appends the cost of one model call to a run, once however often it is called with the same. It is not
// fenced: a call that was made was paid for.
func (q *Queue) RecordUsage(ctx context.Context, runID string, u topicqueue.Usage) error {
	data, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("encode usage of run %s: %w", runID, err)
	}
	if _, err := q.run(ctx, usageScript, "usage", runID, data); err != nil {
		return err
	}
	of := ":" + u.Role + ":" + u.Model
	counters := map[string]float64{"calls" + of: 1, "tokens_in" + of: float64(u.PromptTokens), "tokens_out" + of: float64(u.CompletionTokens)}
	if u.CostUSD != nil {
		counters["cost_usd"+of] = *u.CostUSD
	}
	return q.count(ctx, counters)
}

// Usage returns the recorded model calls of a run, oldest first.
func (q *Queue) Usage(ctx context.Context, runID string) ([]topicqueue.Usage, error) {
	texts, err := q.rdb.LRange(ctx, key(runID, "usage"), 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("read usage of run %s from Redis: %w", runID, err)
	}
	return decodeList[topicqueue.Usage](texts, "usage record")
}
