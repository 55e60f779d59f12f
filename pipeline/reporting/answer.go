package reporting

import "context"

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
