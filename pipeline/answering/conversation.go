package answering

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// work is one conversation. It is not safe for concurrent use.
type work struct {
	*Answerer
	run      topicqueue.Run
	tools    tools.Set // enabled for this run
	native   bool      // the model supports tool calling
	maxTurns int
	maxCalls int
	turns    []turn
	issued   map[string]bool
	lookups

	asked   int  // model calls
	steps   int  // see stepCeiling
	calls   int  // counted tool calls
	squeeze int  // how often the results were shortened to fit the window
	nudged  bool // was told to search before answering
	empty   bool // asked again after an empty answer
	away    bool // no answer because of the model
}

// turn is a message of the model before the last one.
type turn struct {
	said  string
	calls []made
	own   []int  // outcomes of calls not requested by the model
	then  string // one of the prompts.Now... constants; empty: no message
}

// made is a call requested by the model.
type made struct {
	llm.ToolCall
	outcome int // index in outcomes
}

// source is a source shown to the model.
type source struct {
	topicqueue.Source
	id      string // such as CIT-1-01
	outcome int    // first outcome that returned it
}

func newWork(a *Answerer, run topicqueue.Run, block topicqueue.Block) *work {
	w := &work{
		Answerer: a, run: run, tools: a.Runner.Tools.Enabled(run.Options.Tools),
		native: llm.CallsTools(a.Model, llm.Writer), issued: map[string]bool{},
		maxTurns: defaultTurns, maxCalls: defaultCalls,
		lookups: lookups{topic: run.Topic, block: block, now: a.now, marked: map[string]int{}, cut: map[excerptKey]string{}},
	}
	if run.Options.MaxTurns > 0 {
		w.maxTurns = run.Options.MaxTurns
	}
	if run.Options.MaxToolCalls > 0 {
		w.maxCalls = run.Options.MaxToolCalls
	}
	return w
}

// callsLeft returns the number of tool calls left to the model.
func (w *work) callsLeft() int { return max(0, w.maxCalls-w.calls) }

// mustAnswer reports whether no further look-up is possible.
func (w *work) mustAnswer() bool {
	late := !w.SoftLimit.IsZero() && time.Now().After(w.SoftLimit)
	last := w.asked+1 >= w.maxTurns || w.steps+2 >= stepCeiling(w.maxTurns)
	return late || last || w.callsLeft() == 0 || len(w.tools) == 0
}

// converse continues until there is an answer with citations, or a reason why there is none.
func (w *work) converse(ctx context.Context) (answer, why string, err error) {
	for {
		if w.mustAnswer() {
			return w.conclude(ctx, prompts.NowSpent)
		}
		text, calls, err := w.next(ctx)
		switch again, why, err := w.trouble(ctx, err); {
		case err != nil, why != "":
			return "", why, err
		case again:
			continue
		}
		if len(calls) > 0 {
			if err := w.act(ctx, text, calls); err != nil {
				return "", "", err
			}
			continue
		}
		switch {
		case !w.native:
			return w.conclude(ctx, prompts.NowSpent)
		case text == "" && !w.empty:
			w.empty = true
		case text == "":
			return w.conclude(ctx, prompts.NowSpent)
		case len(w.outcomes) == 0 && !w.nudged:
			w.nudged = true
			w.turns = append(w.turns, turn{said: text, then: prompts.NowUnsearched})
		case len(w.outcomes) == 0:
			return w.conclude(ctx, prompts.NowSpent)
		default:
			if cited, ok := w.accept(text); ok {
				return cited, "", nil
			}
			w.turns = append(w.turns, turn{said: text})
			return w.conclude(ctx, prompts.NowUncited)
		}
	}
}

// trouble classifies an error of a model call: again means retry, why is the reason for no answer, and an error stops
// the block.
func (w *work) trouble(ctx context.Context, err error) (again bool, why string, _ error) {
	switch {
	case err == nil:
		return false, "", nil
	case ctx.Err() != nil:
		return false, "", context.Cause(ctx)
	case errors.Is(err, llm.ErrNoTools) && w.native:
		w.native = false
		return true, "", nil
	case errors.Is(err, llm.ErrContextLength) && w.squeeze < maxSqueeze && len(w.sources) > 0:
		w.squeeze++
		return true, "", nil
	case errors.Is(err, llm.ErrContextLength), errors.Is(err, llm.ErrUnavailable), errors.Is(err, llm.ErrAnswer):
		w.away = true
		return false, topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), maxLine), nil
	}
	return false, "", err
}

// next asks the model for tool calls or the answer.
func (w *work) next(ctx context.Context) (text string, calls []llm.ToolCall, err error) {
	w.asked++
	w.steps++
	if !w.native {
		return w.lookUp(ctx)
	}
	req := w.request(prompts.Answer(w.run.Options.Language, w.question()))
	req.Tools, req.Turns = bound(w.tools), w.messages()
	var resp llm.Response
	err = w.patient(ctx, func(ctx context.Context) (err error) {
		resp, err = w.Model.Generate(ctx, req)
		return err
	})
	return llm.Clean(resp), resp.Calls, err
}

// question returns the data that every prompt of the conversation starts with.
func (w *work) question() prompts.AnswerData {
	return prompts.AnswerData{Topic: w.run.Topic, MaxCalls: w.maxCalls,
		Report: w.reportShown(), Earlier: earlier(w.run.Options.Earlier), Remarks: w.remarks()}
}

