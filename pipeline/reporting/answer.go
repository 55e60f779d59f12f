package reporting

import (
	"cmp"
	"context"
	"slices"
)

// answered turns the answer of a one-conversation run into a report without sections, with the same check, references
// and note as other reports. If nothing in the answer is usable, it reports quotes of the sources.
func (w *writer) answered(ctx context.Context) (Report, error) {
	p, usable := w.accept(w.answer, w.title, citations(w.claims))
	if !usable {
		w.fellBack("answer")
		return w.quoted(ctx)
	}
	p.claims = w.claims
	return w.finish(ctx, Outline{Title: w.title, Sections: []OutlineSection{}}, draft{opening: p})
}

// markUncited adds decisions that mark the uncited factual sentences of an answer. In so short a text, readers would
// take every sentence for a checked one.
func (c *checker) markUncited(body string, decisions []decision) []decision {
	for _, s := range c.unsourced {
		decisions = append(decisions, decision{statement: s, changed: true, text: c.m.marked(s.raw(body), s.row)})
	}
	slices.SortFunc(decisions, func(a, b decision) int { return cmp.Compare(a.start, b.start) })
	return decisions
}
