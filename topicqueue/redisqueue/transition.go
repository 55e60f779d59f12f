package redisqueue

import (
	"context"
	"encoding/json"
	"fmt"

	"nightdesk/topicqueue"
)

// CommitPlan stores the plan, fills the DTQ and admits the first blocks.
func (q *Queue) CommitPlan(ctx context.Context, l Lease, plan topicqueue.Plan) ([]Intent, error) {
	traces, err := encodeList(plan.Traces)
	if err != nil {
		return nil, fmt.Errorf("encode plan of run %s: %w", l.RunID, err)
	}
	blocks, err := encodeList(plan.SubTopics)
	if err != nil {
		return nil, fmt.Errorf("encode plan of run %s: %w", l.RunID, err)
	}
	plan.Traces = nil // kept in a list of their own
	data, err := json.Marshal(plan)
	if err != nil {
		return nil, fmt.Errorf("encode plan of run %s: %w", l.RunID, err)
	}
	r, err := q.run(ctx, commitPlanScript, "commit plan", l.RunID, l.Generation, l.owner, data, traces, blocks)
	if err != nil {
		return nil, err
	}
	return r.intents(l.RunID), nil
}

// judgeTries bounds how often proposals are judged again because another block added topics meanwhile; every such
// change is a topic added, and a queue is full long before.
const judgeTries = 1000

// Checkpoint stores one iteration of a block and answers its proposals. maxLength: blocks that the run may have.
func (q *Queue) Checkpoint(ctx context.Context, l Lease, cp topicqueue.Checkpoint, view topicqueue.View, maxLength int) (topicqueue.CheckpointResult, []Intent, error) {
	var result topicqueue.CheckpointResult
	traces, err := encodeList(cp.Traces)
	if err != nil {
		return result, nil, fmt.Errorf("encode checkpoint of %s of run %s: %w", l.Unit, l.RunID, err)
	}
	known := view.Blocks
	for range judgeTries {
		admissions := topicqueue.Judge(known, cp.Proposals, maxLength)
		var added []topicqueue.SubTopic
		for i, a := range admissions {
			if a.Answer == topicqueue.AdmissionAdded {
				p := cp.Proposals[i]
				p.Title, p.Parent = a.Title, l.Unit
				added = append(added, p)
			}
		}
		blocks, err := encodeList(added)
		if err != nil {
			return result, nil, fmt.Errorf("encode checkpoint of %s of run %s: %w", l.Unit, l.RunID, err)
		}
		answer, err := json.Marshal(admissions)
		if err != nil {
			return result, nil, fmt.Errorf("encode checkpoint of %s of run %s: %w", l.Unit, l.RunID, err)
		}
		r, err := q.run(ctx, checkpointScript, "checkpoint "+l.Unit, l.RunID, l.Unit, l.Generation, l.owner,
			cp.Iteration, len(known), traces, jsonList(cp.Queries), blocks, answer, q.timing.Lease.Milliseconds(), "[]")
		if err != nil {
			return result, nil, err
		}
		if r.status == "changed" {
			if known, err = q.titles(ctx, l.RunID); err != nil {
				return result, nil, err
			}
			continue
		}
		if err := json.Unmarshal([]byte(text(r.values, 3)), &result.Admissions); err != nil {
			return result, nil, fmt.Errorf("decode checkpoint of %s of run %s: %w", l.Unit, l.RunID, err)
		}
		result.View, err = q.view(ctx, l.RunID, text(r.values, 2))
		return result, r.intents(l.RunID), err
	}
	return result, nil, fmt.Errorf("checkpoint %s of run %s: the plan changed %d times meanwhile", l.Unit, l.RunID, judgeTries)
}

// titles returns the titles of all blocks of a run.
func (q *Queue) titles(ctx context.Context, runID string) ([]topicqueue.BlockTitle, error) {
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

// EndBlock ends a block as BlockCompleted or BlockFailed, admits the next ones, and moves the run on to its report when
// it was the last. reason: why it failed, for a person; empty for a completed one. fallbacks: see topicqueue.Block.
func (q *Queue) EndBlock(ctx context.Context, l Lease, status topicqueue.BlockStatus, reason string, fallbacks []string) ([]Intent, error) {
	r, err := q.run(ctx, endBlockScript, "end "+l.Unit, l.RunID, l.Unit, l.Generation, l.owner, string(status), reason, jsonList(fallbacks))
	if err != nil {
		return nil, err
	}
	return r.intents(l.RunID), nil
}

// Outcome is how a run ends.
type Outcome struct {
	State  topicqueue.RunState // a final one
	Reason string              // for a person; empty when completed
	Report string              // storage key of the report; empty when there is none
	Sites  int                 // distinct hosts of web sources
	Events []topicqueue.Event  // that come before the statistics
}

// Finish ends the run that this plan or report belongs to. Only the first call of a run has an effect.
func (q *Queue) Finish(ctx context.Context, l Lease, o Outcome) error {
	data, err := encodeEvents(l, o.Events)
	if err != nil {
		return err
	}
	_, err = q.run(ctx, finishScript, "finish", l.RunID, l.Unit, l.Generation, l.owner, string(o.State), o.Reason, o.Report, o.Sites, data)
	return err
}

func jsonList(items []string) string {
	if len(items) == 0 {
		return "[]"
	}
	data, _ := json.Marshal(items) // strings always encode
	return string(data)
}
