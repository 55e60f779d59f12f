package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"nightdesk/jobs/tracing"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
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

// iterationSpan returns the span id of a block's iteration, counted from 1.
func iterationSpan(block string, k int) string { return block + "/" + strconv.Itoa(k) }

// mayBegin returns the number of the last iteration that a block may have begun after this many finished iterations.
func mayBegin(run topicqueue.Run, finished int) int {
	return max(finished, min(finished+1, max(1, run.Options.MaxIterations)))
}

// spanAbove returns the id of the parent span of the attempt's calls.
func (a *attempt) spanAbove() string {
	if a.Block.ID == "" {
		return a.Lease.Unit
	}
	return iterationSpan(a.Block.ID, mayBegin(a.Run, int(a.iterations.Load())))
}

// about returns more plus the attributes of all spans that the attempt writes.
func (a *attempt) about(more map[string]any) map[string]any {
	all := map[string]any{"nightdesk.run.id": a.Run.ID, "nightdesk.attempt": a.Lease.Generation,
		"nightdesk.block.id": a.Block.ID}
	for name, value := range more {
		all[name] = value
	}
	return all
}

// traceAttempt writes the span of the attempt with its outcome.
func (a *attempt) traceAttempt(began, ended time.Time, err error) {
	if !a.trace.On() {
		return
	}
	outcome, failed := "ended", ""
	var gone endedError
	switch {
	case err == nil:
	case errors.Is(err, redisqueue.ErrFenced):
		outcome = "lost"
	case errors.Is(err, errDrain), errors.Is(err, errPaused):
		outcome = "handed_on"
	case errors.Is(err, errTimeUp):
		outcome, failed = "time_up", "timeout"
	case errors.As(err, &gone):
		outcome, failed = "failed", errorType(err)
	default:
		outcome, failed = "retry", errorType(err)
	}
	s := tracing.Span{Parent: a.Lease.Unit, Name: "attempt", Start: began, End: ended, Failed: failed,
		Attributes: a.about(map[string]any{"nightdesk.outcome": outcome, "nightdesk.lapses": a.Lapses})}
	if err != nil {
		s.Content = map[string]string{"error.message": err.Error()}
	}
	a.trace.Write(s)
}

// traceModel writes the span of a model call.
func (c *calls) traceModel(began time.Time, made llm.Made, err error) {
	a, u := c.a, made.Usage
	if !a.trace.On() {
		return
	}
	s := tracing.Span{Parent: a.spanAbove(), Name: "chat " + u.Model, Client: true, Start: began, End: time.Now(),
		Attributes: a.about(map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": u.Model,
			"gen_ai.usage.input_tokens": u.PromptTokens, "gen_ai.usage.output_tokens": u.CompletionTokens,
			"gen_ai.usage.cache_read.input_tokens":     u.CachedTokens,
			"gen_ai.usage.cache_creation.input_tokens": u.CacheWriteTokens,
			"nightdesk.role":                           u.Role, "nightdesk.stage": u.Stage, "nightdesk.step": u.Step,
			"nightdesk.iteration": made.Asked.Position.Iteration, "nightdesk.tokens_estimated": u.Estimated,
			"nightdesk.answer_usable": made.Answer != nil,
		})}
	if p, ok := c.client.(interface{ Provider(llm.Role) llm.Provider }); ok {
		s.Attributes["gen_ai.provider.name"] = string(p.Provider(llm.Role(u.Role)))
	}
	if u.CostUSD != nil {
		s.Attributes["nightdesk.cost_usd"] = *u.CostUSD
	}
	if err != nil {
		s.Failed = errorType(err)
	}
	if a.trace.Content() {
		s.Content = map[string]string{
			"gen_ai.system_instructions": parts(made.Asked.Prompt.System),
			"gen_ai.input.messages":      message("user", made.Asked.Prompt.User),
			"gen_ai.output.messages":     message("assistant", made.Said),
		}
		if err != nil {
			s.Content["error.message"] = err.Error()
		}
	}
	a.trace.Write(s)
}

