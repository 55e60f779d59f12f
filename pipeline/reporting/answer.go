package reporting

import (
	"cmp"
	"context"
	"slices"
)

// answered makes the report of an answer that a model has given in one conversation: the same check, references and
// note as of any report, and no sections. An answer of which nothing usable is left gives way to what its sources say.
func (w *writer) answered(ctx context.Context) (Report, error) {
	p, usable := w.accept(w.answer, w.title, citations(w.claims))
	if !usable {
		w.fellBack("answer")
		return w.quoted(ctx)
	}
	p.claims = w.claims
	return w.finish(ctx, Outline{Title: w.title, Sections: []OutlineSection{}}, draft{opening: p})
}

// markUncited adds to what was decided about an answer that its sentences with facts which cite nothing are marked:
// in a text so short a reader takes each sentence for a checked one.
func (c *checker) markUncited(body string, decisions []decision) []decision {
	for _, s := range c.unsourced {
		decisions = append(decisions, decision{statement: s, changed: true, text: c.m.marked(s.raw(body), s.row)})
	}
	slices.SortFunc(decisions, func(a, b decision) int { return cmp.Compare(a.start, b.start) })
	return decisions
}
