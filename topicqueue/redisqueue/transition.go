package redisqueue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue/lua"
)

// encoder encodes the arguments of a script and keeps the first error.
type encoder struct{ err error }

func (e *encoder) json(v any) string {
	data, err := json.Marshal(v)
	e.err = cmp.Or(e.err, err)
	return string(data)
}

// encodeList returns a JSON list of the JSON texts of items. Scripts store these texts one by one.
func encodeList[T any](e *encoder, items []T) string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = e.json(item)
	}
	return e.json(texts)
}

// CommitPlan stores the plan, fills the Dynamic Topic Queue and admits the first blocks.
func (q *attempts) CommitPlan(ctx context.Context, l Lease, plan topicqueue.Plan) ([]Intent, error) {
	var e encoder
	traces, blocks := encodeList(&e, plan.Traces), encodeList(&e, plan.SubTopics)
	plan.Traces = nil // stored in a separate list
	titles := make([]string, len(plan.SubTopics))
	for i, s := range plan.SubTopics {
		titles[i] = s.Title
	}
	// The events are part of the commit, because an earlier attempt may have planned differently.
	data, events := e.json(plan), e.events(l,
		topicqueue.NewEvent(topicqueue.StatusResearchQuestions, topicqueue.StatusResearchQuestions,
			topicqueue.ResearchQuestions{Questions: titles}),
		topicqueue.StepEvent(topicqueue.StepEndResearchPlanner, fmt.Sprintf("%d sub-topics", len(titles))))
	if e.err != nil {
		return nil, fmt.Errorf("encode plan of run %s: %w", l.RunID, e.err)
	}
	return q.move(ctx, commitPlanScript, "commit plan", l.RunID, l.Generation, l.owner, data, traces, blocks, events,
		plan.Path, plan.Reviews)
}

// judgeTries is the maximum number of times proposals are judged again because another block added topics meanwhile.
// Each change adds a topic, so the queue is full long before.
const judgeTries = 1000

// Checkpoint stores one iteration of a block and answers its proposals. maxLength is the maximum number of blocks of
// the run.
func (q *attempts) Checkpoint(ctx context.Context, l Lease, cp topicqueue.Checkpoint, view topicqueue.View,
	maxLength int) (topicqueue.CheckpointResult, []Intent, error) {
	var result topicqueue.CheckpointResult
	var e encoder
	traces, queries, memory := encodeList(&e, cp.Traces), e.json(listOf(cp.Queries)), e.json(cp.Memory)
	digest, calls, events := e.digest(cp.Digest), e.calls(cp.Calls), e.events(l, cp.Events...)
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
		blocks, answer := encodeList(&e, added), e.json(admissions)
		if e.err != nil {
			return result, nil, fmt.Errorf("encode checkpoint of %s of run %s: %w", l.Unit, l.RunID, e.err)
		}
		r, err := q.run(ctx, checkpointScript, "checkpoint "+l.Unit, l.RunID, l.Unit, l.Generation, l.owner,
			cp.Iteration, len(known), traces, queries, blocks, answer, q.timing.Lease.Milliseconds(), memory,
			events, digest, calls, evidence(cp.Traces), cp.Returned)
		if err != nil {
			return result, nil, err
		}
		if r.status == "changed" {
			if known, err = q.read.titles(ctx, l.RunID); err != nil {
				return result, nil, err
			}
			continue
		}
		if err := json.Unmarshal([]byte(lua.Text(r.values, 4)), &result.Admissions); err != nil {
			return result, nil, fmt.Errorf("decode checkpoint of %s of run %s: %w", l.Unit, l.RunID, err)
		}
		if err := q.count(ctx, iterationCounters(cp)); err != nil {
			return result, nil, err
		}
		result.View, err = q.read.view(ctx, l.RunID, l.Unit, lua.Text(r.values, 3))
		return result, r.intents(l.RunID), err
	}
	return result, nil, fmt.Errorf("checkpoint %s of run %s: the plan changed %d times during the checkpoint", l.Unit,
		l.RunID, judgeTries)
}

// evidence returns the number of bytes that the statements of traces take in the prompts for the report.
func evidence(traces []topicqueue.ToolTrace) (bytes int) {
	const mark = 40 // citation and source of a statement
	for _, t := range traces {
		for _, c := range t.Claims {
			bytes += len(c.Text) + mark
		}
	}
	return bytes
}