// maxTraced is the maximum size of a prompt or an answer in a span, in bytes. It keeps the JSON around the text
// complete.
const maxTraced = 12 << 10

// parts encodes a text in the format of the conventions, as message does.
func parts(text string) string {
	if text == "" {
		return ""
	}
	data, _ := json.Marshal([]map[string]string{{"type": "text", "content": topicqueue.Clip(text, maxTraced)}})
	return string(data)
}

func message(role, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(`[{"role":%q,"parts":%s}]`, role, parts(text))
}

// traceTool writes the span of a tool call, see tools.Runner.Made.
func (a *attempt) traceTool(tool string, call tools.Call, began time.Time, answer tools.Answer, err error) {
	if !a.trace.On() {
		return
	}
	s := tracing.Span{Parent: a.spanAbove(), Name: "execute_tool " + tool, Start: began, End: time.Now(),
		Attributes: a.about(map[string]any{
			"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.id": call.ToolID,
			"nightdesk.shared": answer.Shared, "nightdesk.sources": len(answer.Sources), "nightdesk.bytes": answer.OriginalSize,
		}),
		Content: map[string]string{"gen_ai.tool.call.arguments": call.Query, "gen_ai.tool.call.result": answer.Text}}
	switch {
	case err != nil:
		s.Failed = errorType(err)
	case answer.Failed:
		s.Failed = "tool_error"
	}
	a.trace.Write(s)
}

// errorType returns the kind of an error, for error.type of the conventions, which has few values.
func errorType(err error) string {
	var status *llm.ProviderError
	switch {
	case errors.As(err, &status):
		return strconv.Itoa(status.Status)
	case errors.Is(err, llm.ErrBudget):
		return "budget"
	case errors.Is(err, llm.ErrAnswer):
		return "unusable_answer"
	case errors.Is(err, llm.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errTimeUp):
		return "timeout"
	case errors.Is(err, context.Canceled), errors.Is(err, redisqueue.ErrFenced), errors.Is(err, errDrain),
		errors.Is(err, errPaused):
		return "cancelled"
	}
	return "_OTHER"
}

// traceRun writes the structural spans of the run that the attempt publishes. It runs before Queue.Published: if this
// process dies between the two, the next publisher writes the same spans again, which is better than losing them.
func (a *attempt) traceRun(ctx context.Context, now time.Time) error {
	if !a.trace.On() || a.traced {
		return nil
	}
	if err := a.leases.wait(ctx, a.Lease); err != nil {
		return err
	}
	blocks, err := a.queue.Blocks(ctx, a.Run.ID)
	if err != nil {
		return err
	}
	times, err := a.queue.Times(ctx, a.Run.ID, blocks)
	if err != nil {
		return err
	}
	usage, err := a.queue.Usage(ctx, a.Run.ID)
	if err != nil {
		return err
	}
	t := runTrace{a: a, blocks: blocks, times: times, now: now}
	for _, u := range usage {
		if a.Epoch == 0 || u.Timestamp.After(a.Run.StartedAt) { // other calls belong to earlier traces
			t.usage = append(t.usage, u)
		}
	}
	t.write()
	a.traced = true
	a.trace.Flush(ctx)
	return nil
}

// runTrace holds the data for the structural spans of a run.
type runTrace struct {
	a      *attempt
	blocks []topicqueue.Block
	times  redisqueue.Times
	usage  []topicqueue.Usage
	now    time.Time
}

