package researching

import (
	"context"
	"fmt"
	"slices"

	"nightdesk/pipeline/recurring"
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
	if start.Block.Iterations == 0 {
		n := &night{
			Researcher: r, assignment: w.assignment, memory: memory, old: old,
			span: recurring.Span{Since: memory.Date, Now: run.Date(w.now())},
		}
		if err := (&refresh{w, n}).iterate(ctx, q); err != nil {
			return w.result(), err
		}
	}
	if err := w.computeAnew(ctx, q); err != nil {
		return w.result(), err
	}
	returned, err := w.remember(ctx, memory)
	result := w.result()
	result.Returned = returned
	return result, err
}

// night is the read-only context of all phases of a refresh.
type night struct {
	*Researcher
	assignment
	memory *recurring.Memory
	old    recurring.Block
	span   recurring.Span
}

// sameBase reports whether the knowledge base has the version of the last run, so that it gives the same answers.
func (n *night) sameBase() bool {
	version := n.run.Options.KnowledgeVersion
	return version != "" && version == n.memory.KnowledgeVersion
}

// failed wraps an error of comparing a text with its earlier version, or returns the cause of the end of ctx.
func (n *night) failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	what = topicqueue.Clip(topicqueue.OneLine(what), maxLine)
	return fmt.Errorf("compare %q with what it was on %s: %w", what, n.memory.Date, err)
}

// refresh is the single iteration of Refresh. Each phase uses the results of the previous ones.
type refresh struct {
	*work
	night *night
}

func (f *refresh) iterate(ctx context.Context, q Queue) error {
	f.lastSeq = max(f.lastSeq, f.night.old.LastSeq)
	v := &visit{night: f.night, looks: looks{}}
	pages, searches := v.pageCalls(), f.searchCalls()
	thought := fmt.Sprintf("Looking again at what was found on %s: %d pages, %d searches.",
		f.night.memory.Date, len(pages), len(searches))
	if err := f.emitThought(ctx, 1, decision{thought: thought}); err != nil {
		return err
	}
	if err := v.all(ctx, pages, searches); err != nil {
		return err
	}
	rel := v.relevance()
	old, err := f.thenTraces(ctx, &rel)
	if err != nil {
		return err
	}
	p, err := programsOf(ctx, v)
	if err != nil {
		return err
	}
	j := &judgement{visit: v, programs: p, relevance: rel}
	j.judge(old)
	for _, t := range j.carried {
		for _, c := range t.Claims {
			f.texts[foldedText(c.Text)] = true
		}
	}
	f.number(p.formers)
	f.feedback = append(f.feedback, p.lines...)
	if err := j.settle(ctx); err != nil {
		return err
	}
	traces, err := f.note(ctx, v.looks, rel)
	if err != nil {
		return err
	}
	if err := v.keepTexts(ctx, slices.Concat(traces, j.carried)); err != nil {
		return err
	}
	return f.finish(ctx, q, v, j.carried, traces, p.formers)
}

// searchCalls returns the searches of the block, including planned ones without results. It omits calls of the
// knowledge base if that is unchanged.
func (f *refresh) searchCalls() []call {
	calls := f.plannedCalls(1, f.night.old.SubTopic.Queries, f.searches())
	for _, a := range f.night.old.Asked {
		same := func(c call) bool { return tools.Key(c.tool, c.query) == tools.Key(a.Tool, a.Query) }
		if f.night.sameBase() && (retrieval(a.Tool) || a.Tool == queryItem) {
			calls = slices.DeleteFunc(calls, same)
			continue
		}
		if _, ok := f.tools.Lookup(a.Tool); ok && a.Tool != openPage && !slices.ContainsFunc(calls, same) {
			calls = append(calls, call{tool: a.Tool, query: a.Query})
		}
	}
	return calls
}

// thenTraces returns the traces of the last run with the texts of their sources. It sets rel.most to the highest topic
// coverage of their claims.
func (f *refresh) thenTraces(ctx context.Context, rel *relevance) (traces []topicqueue.ToolTrace, err error) {
	traces = slices.Clone(f.night.old.Traces)
	for i := range traces {
		s := &traces[i].Source
		if s.Text, err = f.Runner.Pages.Page(ctx, f.run.ID, s.Hash); err != nil {
			return nil, f.night.failed(ctx, s.Title, err)
		}
		for _, c := range traces[i].Claims {
			rel.most = max(rel.most, rel.about(s.Title, s.Text, c.Start, c.End))
		}
	}
	return traces, nil
}

// note reads the changed parts and records the claims to cite.
func (f *refresh) note(ctx context.Context, looks looks, rel relevance) ([]topicqueue.ToolTrace, error) {
	var noted []*look
	var outcomes []outcome
	for _, l := range looks.inOrder() {
		o := l.call
		o.fresh, o.only = l.now, rel.moved(l)
		if len(o.only)+len(l.found)+len(l.added)+len(l.diff.Changed) > 0 {
			noted, outcomes = append(noted, l), append(outcomes, o)
		}
	}
	notes, err := f.read(ctx, outcomes)
	if err != nil {
		return nil, err
	}
	for i, l := range noted {
		notes[i].found = slices.DeleteFunc(notes[i].found, l.stands)
		rel.conclude(l, &notes[i])
	}
	traces := f.record(1, outcomes, notes)
	for _, t := range traces {
		f.lastSeq = max(f.lastSeq, citationSeq(t.CitationID))
	}
	return traces, nil
}

// read sends the changed parts of all outcomes to the model together. Without a model the notes are empty.
func (f *refresh) read(ctx context.Context, outcomes []outcome) ([]note, error) {
	notes, starts := make([]note, len(outcomes)), make([]int, len(outcomes))
	var all outcome
	for i, o := range outcomes {
		starts[i] = len(all.fresh)
		all.fresh = append(all.fresh, o.fresh...)
		for _, p := range o.only {
			p.source += starts[i]
			all.only = append(all.only, p)
		}
	}
	if f.Model == nil || len(all.only) == 0 {
		return notes, nil
	}
	all.call = call{id: outcomes[0].id, tool: outcomes[0].tool, query: f.block.Title}
	read, err := f.takeNotes(ctx, 1, []outcome{all})
	if err != nil {
		return nil, err
	}
	for _, o := range read[0].found {
		i, exact := slices.BinarySearch(starts, o.source)
		if !exact {
			i--
		}
		o.source -= starts[i]
		notes[i].found = append(notes[i].found, o)
	}
	return notes, nil
}

// number assigns citation ids to traces of withdrawn claims.
func (f *refresh) number(formers []topicqueue.ToolTrace) {
	for i := range formers {
		f.lastSeq++
		t := &formers[i]
		t.CitationID = topicqueue.BlockCitationID(f.block.Number(), f.lastSeq)
		for n := range t.Withdrawn {
			t.Withdrawn[n].CitationID = t.CitationID
		}
	}
}

// finish stores the kept traces, the new ones and those of withdrawn claims.
func (f *refresh) finish(
	ctx context.Context, q Queue, v *visit, carried, traces, formers []topicqueue.ToolTrace,
) error {
	cp := topicqueue.Checkpoint{Iteration: 1, Digest: f.digest(traces, v.made)}
	current := slices.Concat(traces, carried)
	told := f.night.told(v.looks, current) // also updates current
	f.number(told)
	traces, carried = current[:len(traces)], current[len(traces):]
	cp.Traces = slices.Concat(carried, traces, formers, told)
	cp.Events = f.references(1, slices.Concat(carried, traces))
	if err := f.addCalls(ctx, &cp, v.made); err != nil {
		return err
	}
	return f.checkpoint(ctx, q, cp)
}
