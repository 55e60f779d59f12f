// Package answering answers a question in one conversation: a model calls a few tools and writes a short answer from
// what they return. It does not decompose, takes no notes, and does not check what it writes: package reporting does.
// Entry point: Answerer.Answer.
//
// A turn is one question to the model. It either calls tools, whose results become part of the conversation, or
// answers. When its tool calls or turns are used up, or the time is, the last message of the conversation tells it to
// answer now, and no tools are bound. A model that cannot call tools is asked what to look up next in a JSON object
// (prompts.LookUp), and then for the answer.
//
// Every question and every tool call is journaled by its caller, so an attempt that begins again goes through the same
// conversation without asking anything twice. What a tool returned is quoted as data. An answer counts only when it
// cites at least one source; without one, the sources that were found still become evidence.
package answering

import (
	"context"
	"errors"
	"fmt"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Answerer answers questions. Its fields are set once; Answer is safe for concurrent use.
type Answerer struct {
	Model     llm.Model
	Runner    *tools.Runner // makes the calls
	Emit      topicqueue.Emit
	Now       func() time.Time    // nil: time.Now
	Window    int                 // tokens that the model takes; 0: not known
	Report    string              // Markdown, that the question is about; empty: none
	Remarks   []topicqueue.Remark // of readers about earlier answers to the question
	SoftLimit time.Time           // by the clock of this machine; no tool is called after it; zero: never
	Patience  time.Time           // by the same clock; the model is not waited for after it; zero: always
}

// Result is what an answer has come to.
type Result struct {
	Text     string                 // the answer: Markdown with [CIT-1-01] markers; empty: there is none
	Why      string                 // why there is none, for a person; empty: there is one
	Away     bool                   // the model is why: it could not be asked, or did not answer
	Traces   []topicqueue.ToolTrace // the sources that it cites; without an answer those that bear most on the question
	Failures []string               // its first calls that failed, for a person
	Turns    int                    // questions to the model
	Calls    int                    // tool calls that the model asked for and that counted

	checkpoint topicqueue.Checkpoint
}

// Checkpoint returns what is to be stored of the result, as the only iteration of its block.
func (r Result) Checkpoint() topicqueue.Checkpoint { return r.checkpoint }

// Defaults of the limits, for options that name none.
const (
	defaultTurns = 10
	defaultCalls = 5
)

// stepCeiling bounds the steps of a conversation, whatever becomes of it: questions, questions that are put again, and
// rounds of tool calls.
func stepCeiling(turns int) int { return 2*turns + 10 }

// Answer answers the topic of a run, whose only block this is.
//
// Trouble with the model is no error: Result.Why tells of it. The error is for what must stop the block: the end of ctx
// (its cause is wrapped), an error of Emit or of a tool, a permanent failure of the model.
func (a *Answerer) Answer(ctx context.Context, run topicqueue.Run, block topicqueue.Block) (Result, error) {
	w := newWork(a, run, block)
	text, why, err := w.converse(ctx)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err != nil {
		return Result{}, fmt.Errorf("answer %s: %w", run.ID, err)
	}
	return w.result(ctx, text, why)
}

func (a *Answerer) now() time.Time {
	if a.Now == nil {
		return time.Now().UTC()
	}
	return a.Now().UTC()
}

// errPatience is the cause by which the end of Patience is told from the end of the caller's context.
var errPatience = errors.New("it has not answered in the time that there was for it")

// patient lets the model answer as long as there is time for it.
func (a *Answerer) patient(ctx context.Context, ask func(context.Context) error) error {
	if a.Patience.IsZero() {
		return ask(ctx)
	}
	askCtx, cancel := context.WithDeadlineCause(ctx, a.Patience, errPatience)
	defer cancel()
	err := ask(askCtx)
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(askCtx), errPatience) &&
		!errors.Is(err, llm.ErrUnavailable) { // else it says more
		return fmt.Errorf("%w: %w", errPatience, llm.ErrUnavailable)
	}
	return err
}