func (t runTrace) write() {
	run := t.a.Run
	root := tracing.Span{ID: tracing.Root, Name: "run", Start: run.CreatedAt, End: run.EndedAt,
		Content: map[string]string{"nightdesk.topic": run.Topic, "nightdesk.reason": run.Reason},
		Attributes: t.costs(func(topicqueue.Usage) bool { return true }, map[string]any{
			"nightdesk.batch": run.Batch, "nightdesk.preset": run.Options.Preset, "nightdesk.state": string(run.State),
			"nightdesk.blocks": len(t.blocks), "nightdesk.retries": t.a.Epoch,
		})}
	if t.a.Epoch > 0 && !run.StartedAt.IsZero() { // earlier times belong to an earlier trace
		root.Start = run.StartedAt
	}
	if run.State == topicqueue.RunFailed {
		root.Failed = "failed"
	}
	t.a.trace.Write(root)
	for unit, began := range t.times.Began {
		t.a.trace.Write(tracing.Span{ID: unit, Parent: tracing.Root, Name: unit, Start: began, End: t.end(unit),
			Attributes: t.costs(func(u topicqueue.Usage) bool { return stageOf[u.Stage] == unit }, nil)})
	}
	for _, b := range t.blocks {
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
func (t runTrace) end(unit string) time.Time {
	switch unit {
	case redisqueue.UnitPublish:
		return t.now
	case redisqueue.UnitPlan:
		if len(t.blocks) > 0 {
			return t.blocks[0].CreatedAt
		}
	case redisqueue.UnitReview:
		if report, ok := t.times.Began[redisqueue.UnitReport]; ok {
			return report
		}
	}
	return t.a.Run.EndedAt
}

// block writes the spans of a block and its iterations. The iteration after the last checkpoint may have begun without
// ending; it is written too, because calls may belong to it.
func (t runTrace) block(b topicqueue.Block) {
	s := tracing.Span{ID: b.ID, Parent: tracing.Root, Name: "block", Start: b.BeganAt, End: b.UpdatedAt,
		Content: map[string]string{"nightdesk.title": b.Title, "nightdesk.reason": b.Reason},
		Attributes: t.costs(func(u topicqueue.Usage) bool { return u.Block == b.ID }, map[string]any{
			"nightdesk.block.id": b.ID, "nightdesk.state": string(b.Status), "nightdesk.iterations": b.Iterations,
		})}
	if b.Status == topicqueue.BlockFailed {
		s.Failed = "failed"
	}
	t.a.trace.Write(s)
	ends, began := t.times.Iterations[b.ID], b.BeganAt
	for k := 1; k <= mayBegin(t.a.Run, b.Iterations); k++ {
		end, finished := b.UpdatedAt, k <= b.Iterations
		if finished && k <= len(ends) {
			end = ends[k-1]
		}
		if end.Before(t.a.Run.StartedAt) { // belongs to an earlier trace
			continue
		}
		t.a.trace.Write(tracing.Span{ID: iterationSpan(b.ID, k), Parent: b.ID, Name: "iteration", Start: began, End: end,
			Attributes: map[string]any{"nightdesk.run.id": t.a.Run.ID, "nightdesk.block.id": b.ID,
				"nightdesk.iteration": k, "nightdesk.finished": finished}})
		began = end
	}
}

// costs returns the totals of the model calls that of selects, as attributes, plus more.
func (t runTrace) costs(of func(topicqueue.Usage) bool, more map[string]any) map[string]any {
	calls, in, out, cost, priced := 0, 0, 0, 0.0, true
	for _, u := range t.usage {
		if !of(u) {
			continue
		}
		calls, in, out = calls+1, in+u.PromptTokens, out+u.CompletionTokens
		if u.CostUSD == nil {
			priced = false
		} else {
			cost += *u.CostUSD
		}
	}
	all := map[string]any{"nightdesk.run.id": t.a.Run.ID, "nightdesk.model_calls": calls,
		"gen_ai.usage.input_tokens": in, "gen_ai.usage.output_tokens": out}
	if priced && calls > 0 {
		all["nightdesk.cost_usd"] = cost
	}
	for name, value := range more {
		all[name] = value
	}
	return all
}
