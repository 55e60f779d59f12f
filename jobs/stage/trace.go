package stage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"time"

	"nightdesk/jobs/tracing"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/redisqueue"
)

// spanAbove returns the id of the parent span of the attempt and its calls.
func (a *Attempt) spanAbove() string { return cmp.Or(a.Block.ID, tracing.Root) }

// about returns more plus the attributes of all spans that the attempt writes.
func (a *Attempt) about(more map[string]any) map[string]any {
	all := map[string]any{"nightdesk.run.id": a.Run.ID, "nightdesk.attempt": a.Lease.Generation,
		"nightdesk.unit": a.Lease.Unit, "nightdesk.block.id": a.Block.ID}
	maps.Copy(all, more)
	return all
}

// traceAttempt writes the span of the attempt with its outcome.
func (a *Attempt) traceAttempt(began time.Time, out outcome, err error) {
	if !a.trace.On() {
		return
	}
	s := tracing.Span{Parent: a.spanAbove(), Name: "attempt", Start: began, End: a.Now(),
		Attributes: a.about(map[string]any{"nightdesk.outcome": string(out), "nightdesk.lapses": a.Lapses})}
	switch out {
	case outTimeUp, outFailed, outRetry:
		s.Failed = errorType(err)
	}
	if err != nil {
		s.Content = map[string]string{"error.message": err.Error()}
	}
	a.trace.Write(s)
}

// traceModel writes the span of a model call.
func (c *Calls) traceModel(began time.Time, made llm.Made, err error) {
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
	if p, ok := c.a.Model.(interface{ Provider(llm.Role) llm.Provider }); ok {
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
func (a *Attempt) traceTool(tool string, call tools.Call, began time.Time, answer tools.Answer, err error) {
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
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrTimeUp):
		return "timeout"
	case errors.Is(err, context.Canceled), errors.Is(err, redisqueue.ErrFenced), errors.Is(err, ErrDrain),
		errors.Is(err, errPaused):
		return "cancelled"
	}
	return "_OTHER"
}

// TraceRun writes the structural spans of the run that the attempt publishes. It runs before Queue.Published: if this
// process dies between the two, the next publisher writes the same spans again, which is better than losing them.
func (a *Attempt) TraceRun(ctx context.Context) error {
	if !a.trace.On() || a.traced {
		return nil
	}
	if err := a.Wait(ctx); err != nil {
		return err
	}
	blocks, err := a.Queue.Blocks(ctx, a.Run.ID)
	if err != nil {
		return err
	}
	usage, err := a.Queue.Usage(ctx, a.Run.ID)
	if err != nil {
		return err
	}
	past := tracing.Past{Run: a.Run, Epoch: a.Epoch, Blocks: blocks}
	for _, u := range usage {
		if a.Epoch == 0 || u.Timestamp.After(a.Run.StartedAt) { // other calls belong to earlier traces
			past.Usage = append(past.Usage, u)
		}
	}
	a.trace.Structure(past)
	a.traced = true
	a.trace.Flush(ctx)
	return nil
}
