// Package recheck compares what a topic block read in the last run of a recurring topic with what its sources say now.
// It decides which claims still hold, and which changes are to be reported. It writes no notes and calls no model.
//
// Entry points: Night.Open, whose Visit requests the pages, documents and searches of the last run, and Night.Remember,
// which reads what the next run will compare.
package recheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/fetch"
	"nightdesk/topicqueue"
)

// Limits of text that is shown again, in bytes.
const (
	maxLine  = 200   // a title, query or message within a sentence
	maxClaim = 1_000 // text of a claim that is searched for
)

// Night is what all steps of a recheck need. It is read-only.
type Night struct {
	Runner    *tools.Runner
	Tools     tools.Set // enabled for this run
	Documents Documents // the run's knowledge base; nil: none
	Before    Documents // that base in the last run; nil: unknown
	Modelled  bool      // a model decides later what matters
	Now       func() time.Time
	Run       topicqueue.Run
	Block     topicqueue.Block

	// Of the last run; not set for Remember in the first run.
	Memory *recurring.Memory
	Old    recurring.Block
	Span   recurring.Span
}

// Call is a tool call.
type Call struct {
	ID      string // such as block_3/2.1
	Tool    string
	Query   string
	Purpose string        // stated by the model, used to name programs
	Known   fetch.Version // known version of a page
}

// Result is a call with its answer.
type Result struct {
	Call
	Answer tools.Answer
}

// Make makes calls of a run, up to limit in parallel, and returns their results in order. An error stops the block.
func Make(ctx context.Context, runner *tools.Runner, run string, calls []Call, limit int) ([]Result, error) {
	results := make([]Result, len(calls))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(limit)
	for i, c := range calls {
		group.Go(func() error {
			answer, err := runner.Call(groupCtx, run, c.Tool, tools.Call{ToolID: c.ID, Query: c.Query, Known: c.Known})
			if err != nil {
				return fmt.Errorf("call %s for %s: %w", c.Tool, c.ID, err)
			}
			results[i] = Result{Call: c, Answer: answer}
			return nil
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return results, err
}

// Finding is a claim without an id.
type Finding struct {
	Source     int // index in the sources that were read
	Text       string
	Start, End int     // byte offsets of the quote in the source's text
	Share      float64 // relevance of its passage, if no model chose it
	Block      string  // block that it is about, if not the one that is worked on
}

// Part is a part of a source's text.
type Part struct {
	Source int // index in the sources
	At     int // byte offset in the source's text
	Text   string
}

// SameBase reports whether the knowledge base has the version of the last run, so that it gives the same answers.
func (n *Night) SameBase() bool {
	version := n.Run.Options.KnowledgeVersion
	return version != "" && version == n.Memory.KnowledgeVersion
}

// failed wraps an error of comparing a text with its earlier version, or returns the cause of the end of ctx.
func (n *Night) failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	what = topicqueue.Clip(topicqueue.OneLine(what), maxLine)
	return fmt.Errorf("compare %q with what it was on %s: %w", what, n.Memory.Date, err)
}

// Outcome is the result of a visit.
type Outcome struct {
	*Visit
	Carried []topicqueue.ToolTrace // traces with claims that hold
	Formers []topicqueue.ToolTrace // traces of withdrawn program output, without citation ids
	Lines   []string               // feedback to the model on withdrawn output

	outdated numbers // numbers in programs that their sources no longer state
	losses   []loss
	places   map[uint64][]spot // by mark: positions of all current sentences; nil: not computed yet
}

// Recheck requests pages and searches, compares all texts of the block with their earlier versions, decides which
// claims still hold, and finds lost sentences in other texts.
func (v *Visit) Recheck(ctx context.Context, pages, searches []Call) (o *Outcome, err error) {
	if err := v.all(ctx, pages, searches); err != nil {
		return nil, err
	}
	v.weigh()
	old, err := v.thenTraces(ctx)
	if err != nil {
		return nil, err
	}
	o = &Outcome{Visit: v}
	if o.outdated, err = o.outdatedNumbers(ctx); err != nil {
		return nil, err
	}
	o.judge(old)
	return o, o.settle(ctx)
}

// thenTraces returns the traces of the last run with the texts of their sources. It sets the highest topic coverage of
// their claims.
func (v *Visit) thenTraces(ctx context.Context) (traces []topicqueue.ToolTrace, err error) {
	traces = slices.Clone(v.Old.Traces)
	for i := range traces {
		s := &traces[i].Source
		if s.Text, err = v.Runner.Pages.Page(ctx, v.Run.ID, s.Hash); err != nil {
			return nil, v.failed(ctx, s.Title, err)
		}
		for _, c := range traces[i].Claims {
			v.most = max(v.most, v.about(s.Title, s.Text, c.Start, c.End))
		}
	}
	return traces, nil
}

// Reading is a text with changes that must be noted.
type Reading struct {
	Result
	Sources []topicqueue.Source
	Parts   []Part // changed parts of Sources for the model; empty: the findings are known
	look    *look
}

// Readings returns the texts with changes that must be noted.
func (o *Outcome) Readings() []Reading {
	var readings []Reading
	for _, l := range o.looks.inOrder() {
		parts := o.moved(l)
		if len(parts)+len(l.found)+len(l.added)+len(l.diff.Changed) > 0 {
			readings = append(readings, Reading{Result: l.call, Sources: l.now, Parts: parts, look: l})
		}
	}
	return readings
}

// Conclude decides which changes of a text are reported. It returns what the model found there, without claims that
// still hold, and what the changes need besides.
func (o *Outcome) Conclude(r Reading, found []Finding) []Finding {
	return o.conclude(r.look, slices.DeleteFunc(found, r.look.stands))
}
