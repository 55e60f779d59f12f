package redisqueue

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Journaled returns the value stored at a place of the run, and false if there is none. The entries of a block are
// those since its last checkpoint; earlier results are part of that checkpoint.
func (q *attempts) Journaled(ctx context.Context, l Lease, place string) ([]byte, bool, error) {
	value, err := q.rdb.HGet(ctx, key(l.RunID, "journal:"+l.Unit), place).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, false, nil
	}
	return value, err == nil, redisError(err, "read the journal of %s of run %s", l.Unit, l.RunID)
}

// Journal stores a value at a place of the run. The first writer wins, whatever its generation. Journal returns the
// value that is stored there now. epoch: Begun.Epoch.
func (q *attempts) Journal(ctx context.Context, l Lease, epoch int, place string, value []byte) ([]byte, error) {
	return q.journal(ctx, l, epoch, place, value, nil, 0)
}

// Answered is like Journal, but for a model call. In the same step it records the call's usage, once even if
// repeated, and releases its reservation. value is nil if the answer is not to be kept. cost is the cost of the call
// in the unit of the run's budget; 0 without a budget. Answered is not fenced, because a call that was made is paid
// for.
func (q *attempts) Answered(ctx context.Context, l Lease, epoch int, place string, value []byte, u topicqueue.Usage,
	cost int64) ([]byte, error) {
	var e encoder
	data := e.json(u)
	if e.err != nil {
		return nil, fmt.Errorf("encode usage of run %s: %w", l.RunID, e.err)
	}
	stands, err := q.journal(ctx, l, epoch, place, value, []byte(data), cost)
	if err != nil {
		return nil, err
	}
	of := ":" + u.Role + ":" + u.Model
	counters := map[string]float64{"calls" + of: 1, "tokens_in" + of: float64(u.PromptTokens), "tokens_out" +
		of: float64(u.CompletionTokens)}
	if u.CostUSD != nil {
		counters["cost_usd"+of] = *u.CostUSD
	}
	if u.OverLimit {
		if err := longestScript.Run(ctx, q.rdb, []string{statsKey}, "longest"+of, u.CompletionTokens).Err(); err != nil {
			return nil, redisError(err, "record the longest answer")
		}
	}
	return stands, q.count(ctx, counters)
}

var longestScript = lua.Script("longest")

func (q *attempts) journal(ctx context.Context, l Lease, epoch int, place string, value, usage []byte,
	cost int64) ([]byte, error) {
	r, err := q.run(ctx, journalScript, "journal", l.RunID, l.Unit, epoch, place, value, usage, cost, l.Generation)
	if err != nil {
		return nil, err
	}
	return []byte(lua.Text(r.values, 0)), nil
}
