package researching

import (
	"context"
	"fmt"
	"slices"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Refresh works on a block that an earlier run has researched, in one iteration:
//
//	look    pages are asked for by the version that is known of them, documents read, searches asked again
//	align   the text of then with that of tonight (recurring.Span)
//	judge   claims stand, or the paragraph of theirs says something else now: it is read again
//	note    a model sees only the paragraphs that have moved, and says what matters in them; without one, what is
//	        about the topic as much as the claims are matters
//	tell    as Withdrawn, with what has come in its place, and Added
//
// Traces whose claims stand keep their citations. What a source no longer says becomes a trace with Withdrawn, of the
// old text and under a citation of its own. The texts that memory.Texts names must be in the run's bundle.
//
// What programs have computed from numbers that sources do not state any more is withdrawn, and the model may compute
// it anew in one or two more iterations, as those of research are. Where nothing has moved, no model is asked. The
// error is as for Research.
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

// night is what all phases of a refresh work with. None changes it.
type night struct {
	*Researcher
	assignment
	memory *recurring.Memory
	old    recurring.Block
	span   recurring.Span
}

// sameBase reports that the knowledge base is the version that the last run had: it answers what it answered then.
func (n *night) sameBase() bool {
	version := n.run.Options.KnowledgeVersion
	return version != "" && version == n.memory.KnowledgeVersion
}

// failed says what was being done when a text could not be read.
func (n *night) failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	what = topicqueue.Clip(topicqueue.OneLine(what), maxLine)
	return fmt.Errorf("compare %q with what it was on %s: %w", what, n.memory.Date, err)
}

// refresh is the one iteration of Refresh: a phase after the other, each with what the ones before have found.
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
	rel := relevance{topic: f.run.Topic, model: f.Model != nil, broad: v.broad}
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

// searchCalls are the block's searches, and those that it was planned with: they may have found nothing. A knowledge
// base of which nothing has changed is not asked again.
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

// thenTraces returns the traces of the last run with the texts of their sources, and says in rel how much of the topic
// their claims speak of.
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

// note reads what has moved, and records what is to be cited of it.
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

// read has the model read what has moved, all of it at once. Without a model the notes are empty.
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

// number gives citation ids to traces of what does not hold any more.
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

// finish stores what was carried over, what was noted and what does not hold any more, each told as such.
func (f *refresh) finish(
	ctx context.Context, q Queue, v *visit, carried, traces, formers []topicqueue.ToolTrace,
) error {
	cp := topicqueue.Checkpoint{Iteration: 1, Digest: f.digest(traces, v.made)}
	current := slices.Concat(traces, carried)
	told := f.night.told(v.looks, current) // which adds to current
	f.number(told)
	traces, carried = current[:len(traces)], current[len(traces):]
	cp.Traces = slices.Concat(carried, traces, formers, told)
	cp.Events = f.references(1, slices.Concat(carried, traces))
	if err := f.addCalls(ctx, &cp, v.made); err != nil {
		return err
	}
	return f.checkpoint(ctx, q, cp)
}
