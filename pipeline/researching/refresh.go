package researching

import (
	"context"
	"fmt"
	"slices"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/researching/recheck"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Refresh updates a block that an earlier run researched, in one iteration:
//
//	look    request known pages conditionally, read documents, repeat the searches
//	align   compare the old text with the current one (recurring.Span)
//	judge   keep the claims that still hold; take those in changed paragraphs from the new text
//	note    the model reads only the changed paragraphs and selects what matters; without a model,
//	        changes that are about the topic as much as the claims matter
//	tell    report changes as Withdrawn, with their replacements, and as Added
//
// Traces whose claims hold keep their citations. Statements that a source no longer makes become a trace with
// Withdrawn, which has the old text and a new citation. The texts named by memory.Texts must be in the run's bundle.
//
// Program output that was computed from outdated numbers is withdrawn. The model may recompute it in one or two more
// iterations of the usual kind. If nothing changed, no model is called. Errors are those of Research.
func (r *Researcher) Refresh(
	ctx context.Context, run topicqueue.Run, topic string, start Start,
	memory *recurring.Memory, old recurring.Block, q Queue,
) (Result, error) {
	w := newWork(r, run, topic, start)
	n := w.night()
	n.Memory, n.Old = memory, old
	n.Span = recurring.Span{Since: memory.Date, Now: run.Date(w.now())}
	if start.Block.Iterations == 0 {
		if err := w.refresh(ctx, q, n); err != nil {
			return w.result(), err
		}
	}
	if err := w.computeAnew(ctx, q); err != nil {
		return w.result(), err
	}
	return w.remembered(ctx, n)
}

// night returns what a recheck of this block needs, without a last run.
func (w *work) night() *recheck.Night {
	return &recheck.Night{
		Runner: w.Runner, Tools: w.tools, Documents: w.Documents, Before: w.Before, Modelled: w.Model != nil, Now: w.now,
		Run: w.run, Block: w.block,
	}
}

// remembered reads what the next run of a recurring topic will compare, and returns the result of the block.
func (w *work) remembered(ctx context.Context, n *recheck.Night) (Result, error) {
	if !w.run.Options.Incremental {
		return w.result(), nil
	}
	asked := func(address string) bool { return w.own.has(openPage, address) }
	read, err := n.Remember(ctx, w.traces, asked, w.SoftLimit)
	if err != nil {
		return w.result(), err
	}
	result := w.result()
	result.Returned, err = w.putReturned(ctx, read)
	return result, err
}

// refresh is the iteration of a block that an earlier run researched.
func (w *work) refresh(ctx context.Context, q Queue, n *recheck.Night) error {
	w.lastSeq = max(w.lastSeq, n.Old.LastSeq)
	v := n.Open()
	pages, searches := v.PageCalls(), w.searchCalls(n)
	thought := fmt.Sprintf("Looking again at what was found on %s: %d pages, %d searches.",
		n.Memory.Date, len(pages), len(searches))
	if err := w.emitThought(ctx, 1, decision{thought: thought}); err != nil {
		return err
	}
	checked, err := v.Recheck(ctx, pages, searches)
	if err != nil {
		return err
	}
	for _, t := range checked.Carried {
		for _, c := range t.Claims {
			w.texts[recheck.FoldedText(c.Text)] = true
		}
	}
	w.number(checked.Formers)
	w.feedback = append(w.feedback, checked.Lines...)
	traces, err := w.noteChanges(ctx, checked)
	if err != nil {
		return err
	}
	if err := v.KeepTexts(ctx, slices.Concat(traces, checked.Carried)); err != nil {
		return err
	}
	return w.finishRefresh(ctx, q, checked, traces)
}

// searchCalls returns the searches of the block, including planned ones without results. It omits calls of the
// knowledge base if that is unchanged.
func (w *work) searchCalls(n *recheck.Night) []recheck.Call {
	calls := w.plannedCalls(1, n.Old.SubTopic.Queries, w.searches())
	for _, a := range n.Old.Asked {
		same := func(c recheck.Call) bool { return tools.Key(c.Tool, c.Query) == tools.Key(a.Tool, a.Query) }
		if n.SameBase() && (retrieval(a.Tool) || a.Tool == queryItem) {
			calls = slices.DeleteFunc(calls, same)
			continue
		}
		if _, ok := w.tools.Lookup(a.Tool); ok && a.Tool != openPage && !slices.ContainsFunc(calls, same) {
			calls = append(calls, recheck.Call{Tool: a.Tool, Query: a.Query})
		}
	}
	return calls
}

// noteChanges reads the changed parts and records the claims to cite.
func (w *work) noteChanges(ctx context.Context, checked *recheck.Outcome) ([]topicqueue.ToolTrace, error) {
	readings := checked.Readings()
	outcomes := make([]outcome, len(readings))
	for i, r := range readings {
		outcomes[i] = outcome{Result: r.Result, fresh: r.Sources, only: r.Parts}
	}
	notes := make([]note, len(outcomes)) // empty without a model
	if w.Model != nil {
		var err error
		if notes, err = w.takeNotes(ctx, 1, outcomes); err != nil {
			return nil, err
		}
	}
	for i, r := range readings {
		notes[i].found = checked.Conclude(r, notes[i].found)
		notes[i].summary = summaryOf(notes[i].found)
	}
	traces := w.record(1, outcomes, notes)
	for _, t := range traces {
		w.lastSeq = max(w.lastSeq, citationSeq(t.CitationID))
	}
	return traces, nil
}

// number assigns citation ids to traces of withdrawn claims.
func (w *work) number(formers []topicqueue.ToolTrace) {
	for i := range formers {
		w.lastSeq++
		t := &formers[i]
		t.CitationID = topicqueue.BlockCitationID(w.block.Number(), w.lastSeq)
		for n := range t.Withdrawn {
			t.Withdrawn[n].CitationID = t.CitationID
		}
	}
}

// finishRefresh stores the kept traces, the new ones and those of withdrawn claims.
func (w *work) finishRefresh(
	ctx context.Context, q Queue, checked *recheck.Outcome, traces []topicqueue.ToolTrace,
) error {
	cp := topicqueue.Checkpoint{Iteration: 1, Digest: w.digest(traces)}
	current := slices.Concat(traces, checked.Carried)
	told := checked.Told(current) // also updates current
	w.number(told)
	traces, carried := current[:len(traces)], current[len(traces):]
	cp.Traces = slices.Concat(carried, traces, checked.Formers, told)
	cp.Events = w.references(1, slices.Concat(carried, traces))
	if err := w.addCalls(ctx, &cp, checked.Made); err != nil {
		return err
	}
	return w.checkpoint(ctx, q, cp)
}

// lastAnew is the last iteration for recomputing: one to find the current numbers, one to compute.
const lastAnew = 3

// computeAnew runs up to two more iterations if program output was withdrawn, until the model has run a program again.
func (w *work) computeAnew(ctx context.Context, q Queue) error {
	withdrawn := func(t topicqueue.ToolTrace) bool {
		return t.Source.Kind == topicqueue.SourceCode && len(t.Withdrawn) > 0
	}
	_, runs := w.tools.Lookup(runCode)
	if !runs || w.Model == nil || w.block.Iterations != 1 || !slices.ContainsFunc(w.traces, withdrawn) {
		return nil
	}
	before, wanted := w.programs(), true
	w.run.Options.MaxIterations = lastAnew
	for k := 2; k <= lastAnew && wanted; k++ {
		if w.May != nil {
			if may, err := w.May(ctx, k); err != nil || !may {
				return err
			}
		}
		goOn, err := w.iterate(ctx, q, k)
		if err != nil {
			return err
		}
		wanted = goOn && w.programs() == before
	}
	return nil
}

// programs counts the block's traces of program output.
func (w *work) programs() (n int) {
	for _, t := range w.traces {
		if t.Source.Kind == topicqueue.SourceCode {
			n++
		}
	}
	return n
}
