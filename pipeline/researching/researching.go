// Package researching works on one topic block. In each iteration it decides what is missing, calls tools, and takes
// notes whose claims are verbatim in a source. It does not choose blocks or write reports. Entry point:
// Researcher.Research.
//
// An iteration has two consecutive model calls:
//
//	decide  judge the evidence and plan calls        -> thought_status
//	act     make all calls in parallel
//	note    extract claims from new sources          -> reference
//	        checkpoint: traces, queries, proposals   <- current state of the run, answers to the proposals
//
// Problems within an iteration do not end the block: an unknown tool, a repeated query, an empty search, an invalid
// answer, or a quote that is in no source. Decide and note have extractive forms for when there is no model or its
// server is unavailable. If decide finds the server unavailable, a block with evidence ends, and a block without
// evidence continues without the model.
package researching

import (
	"context"
	"fmt"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/researching/recheck"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Queue stores the results of iterations.
type Queue interface {
	// Checkpoint stores one iteration atomically and returns the current state of the run. After an error, this attempt
	// must stop without writing, because its lease is lost or the run was canceled.
	Checkpoint(ctx context.Context, cp topicqueue.Checkpoint) (topicqueue.CheckpointResult, error)
}

// Researcher runs the research loop of topic blocks. Its fields must not change after the first call. Research is safe
// for concurrent use.
type Researcher struct {
	Model      llm.Model     // nil: extractive form
	Runner     *tools.Runner // makes the tool calls
	Emit       topicqueue.Emit
	Now        func() time.Time // nil: time.Now
	MaxActions int              // calls per iteration; 0: 3
	Window     int              // context window of the model in tokens; 0: unknown
	SoftLimit  time.Time        // local time after which no iteration starts; zero: none
	// Patience is the local time at which a block without claims stops using its model; zero: never.
	Patience time.Time
	// May reports whether the budget allows an iteration; nil: always.
	May func(ctx context.Context, iteration int) (bool, error)

	// For recurring topics:
	Documents Documents // run's knowledge base; nil: none
	Before    Documents // that base in the last run; nil: unknown
}

// Documents provides the texts of a knowledge base.
type Documents = recheck.Documents

// Start is the state in which the work on a block starts or continues.
type Start struct {
	Block      topicqueue.Block // Iterations is the number of checkpointed iterations
	View       topicqueue.View
	Memory     topicqueue.BlockMemory // from the last checkpoint
	Admissions []topicqueue.Admission // answers to the last checkpoint's proposals
	Traces     []topicqueue.ToolTrace // traces of the earlier iterations
	Planned    []topicqueue.ToolTrace // traces of planning: its background, and what Read noted for each block
	Whole      bool                   // Read was given all documents that the run may search
	// LastSeq is the last citation number that an earlier run used in this block; numbers are not reused.
	LastSeq int
}

// Result summarizes a block, including earlier iterations.
type Result struct {
	Iterations int      // number of checkpointed iterations
	Traces     int      // sources with at least one claim
	Claims     int      // 0: nothing usable was found, which the caller must handle
	Cut        bool     // the budget did not allow all iterations
	Fallbacks  []string // steps of these iterations done without the model, for display
	Failures   []string // first failed calls, at most maxFailures: tool, query and reason, for display
	Returned   string   // of calls after the last checkpoint, see topicqueue.Checkpoint
}

// DefaultMaxActions is the number of tool calls of one iteration: enough to ask for both sides of a question and to
// read a page, few enough that a decision sees what the last calls found.
const DefaultMaxActions = 3

// Research works on a block from its last checkpoint until its iterations are used up or, in flexible mode, its
// evidence is sufficient. topic is the plan's topic.
//
// An error means that the block must stop: the end of ctx (its cause is wrapped), an error of Queue or Emit, or a
// permanent failure of the model. The result then covers the checkpointed iterations.
func (r *Researcher) Research(ctx context.Context, run topicqueue.Run, topic string, start Start,
	q Queue) (Result, error) {
	w := newWork(r, run, topic, start)
	last := run.Options.MaxIterations
	if start.Whole && !w.tools.Searches() { // one look whether something is to be computed
		last = min(1, len(w.tools))
		w.run.Options.MaxIterations, w.run.Options.IterationMode = last, topicqueue.IterationFlexible
	}
	for k := start.Block.Iterations + 1; k <= last; k++ {
		if ctx.Err() != nil {
			return w.result(), context.Cause(ctx)
		}
		if k > 1 && !r.SoftLimit.IsZero() && time.Now().After(r.SoftLimit) {
			w.fallBack(fmt.Sprintf("the time of %s was used up after %d of %d iterations", w.block.ID, k-1,
				run.Options.MaxIterations))
			break
		}
		if r.May != nil {
			may, err := r.May(ctx, k)
			if err != nil {
				return w.result(), err
			}
			if !may {
				w.cut = true
				break
			}
		}
		goOn, err := w.iterate(ctx, q, k)
		if err != nil {
			return w.result(), err
		}
		if !goOn {
			break
		}
	}
	if len(w.adopted) > 0 {
		if last == 0 {
			if err := w.emitThought(ctx, 1, decision{thought: "All documents were read while planning."}); err != nil {
				return w.result(), err
			}
		}
		if err := w.checkpoint(ctx, q, topicqueue.Checkpoint{Iteration: w.block.Iterations + 1}); err != nil {
			return w.result(), err
		}
	}
	return w.remembered(ctx, w.night())
}

func (r *Researcher) now() time.Time {
	if r.Now == nil {
		return time.Now().UTC()
	}
	return r.Now().UTC()
}
