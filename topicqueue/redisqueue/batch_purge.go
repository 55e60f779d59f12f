package redisqueue

import (
	"context"
	"fmt"

	"nightdesk/topicqueue/redisqueue/lua"
)

var batchPurgeScript = lua.Script("batch_purge")

// purgeChunk is the number of runs per script call.
const purgeChunk = 500

// Unlist removes published runs from the lists. A batch without any runs left is removed too: gone.
func (q *batches) Unlist(ctx context.Context, batch string, runs []string) (gone bool, err error) {
	keys := []string{batchKey(batch, "runs"), batchKey(batch, "open"), batchKey(batch, "lines"), batchKey(batch, "state")}
	for len(runs) > 0 {
		n := min(purgeChunk, len(runs))
		args := make([]any, n)
		for i, id := range runs[:n] {
			args[i] = id
		}
		runs = runs[n:]
		empty, err := batchPurgeScript.Run(ctx, q.rdb, keys, args...).Int()
		if err != nil {
			return false, fmt.Errorf("remove runs of batch %q from the lists in Redis: %w", batch, err)
		}
		gone = empty == 1
	}
	if !gone {
		return false, nil
	}
	if err := q.rdb.ZRem(ctx, batchesKey, batch).Err(); err != nil {
		return false, fmt.Errorf("remove batch %q from Redis: %w", batch, err)
	}
	return true, nil
}
