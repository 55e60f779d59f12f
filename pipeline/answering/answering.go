// Package answering answers a question in one conversation: the model calls a few tools and writes a short answer from
// their results. It does not decompose the question or take notes. Package reporting checks the answer. Entry point:
// Answerer.Answer.
//
// In each turn, the model names its next look-ups in a JSON object, or gives the answer in it (prompts.LookUp). Every
// turn shows all results. When its tool calls, turns or time are used up, or that answer cites nothing, the model is
// asked for the answer alone, as a text.
//
// The caller journals every model call and tool call, so a new attempt repeats the same conversation without asking
// anything twice. Tool results are quoted as data. An answer must cite at least one source. If there is no such answer,
// the sources found still become evidence.
package answering

import (
	"context"
	"fmt"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Answerer answers questions. Its fields must not change after the first call. Answer is safe for concurrent use.
type Answerer struct {
	Model     llm.Model
	Runner    *tools.Runner // makes the tool calls
	Emit      topicqueue.Emit
	Now       func() time.Time    // nil: time.Now
	Window    int                 // context window of the model in tokens; 0: unknown
	Report    string              // Markdown of the report that the question refers to; empty: none
	Remarks   []topicqueue.Remark // of readers on earlier answers to the question
	SoftLimit time.Time           // local time after which no tool is called; zero: none
	Patience  time.Time           // local time after which the model is not waited for; zero: none
}

// Result is the result of a conversation.
type Result struct {
	Text     string                 // answer: Markdown with [CIT-1-01] markers; empty: none
	Why      string                 // why there is no answer, for display; else empty
	Away     bool                   // there is no answer because the model failed or was unavailable
	Traces   []topicqueue.ToolTrace // cited sources; without an answer, the most relevant ones
	Failures []string               // first failed calls, for display
	Turns    int                    // number of model calls
	Calls    int                    // number of counted tool calls of the model

	checkpoint topicqueue.Checkpoint
}

// Checkpoint returns the part of the result to store, as the only iteration of its block.
func (r Result) Checkpoint() topicqueue.Checkpoint { return r.checkpoint }

// Default limits.
const (
	defaultTurns = 10
	defaultCalls = 5
)

// Answer answers the topic of a run that consists of one block.
//
// A model failure is not an error; Result.Why describes it. An error means that the block must stop: the end of ctx
// (its cause is wrapped), an error of Emit or of a tool, or a permanent failure of the model.
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
