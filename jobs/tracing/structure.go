package tracing

import (
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
	"strconv"
	"time"
)

// The trace of a run. Names that begin with gen_ai follow the semantic conventions of OpenTelemetry for generative AI.
//
//	run
//	  plan, review, report, publish      starts with the unit's first attempt
//	    attempt                          each with its outcome; none if its worker was killed
//	    chat MODEL, execute_tool TOOL    model and tool calls
//	  block
//	    attempt
//	    iteration
//	      chat MODEL, execute_tool TOOL
//
// Workers write calls and attempts, which are leaves, as they end. The publisher of the run writes all other spans.

// Iteration returns the span id of a block's iteration, counted from 1.
func Iteration(block string, k int) string { return block + "/" + strconv.Itoa(k) }

// MayBegin returns the number of the last iteration that a block may have begun after this many finished iterations.
func MayBegin(run topicqueue.Run, finished int) int {
	return max(finished, min(finished+1, max(1, run.Options.MaxIterations)))
}

// Past is what a run leaves for its trace.
type Past struct {
	Run    topicqueue.Run
	Epoch  int // number of retries
	Blocks []topicqueue.Block
	Times  redisqueue.Times
	Usage  []topicqueue.Usage // model calls of this epoch
	Now    time.Time
}

// Structure writes the structural spans of a run that has ended. Writing them again writes the same.
func (r Run) Structure(p Past) { structure{p, r}.write() }

type structure struct {
	Past
	out Run
}

func (t structure) write() {
	run := t.Run
	root := Span{ID: Root, Name: "run", Start: run.CreatedAt, End: run.EndedAt,
		Content: map[string]string{"nightdesk.topic": run.Topic, "nightdesk.reason": run.Reason},
		Attributes: t.costs(nil, map[string]any{
			"nightdesk.batch": run.Batch, "nightdesk.preset": run.Options.Preset, "nightdesk.state": string(run.State),
			"nightdesk.blocks": len(t.Blocks), "nightdesk.retries": t.Epoch,
		})}
	if t.Epoch > 0 && !run.StartedAt.IsZero() { // earlier times belong to an earlier trace
		root.Start = run.StartedAt
	}
	if run.State == topicqueue.RunFailed {
		root.Failed = "failed"
	}
	t.out.Write(root)
	for unit, began := range t.Times.Began {
		t.out.Write(Span{ID: unit, Parent: Root, Name: unit, Start: began, End: t.end(unit),
			Attributes: t.costs(func(u topicqueue.Usage) bool { return stageOf[u.Stage] == unit }, nil)})
	}
	for _, b := range t.Blocks {
		if b.BeganAt.IsZero() || b.UpdatedAt.Before(run.StartedAt) { // not part of this trace
			continue
		}
		t.block(b)
	}
}

// stageOf maps each stage of model calls to its unit of work.
var stageOf = map[string]string{"planning": redisqueue.UnitPlan, "reviewing": redisqueue.UnitReview,
	"reporting": redisqueue.UnitReport, "narrating": redisqueue.UnitNarrate}

// end returns when a stage ended, which is when the next stage begins.
func (t structure) end(unit string) time.Time {
	switch unit {
	case redisqueue.UnitPublish:
		return t.Now
	case redisqueue.UnitPlan:
		if len(t.Blocks) > 0 {
			return t.Blocks[0].CreatedAt
		}
	case redisqueue.UnitReview:
		if report, ok := t.Times.Began[redisqueue.UnitReport]; ok {
			return report
		}
	}
	return t.Run.EndedAt
}

// block writes the spans of a block and its iterations. The iteration after the last checkpoint may have begun without
// ending; it is written too, because calls may belong to it.
func (t structure) block(b topicqueue.Block) {
	s := Span{ID: b.ID, Parent: Root, Name: "block", Start: b.BeganAt, End: b.UpdatedAt,
		Content: map[string]string{"nightdesk.title": b.Title, "nightdesk.reason": b.Reason},
		Attributes: t.costs(func(u topicqueue.Usage) bool { return u.Block == b.ID }, map[string]any{
			"nightdesk.block.id": b.ID, "nightdesk.state": string(b.Status), "nightdesk.iterations": b.Iterations,
		})}
	if b.Status == topicqueue.BlockFailed {
		s.Failed = "failed"
	}
	t.out.Write(s)
	ends, began := t.Times.Iterations[b.ID], b.BeganAt
	for k := 1; k <= MayBegin(t.Run, b.Iterations); k++ {
		end, finished := b.UpdatedAt, k <= b.Iterations
		if finished && k <= len(ends) {
			end = ends[k-1]
		}
		if end.Before(t.Run.StartedAt) { // belongs to an earlier trace
			continue
		}
		t.out.Write(Span{ID: Iteration(b.ID, k), Parent: b.ID, Name: "iteration", Start: began, End: end,
			Attributes: map[string]any{"nightdesk.run.id": t.Run.ID, "nightdesk.block.id": b.ID,
				"nightdesk.iteration": k, "nightdesk.finished": finished}})
		began = end
	}
}

// costs returns the totals of the model calls that of selects, as attributes, plus more.
func (t structure) costs(of func(topicqueue.Usage) bool, more map[string]any) map[string]any {
	sum := topicqueue.Total(t.Usage, of)
	all := map[string]any{"nightdesk.run.id": t.Run.ID, "nightdesk.model_calls": sum.Calls,
		"gen_ai.usage.input_tokens": sum.PromptTokens, "gen_ai.usage.output_tokens": sum.CompletionTokens}
	if sum.Unpriced == 0 && sum.Calls > 0 {
		all["nightdesk.cost_usd"] = sum.CostUSD
	}
	for name, value := range more {
		all[name] = value
	}
	return all
}
