package redisqueue

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// view reads the data that a frozen "blocks:queries:digests" stands for, from the perspective of a block. The lists
// only grow, so the counts determine their content.
func (q *reader) view(ctx context.Context, runID, block, frozen string) (topicqueue.View, error) {
	counts := make([]int, 3)
	for i, count := range strings.SplitN(frozen, ":", len(counts)) {
		counts[i], _ = strconv.Atoi(count)
	}
	v := topicqueue.View{Blocks: make([]topicqueue.BlockTitle, counts[0]), Queries: []string{}}
	ids := make([]string, counts[0])
	for i := range ids {
		ids[i] = topicqueue.BlockID(i + 1)
	}
	titles := redis.NewSliceCmd(ctx)
	issued, digests := redis.NewStringSliceCmd(ctx), redis.NewStringSliceCmd(ctx)
	_, err := q.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		if len(ids) > 0 {
			titles = p.HMGet(ctx, key(runID, "blocks"), ids...)
		}
		if counts[1] > 0 {
			issued = p.LRange(ctx, key(runID, "queries"), 0, int64(counts[1])-1)
		}
		if counts[2] > 0 {
			digests = p.LRange(ctx, key(runID, "ledger"), 0, int64(counts[2])-1)
		}
		return nil
	})
	if err != nil {
		return v, redisError(err, "read the plan of run %s", runID)
	}
	for i, id := range ids {
		var s topicqueue.SubTopic
		if err := json.Unmarshal([]byte(lua.Text(titles.Val(), i)), &s); err != nil {
			return v, fmt.Errorf("decode %s of run %s: %w", id, runID, err)
		}
		v.Blocks[i] = topicqueue.BlockTitle{ID: id, Title: s.Title}
	}
	for _, line := range issued.Val() {
		by, query, _ := strings.Cut(line, "\t")
		v.Queries = append(v.Queries, query)
		if by == block {
			v.Own = append(v.Own, query)
		}
	}
	for _, line := range digests.Val() {
		by, data, _ := strings.Cut(line, "\t")
		if by == block {
			continue
		}
		var d topicqueue.Digest
		if err := json.Unmarshal([]byte(data), &d); err != nil {
			return v, fmt.Errorf("decode the findings of %s of run %s: %w", by, runID, err)
		}
		d.Block = by
		v.Ledger = append(v.Ledger, d)
	}
	return v, nil
}

// digest returns the ledger entry of a digest; empty if there is nothing to report.
func (e *encoder) digest(d topicqueue.Digest) string {
	if len(d.Findings) == 0 {
		return ""
	}
	d.Block = "" // the ledger line begins with it
	return e.json(d)
}

// iterationCounters returns the increments of a checkpoint to the counters of Stats.
func iterationCounters(cp topicqueue.Checkpoint) map[string]float64 {
	counters := map[string]float64{"iterations": 1, "iteration_ms": float64(cp.Took.Milliseconds())}
	for tool, n := range cp.Calls {
		counters["tool_asked:"+tool], counters["tool_shared:"+tool] = float64(n.Asked), float64(n.Shared)
	}
	return counters
}

// calls returns the counts in the script's format: tool, asked, shared, ...
func (e *encoder) calls(calls map[string]topicqueue.ToolCalls) string {
	list := []any{}
	for tool, n := range calls {
		list = append(list, tool, n.Asked, n.Shared)
	}
	return e.json(list)
}