func (w *work) remarks() (lines []prompts.RemarkLine) {
	for _, r := range w.Remarks {
		lines = append(lines, prompts.RemarkLine{Sentence: r.Sentence, Words: r.Words})
	}
	return lines
}

// lookUp asks a model without tool calling for its next look-ups.
func (w *work) lookUp(ctx context.Context) (text string, calls []llm.ToolCall, err error) {
	data := prompts.LookUpData{
		Topic: w.run.Topic, MaxCalls: w.callsLeft(), Found: w.found(w.room()),
		Report: w.reportShown(), Earlier: earlier(w.run.Options.Earlier), Remarks: w.remarks(),
	}
	for _, t := range w.tools {
		data.Tools = append(data.Tools, prompts.ToolLine{Name: t.Name(), Description: t.Description()})
	}
	var answer prompts.LookUpAnswer
	err = w.patient(ctx, func(ctx context.Context) (err error) {
		answer, err = llm.Ask[prompts.LookUpAnswer](ctx, w.Model, w.request(prompts.LookUp(w.run.Options.Language, data)))
		return err
	})
	if errors.Is(err, llm.ErrAnswer) && !errors.Is(err, llm.ErrUnavailable) { // the final answer may still be usable
		return "", nil, nil
	}
	for _, a := range answer.Actions {
		calls = append(calls, llm.ToolCall{Name: a.ToolType, Arguments: argumentsOf(prompts.Unmarked(a.Query))})
	}
	return answer.Reasoning, calls, err
}

// conclude asks for the answer from the sources found. If there are none, it first searches for the user's words.
func (w *work) conclude(ctx context.Context, why string) (answer, reason string, err error) {
	if len(w.sources) == 0 {
		if err := w.searchItself(ctx); err != nil {
			return "", "", err
		}
		if len(w.sources) == 0 {
			return "", w.nothingFound(), nil
		}
	}
	if len(w.turns) == 0 {
		w.turns = append(w.turns, turn{})
	}
	for {
		w.turns[len(w.turns)-1].then = why
		text, err := w.write(ctx, why)
		switch again, reason, err := w.trouble(ctx, err); {
		case err != nil, reason != "":
			return "", reason, err
		case again:
			continue
		}
		if cited, ok := w.accept(text); ok {
			return cited, "", nil
		}
		if why == prompts.NowUncited || w.asked >= w.maxTurns {
			return "", fmt.Sprintf("the model's answer cites none of its %d sources: %q", len(w.sources),
				topicqueue.Clip(topicqueue.OneLine(text), maxLine)), nil
		}
		w.turns = append(w.turns, turn{said: text})
		why = prompts.NowUncited
	}
}

// write asks for the answer without tools. A text cut off by the token limit is used.
func (w *work) write(ctx context.Context, why string) (text string, err error) {
	w.asked++
	w.steps++
	data := w.question()
	if !w.native {
		data.Found, data.Now = w.found(w.room()), w.tell(why)
	}
	req := w.request(prompts.Answer(w.run.Options.Language, data))
	if w.native {
		req.Tools, req.Turns, req.NoCalls = bound(w.tools), w.messages(), true
	}
	err = w.patient(ctx, func(ctx context.Context) (err error) {
		text, err = llm.Text(ctx, w.Model, req)
		return err
	})
	if errors.Is(err, llm.ErrTruncated) && ctx.Err() == nil {
		err = nil
	}
	return text, err
}

func (w *work) nothingFound() string {
	return fmt.Sprintf("%d tool calls found no source", len(w.outcomes))
}

// accept returns the cleaned answer and whether it cites at least one source.
func (w *work) accept(text string) (string, bool) {
	text = strings.TrimSpace(prompts.Unmarked(text))
	body, _, _ := w.registry().Resolve(text)
	return text, len(report.Cited(report.Parse(body))) > 0
}

// tell returns the data of a message to the model during the conversation.
func (w *work) tell(why string) *prompts.Now {
	now := &prompts.Now{Why: why}
	if len(w.sources) > 0 {
		now.Marker = w.sources[0].id
	}
	return now
}

// request returns a model call with its position.
func (w *work) request(p prompts.Prompt) llm.Request {
	return llm.Request{Role: llm.Writer, Prompt: p, Position: llm.Position{
		RunID: w.run.ID, Stage: "researching", Block: w.block.ID, Iteration: w.asked, Step: p.Name, Ordinal: w.squeeze,
	}}
}

// bound converts tools for the model.
func bound(set tools.Set) []llm.Tool {
	out := make([]llm.Tool, len(set))
	for i, t := range set {
		out[i] = llm.Tool{Name: t.Name(), Description: t.Description(), Schema: argumentSchema}
		if schema := tools.SchemaOf(t); schema != nil {
			out[i].Schema = schema
		}
	}
	return out
}

// messages converts the turns for the model.
func (w *work) messages() []llm.Turn {
	found, language := w.found(w.room()), w.run.Options.Language
	var out []llm.Turn
	for _, t := range w.turns {
		turn := llm.Turn{Said: t.said}
		for i, c := range t.calls {
			f := found[c.outcome]
			f.Counted = i == len(t.calls)-1
			turn.Calls = append(turn.Calls, c.ToolCall)
			turn.Results = append(turn.Results, prompts.Result(language, f).User)
		}
		var then []string
		for _, i := range t.own {
			then = append(then, prompts.Result(language, found[i]).User)
		}
		if t.then != "" {
			then = append(then, prompts.Tell(language, *w.tell(t.then)).User)
		}
		turn.Then = strings.Join(then, "\n\n")
		out = append(out, turn)
	}
	return out
}
