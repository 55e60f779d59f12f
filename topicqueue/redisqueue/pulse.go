package redisqueue

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// Pulse is the part of a run's state that changes during work.
type Pulse struct {
	RunID    string
	State    topicqueue.RunState // empty: no such run (any more)
	Progress topicqueue.Progress // in topic blocks; zero before planning is done
	Seq      int64               // number of its last event
	Paused   bool
	Settled  bool // it has ended and is stored, or storing it failed: see topicqueue.Run.Unpublished
}

// Pulses returns the pulses of runs in the order of their ids. It reads so little per run that it can be polled for
// all runs of a batch.
func (q *reader) Pulses(ctx context.Context, runIDs []string) ([]Pulse, error) {
	out := make([]Pulse, 0, len(runIDs))
	for len(runIDs) > 0 {
		chunk := runIDs[:min(listChunk, len(runIDs))]
		runIDs = runIDs[len(chunk):]
		cmds, err := q.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, id := range chunk {
				p.HMGet(ctx, key(id, "run"), "state", "processed", "blocks", "seq", "published", "unpublished", "paused")
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read the states of %d runs from Redis: %w", len(chunk), err)
		}
		for i, cmd := range cmds {
			v := cmd.(*redis.SliceCmd).Val()
			out = append(out, Pulse{
				RunID: chunk[i], State: topicqueue.RunState(lua.Text(v, 0)),
				Progress: topicqueue.Progress{ProcessedTasks: lua.Number(v, 1), TotalTask: lua.Number(v, 2)},
				Seq:      int64(lua.Number(v, 3)),
				Settled:  lua.Text(v, 4) != "" || lua.Text(v, 5) != "", Paused: lua.Text(v, 6) != "",
			})
		}
	}
	return out, nil
}
