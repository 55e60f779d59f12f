package reporting

import (
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

// markUncited marks the sentences of an answer that state figures and cite nothing: in a text so short a reader takes
// each sentence for a checked one.
func (c *checker) markUncited(p part) {
	body := *p.body
	for _, s := range slices.Backward(statementsOf(body, p.whole)) {
		if len(s.ids) == 0 && slices.Contains(p.told.Uncited, s.text) {
			body = s.withText(body, c.w.marked(s.raw(body), s.row))
		}
	}
	*p.body = body
}