// EndBlock ends a block as BlockCompleted or BlockFailed and admits the next blocks. After the last block it moves
// the run on. reason: why the block failed or was cut short, for display. fallbacks: see topicqueue.Block. returned:
// from calls after the last checkpoint, see topicqueue.Checkpoint.
func (q *attempts) EndBlock(ctx context.Context, l Lease, status topicqueue.BlockStatus, reason string,
	fallbacks []string, returned string) ([]Intent, error) {
	var e encoder
	r, err := q.run(ctx, endBlockScript, "end "+l.Unit, l.RunID, l.Unit, l.Generation, l.owner, string(status), reason,
		e.json(listOf(fallbacks)), returned)
	if err != nil {
		return nil, err
	}
	if r.state() == topicqueue.RunResearching {
		return r.intents(l.RunID), nil
	}
	return r.intents(l.RunID), q.moved(ctx, l.RunID, r)
}

// Await makes a run wait for a person's reply to question. The run continues with Answer, or with the first sweep
// after wait; 0: no limit. events announce the question.
func (q *attempts) Await(ctx context.Context, l Lease, question topicqueue.Question, wait time.Duration,
	events ...topicqueue.Event) error {
	var e encoder
	_, err := q.advanceStage(ctx, l, &e, e.json(question), max(0, wait.Milliseconds()), e.events(l, events...))
	return err
}

// CloseReview returns the run to research if the review has gaps, and otherwise moves it on to the report. It stores
// the review until the next one is closed.
func (q *attempts) CloseReview(ctx context.Context, l Lease, review topicqueue.Review) ([]Intent, error) {
	var e encoder
	return q.advanceStage(ctx, l, &e, encodeList(&e, review.Gaps), e.json(review))
}

// Narrated ends a run whose report is already committed. n is the result of the narration; events announce it.
func (q *attempts) Narrated(ctx context.Context, l Lease, n topicqueue.Narration,
	events ...topicqueue.Event) ([]Intent, error) {
	var e encoder
	return q.advanceStage(ctx, l, &e, e.json(n), e.events(l, events...))
}

// advanceStage ends a stage. found is the gaps and the review, the question of a plan, or the narration, as encoded
// by e.
func (q *attempts) advanceStage(ctx context.Context, l Lease, e *encoder, found ...any) ([]Intent, error) {
	if e.err != nil {
		return nil, fmt.Errorf("encode the end of %s of run %s: %w", l.Unit, l.RunID, e.err)
	}
	args := append([]any{l.Unit, l.Generation, l.owner}, found...)
	return q.move(ctx, advanceStageScript, "end "+l.Unit, l.RunID, args...)
}

// Outcome is the end of a run.
type Outcome struct {
	State   topicqueue.RunState // a final state
	Reason  string              // for display; empty if completed
	Report  string              // storage key of the report; empty: none
	Content []byte              // the report with all data for publishing, as JSON; kept until Published
	Events  []topicqueue.Event  // sent before the statistics
}

// Finish ends the run of this plan or report, or moves it on to narration. Only the first call for a run has an
// effect. The intents then include publishing.
func (q *attempts) Finish(ctx context.Context, l Lease, o Outcome) ([]Intent, error) {
	var e encoder
	events := e.events(l, o.Events...)
	if e.err != nil {
		return nil, fmt.Errorf("encode events of run %s: %w", l.RunID, e.err)
	}
	return q.move(ctx, finishScript, "finish", l.RunID, l.Unit, l.Generation, l.owner, string(o.State), o.Reason,
		o.Report, o.Content, events)
}

// Unpublished records why a run's results are not yet in storage: Run.Unpublished.
func (q *attempts) Unpublished(ctx context.Context, l Lease, reason string) error {
	_, err := q.run(ctx, unpublishedScript, "publish", l.RunID, l.Generation, l.owner, reason)
	return err
}

// Published records that all results of a run are in storage. The run's state in Redis expires after expiry; lists
// then show its main fields only. run is as returned by Begin, except for its Tally, State and Reason: a completed
// run with incomplete evidence is stored as partial. The next sweep removes the run from the index.
func (q *attempts) Published(ctx context.Context, l Lease, run topicqueue.Run, expiry time.Duration) error {
	var e encoder
	tally := ""
	if run.Tally != nil {
		tally = e.json(run.Tally)
	}
	if _, err := q.run(ctx, publishedScript, "publish", l.RunID, l.Generation, l.owner, expiry.Milliseconds(),
		string(run.State), run.Reason, tally); err != nil {
		return err
	}
	return q.batches.keepLine(ctx, run)
}

// listOf replaces nil by an empty list, which scripts expect.
func listOf(items []string) []string { return append([]string{}, items...) }
