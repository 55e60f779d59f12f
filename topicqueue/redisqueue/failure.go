package redisqueue

import (
	"context"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Failure returns why the given generation of a unit was its last: for a block, why the block failed; for
// UnitPublish, why its published run failed. failed reports whether it did. It returns ErrNotFound if the state of
// the run has expired.
func (q *reader) Failure(ctx context.Context, runID, unit string,
	generation int) (reason string, failed bool, err error) {
	var run, blocks, work *redis.SliceCmd
	_, err = q.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		run = p.HMGet(ctx, key(runID, "run"), "state", "reason", "published")
		blocks = p.HMGet(ctx, key(runID, "blocks"), unit+":status", unit+":reason")
		work = p.HMGet(ctx, key(runID, "work"), unit+":failed", unit+":gen")
		return nil
	})
	state := topicqueue.RunState(lua.Text(run.Val(), 0))
	switch is := strconv.Itoa(generation); {
	case err != nil:
		return "", false, fmt.Errorf("look for a failure of run %s in Redis: %w", runID, err)
	case state == "":
		return "", false, fmt.Errorf("look for a failure of run %s: %w", runID, ErrNotFound)
	case unit == UnitPublish && state == topicqueue.RunFailed && lua.Text(run.Val(), 2) != "" &&
		lua.Text(work.Val(), 1) == is:
		return lua.Text(run.Val(), 1), true, nil
	case topicqueue.BlockStatus(lua.Text(blocks.Val(), 0)) == topicqueue.BlockFailed && lua.Text(work.Val(), 0) == is:
		return lua.Text(blocks.Val(), 1), true, nil
	}
	return "", false, nil
}
