package redisqueue

import (
	"context"
	"slices"

	"nightdesk/topicqueue/redisqueue/lua"
)

var batchPurgeScript = lua.Script("batch_purge")

// purgeChunk is the number of runs per script call.
const purgeChunk = 500

// Unlist removes published runs from the lists. A batch without any runs left is removed too: gone.
func (q *batches) Unlist(ctx context.Context, batch string, runs []string) (gone bool, err error) {
	keys := []string{batchKey(batch, "runs"), batchKey(batch, "open"), batchKey(batch, "lines"), batchKey(batch, "state")}
	for some := range slices.Chunk(runs, purgeChunk) {
		args := make([]any, len(some))
		for i, id := range some {
			args[i] = id
		}
		if gone, err = batchPurgeScript.Run(ctx, q.rdb, keys, args...).Bool(); err != nil {
			return false, redisError(err, "remove runs of batch %q from the lists", batch)
		}
	}
	if !gone {
		return false, nil
	}
	return true, redisError(q.rdb.ZRem(ctx, batchesKey, batch).Err(), "remove batch %q", batch)
}
