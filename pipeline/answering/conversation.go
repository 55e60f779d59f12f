package answering

import (
	"cmp"
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
	model    llm.Model // that of the Answerer with its Patience
	run      topicqueue.Run
	tools    tools.Set // enabled for this run
	maxTurns int
	maxCalls int
	issued   map[string]bool
	lookups

	asked   int  // model calls
	calls   int  // counted tool calls
	squeeze int  // how often the results were shortened to fit the window
	away    bool // no answer because of the model
}

// source is a source shown to the model.
type source struct {
	topicqueue.Source
	id      string // such as CIT-1-01
	outcome int    // first outcome that returned it
}

func newWork(a *Answerer, run topicqueue.Run, block topicqueue.Block) *work {
	return &work{
		Answerer: a, model: &llm.Patient{Model: a.Model, Until: a.Patience}, run: run,
		tools: a.Runner.Tools.Enabled(run.Options.Tools), issued: map[string]bool{},
		maxTurns: cmp.Or(run.Options.MaxTurns, defaultTurns), maxCalls: cmp.Or(run.Options.MaxToolCalls, defaultCalls),
		lookups: lookups{topic: run.Topic, block: block, now: a.now, marked: map[string]int{}},
	}
}

// callsLeft returns the number of tool calls left to the model.
func (w *work) callsLeft() int { return max(0, w.maxCalls-w.calls) }

// mustAnswer reports whether no further look-up is possible.
func (w *work) mustAnswer() bool {
	late := !w.SoftLimit.IsZero() && time.Now().After(w.SoftLimit)
	return late || w.asked+1 >= w.maxTurns || w.callsLeft() == 0 || len(w.tools) == 0
}

// converse continues until there is an answer with citations, or a reason why there is none.
func (w *work) converse(ctx context.Context) (answer, why string, err error) {
	for {
		if w.mustAnswer() {
			return w.conclude(ctx, prompts.NowSpent)
		}
		text, actions, err := w.lookUp(ctx)
		switch again, why, err := w.trouble(ctx, err); {
		case err != nil, why != "":
			return "", why, err
		case again:
			continue
		}
		if len(actions) > 0 {
			if err := w.act(ctx, text, actions); err != nil {
				return "", "", err
			}
			continue
		}
		if text == "" || len(w.sources) == 0 {
			return w.conclude(ctx, prompts.NowSpent)
		}
		if cited, ok := w.accept(text); ok {
			return cited, "", nil
		}
		return w.conclude(ctx, prompts.NowUncited)
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
	case errors.Is(err, llm.ErrContextLength) && w.squeeze < maxSqueeze && len(w.sources) > 0:
		w.squeeze++
		return true, "", nil
	case errors.Is(err, llm.ErrContextLength), errors.Is(err, llm.ErrUnavailable), errors.Is(err, llm.ErrAnswer):
		w.away = true
		return false, topicqueue.Clip(topicqueue.OneLine(llm.Why(err)), maxLine), nil
	}
	return false, "", err
}

func (w *work) remarks() (lines []prompts.RemarkLine) {
	for _, r := range w.Remarks {
		lines = append(lines, prompts.RemarkLine{Sentence: r.Sentence, Words: r.Words})
	}
	return lines
}

// lookUp asks the model for its next look-ups, or for the answer: said is the reason of the look-ups, or the answer.
func (w *work) lookUp(ctx context.Context) (said string, actions []prompts.Action, err error) {
	w.asked++
	data := prompts.LookUpData{
		Topic: w.run.Topic, MaxCalls: w.callsLeft(), Found: w.found(w.room()),
		Report: w.reportShown(), Earlier: earlier(w.run.Options.Earlier), Remarks: w.remarks(),
	}
	for _, t := range w.tools {
		data.Tools = append(data.Tools, prompts.ToolLine{Name: t.Name(), Description: t.Description()})
	}
	answer, err := llm.Ask[prompts.LookUpAnswer](ctx, w.model, w.request(prompts.LookUp(w.run.Options.Language, data)))
	if errors.Is(err, llm.ErrAnswer) && !errors.Is(err, llm.ErrUnavailable) { // as a text it may still be usable
		return "", nil, nil
	}
	if len(answer.Actions) > 0 {
		return answer.Reasoning, answer.Actions, err
	}
	return answer.Answer, nil, err
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
	for {
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
		why = prompts.NowUncited
	}
}

// write asks for the answer as a text. A text cut off by the token limit is used.
func (w *work) write(ctx context.Context, why string) (text string, err error) {
	w.asked++
	data := prompts.AnswerData{Topic: w.run.Topic, Found: w.found(w.room()), Why: why, Report: w.reportShown(),
		Earlier: earlier(w.run.Options.Earlier), Remarks: w.remarks()}
	if len(w.sources) > 0 {
		data.Marker = w.sources[0].id
	}
	text, err = llm.Text(ctx, w.model, w.request(prompts.Answer(w.run.Options.Language, data)))
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

// request returns a model call with its position.
func (w *work) request(p prompts.Prompt) llm.Request {
	return llm.Request{Role: llm.Writer, Prompt: p, Position: llm.Position{
		RunID: w.run.ID, Stage: "researching", Block: w.block.ID, Iteration: w.asked, Step: p.Name, Ordinal: w.squeeze,
	}}
}
