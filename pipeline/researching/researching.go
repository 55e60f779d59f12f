// Package researching works on one topic block: it decides what is still missing, calls tools, and takes notes whose
// claims stand verbatim in a source, iteration by iteration. It does not know which block comes next or how a report
// is written. Entry point: Researcher.Research.
//
// One iteration is two model calls deep:
//
//	decide  judges the evidence and plans calls      -> thought_status
//	act     makes all calls at once
//	note    compresses what is new, one per call     -> reference
//	        checkpoint: traces, queries, proposals   <- the run as it is now, answers to the proposals
//
// What goes wrong inside an iteration has a defined outcome and does not end the block: an unknown tool, a repeated
// query, a search without results, an answer of the wrong form, a quote that stands nowhere. Without a model, and while
// its server is away, decide and note have extractive forms. A block that has evidence ends with it where decide finds
// the server away; one that has none goes on without the model.
package researching

import (
	"context"
	"fmt"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Queue stores what an iteration has found.
type Queue interface {
	// Checkpoint stores one iteration in one step and returns the run as the next one sees it. An error means that
	// this attempt must stop without writing: its lease is lost, or the run has been cancelled.
	Checkpoint(ctx context.Context, cp topicqueue.Checkpoint) (topicqueue.CheckpointResult, error)
}

// Researcher runs the loop of topic blocks. Its fields are set once; Research is safe for concurrent use.
type Researcher struct {
	Model      llm.Model     // nil: the extractive form
	Runner     *tools.Runner // makes the calls
	Emit       topicqueue.Emit
	Now        func() time.Time // nil: time.Now
	MaxActions int              // calls per iteration; 0: 3
	Window     int              // tokens that the model takes; 0: not known
	SoftLimit  time.Time        // by the clock of this machine; no iteration begins after it; zero: none
	// by the same clock; a block that has nothing by then goes on without its model; zero: it never does
	Patience time.Time
	// May reports whether there is money for an iteration; nil: always.
	May func(ctx context.Context, iteration int) (bool, error)

	// Of a topic that is researched again and again:
	Documents Documents // of the run's knowledge base; nil: it has none
	Before    Documents // of that base as the last run had it; nil: that is not known
}

// Start is where the work on a block begins or goes on.
type Start struct {
	Block      topicqueue.Block // Iterations says how many are checkpointed
	View       topicqueue.View
	Memory     topicqueue.BlockMemory // from the last checkpoint
	Admissions []topicqueue.Admission // answers to the last checkpoint's proposals
	Traces     []topicqueue.ToolTrace // of those iterations, when a block is continued
	// number of the last citation that an earlier run has given in this block: none is given twice
	LastSeq int
}

// Result counts what a block has, earlier iterations included.
type Result struct {
	Iterations int      // checkpointed
	Traces     int      // sources with at least one claim
	Claims     int      // 0: nothing usable was found, which is for the caller to judge
	Cut        bool     // there was no money for all iterations
	Fallbacks  []string // steps of these iterations that a model should have done and did not, for a person
	Failures   []string // its first calls that failed, at most maxFailures: tool, query and why, for a person
	Returned   string   // of calls after the last checkpoint: see topicqueue.Checkpoint
}

const defaultMaxActions = 3

// Research works on a block from its last checkpoint until its iterations are used up or, in flexible mode, its
// evidence suffices. topic is the plan's topic.
//
// The error is for what must stop the block: the end of ctx (its cause is wrapped), an error of Queue or Emit, a
// permanent failure of the model. The result then counts what is checkpointed.
func (r *Researcher) Research(ctx context.Context, run topicqueue.Run, topic string, start Start,
	q Queue) (Result, error) {
	w := newWork(r, run, topic, start)
	for k := start.Block.Iterations + 1; k <= run.Options.MaxIterations; k++ {
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
	returned, err := w.remember(ctx, nil)
	result := w.result()
	result.Returned = returned
	return result, err
}

func (r *Researcher) now() time.Time {
	if r.Now == nil {
		return time.Now().UTC()
	}
	return r.Now().UTC()
}
