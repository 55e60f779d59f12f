package tracing

import (
	"maps"

	"nightdesk/topicqueue"
)

// The trace of a run. Names that begin with gen_ai follow the semantic conventions of OpenTelemetry for generative AI.
//
//	run
//	  attempt                          at a stage, with its outcome; none if its worker was killed
//	  chat MODEL, execute_tool TOOL    model and tool calls of stages
//	  block
//	    attempt
//	    chat MODEL, execute_tool TOOL
//
// Workers write calls and attempts, which are leaves, as they end. The publisher of the run writes all other spans.

// Past is what a run leaves for its trace.
type Past struct {
	Run    topicqueue.Run
	Epoch  int // number of retries
	Blocks []topicqueue.Block
	Usage  []topicqueue.Usage // model calls of this epoch
}

// Structure writes the structural spans of a run that has ended. Writing them again writes the same.
func (r Run) Structure(p Past) {
	run := p.Run
	root := Span{ID: Root, Name: "run", Start: run.CreatedAt, End: run.EndedAt,
		Content: map[string]string{"nightdesk.topic": run.Topic, "nightdesk.reason": run.Reason},
		Attributes: p.costs(nil, map[string]any{
			"nightdesk.batch": run.Batch, "nightdesk.preset": run.Options.Preset, "nightdesk.state": string(run.State),
			"nightdesk.blocks": len(p.Blocks), "nightdesk.retries": p.Epoch,
		})}
	if p.Epoch > 0 && !run.StartedAt.IsZero() { // earlier times belong to an earlier trace
		root.Start = run.StartedAt
	}
	if run.State == topicqueue.RunFailed {
		root.Failed = "failed"
	}
	r.Write(root)
	for _, b := range p.Blocks {
		if b.BeganAt.IsZero() || b.UpdatedAt.Before(run.StartedAt) { // not part of this trace
			continue
		}
		s := Span{ID: b.ID, Parent: Root, Name: "block", Start: b.BeganAt, End: b.UpdatedAt,
			Content: map[string]string{"nightdesk.title": b.Title, "nightdesk.reason": b.Reason},
			Attributes: p.costs(func(u topicqueue.Usage) bool { return u.Block == b.ID }, map[string]any{
				"nightdesk.block.id": b.ID, "nightdesk.state": string(b.Status), "nightdesk.iterations": b.Iterations,
			})}
		if b.Status == topicqueue.BlockFailed {
			s.Failed = "failed"
		}
		r.Write(s)
	}
}

// costs returns more with the figures of the selected model calls.
func (p Past) costs(of func(topicqueue.Usage) bool, more map[string]any) map[string]any {
	sum := topicqueue.Total(p.Usage, of)
	all := map[string]any{"nightdesk.run.id": p.Run.ID, "nightdesk.model_calls": sum.Calls,
		"gen_ai.usage.input_tokens": sum.PromptTokens, "gen_ai.usage.output_tokens": sum.CompletionTokens}
	if sum.Unpriced == 0 && sum.Calls > 0 {
		all["nightdesk.cost_usd"] = sum.CostUSD
	}
	maps.Copy(all, more)
	return all
}
