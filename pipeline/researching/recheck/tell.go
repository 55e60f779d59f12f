package recheck

import (
	"slices"
	"strings"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

const (
	nearly     = 0.75 // minimum topic coverage, relative to the best claim
	aroundUnit = 600  // context of a sentence, in bytes on each side
)

// weigh prepares the relevance of changes: it indexes the words of the compared texts, old and new. If no text has
// changed, nothing is weighed, and the texts are not indexed.
func (v *Visit) weigh() {
	var docs []text.Document
	if looks := v.looks.inOrder(); slices.ContainsFunc(looks, (*look).moved) {
		for _, l := range looks {
			docs = append(docs, text.Document{Heading: l.title(), Text: l.then.Text + "\n" + l.text})
		}
	}
	v.words = text.NewIndex(docs)
}

// about returns the share of the topic that a span of s and its context cover, 0 to 1. Words that tell the compared
// texts apart, such as the name of a company, count more than those that most of them have.
func (v *Visit) about(title, s string, start, end int) float64 {
	around := strings.ToValidUTF8(s[max(0, start-aroundUnit):min(len(s), end+aroundUnit)], "")
	return v.words.Weighted(title+"\n"+around, v.Run.Topic)
}

// matters reports whether a changed unit may be reported. With a model, which decides later, it always may, except in
// documents that no search found. Without one, every change in an edited document may if the knowledge base is about
// the topic. In all other cases, its topic coverage must be near that of the best claim.
func (v *Visit) matters(l *look, s string, u text.Unit) bool {
	if v.Modelled && !l.weigh || v.broad && l.edited() {
		return true
	}
	return v.about(l.title(), s, u.Start, u.End) >= nearly*v.most
}

// changeMatters reports whether a change is reported without a model. In documents that the block has read, every
// change is.
func (v *Visit) changeMatters(l *look, p text.Pair) bool {
	return !v.Modelled && (l.cited && l.edited() || v.matters(l, l.text, p.New))
}

// moved returns the changed paragraphs of a text.
func (v *Visit) moved(l *look) []Part {
	pieces := []Part{}
	units := slices.Clone(l.diff.New)
	for _, p := range l.diff.Changed {
		units = append(units, p.New)
	}
	slices.SortFunc(units, func(a, b text.Unit) int { return a.Start - b.Start })
	for _, u := range units {
		i, start, end, ok := l.within(u.Start, u.End)
		if !ok || !v.matters(l, l.text, u) {
			continue
		}
		from, to := between(paragraph, l.now[i].Text, start, end)
		p := Part{Source: i, At: from, Text: l.now[i].Text[from:to]}
		if len(pieces) == 0 || pieces[len(pieces)-1] != p {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// conclude decides which changes of a text are reported, and adds the findings that they need to those of its note.
func (v *Visit) conclude(l *look, found []Finding) []Finding {
	noted := func(u text.Unit) bool {
		i, start, end, ok := l.within(u.Start, u.End)
		over := func(o Finding) bool { return o.Source == i && o.Start < end && start < o.End }
		return ok && slices.ContainsFunc(found, over)
	}
	for _, p := range l.diff.Changed {
		if noted(p.New) || v.changeMatters(l, p) || l.beside(p.Old) {
			l.pairs = append(l.pairs, p)
		}
	}
	for _, u := range l.diff.New {
		if !slices.Contains(l.added, u) && (noted(u) || !v.Modelled && v.matters(l, l.text, u)) {
			l.added = append(l.added, u)
		}
	}
	for _, o := range l.found {
		over := func(m Finding) bool { return m.Source == o.Source && m.Start < o.End && o.Start < m.End }
		if !slices.ContainsFunc(found, over) {
			found = append(found, o)
		}
	}
	for _, p := range l.pairs {
		found = l.quote(found, p.New, 0, !v.Modelled)
	}
	for _, u := range l.added {
		found = l.quote(found, u, 0, !v.Modelled)
	}
	return found
}

// Told adds the new claims to traces, and returns traces of withdrawn claims, without citation ids.
func (o *Outcome) Told(traces []topicqueue.ToolTrace) (formers []topicqueue.ToolTrace) {
	inText := func(a, b text.Unit) int { return a.Start - b.Start }
	for _, l := range o.looks.inOrder() {
		slices.SortFunc(l.added, inText)
		slices.SortFunc(l.lost, inText)
		for _, u := range l.added {
			if t, c := l.citing(traces, u); t != nil {
				t.Added = append(t.Added, *c)
			}
		}
		var withdrawn []topicqueue.Claim
		for _, p := range l.pairs {
			if t, c := l.citing(traces, p.New); t != nil {
				old := l.said(p.Old)
				old.Now = c
				withdrawn = append(withdrawn, old)
			}
		}
		for _, u := range l.lost {
			withdrawn = append(withdrawn, l.said(u))
		}
		if len(withdrawn) > 0 {
			formers = append(formers, o.former(l, withdrawn))
		}
	}
	return formers
}

// former returns the trace of statements that a source no longer makes.
func (n *Night) former(l *look, withdrawn []topicqueue.Claim) topicqueue.ToolTrace {
	t := topicqueue.ToolTrace{ToolID: l.call.ID, ToolType: l.call.Tool, Query: l.call.Query,
		Timestamp: n.Memory.CreatedAt, BlockID: n.Block.ID}
	for _, old := range n.Old.Traces {
		if recurring.PageKey(old.Source) == recurring.PageKey(l.then) {
			t = old
			break
		}
	}
	t.Iteration, t.RawAnswer, t.Source, t.Claims = 1, topicqueue.PagePath(l.then.Hash), l.then, []topicqueue.Claim{}
	as := topicqueue.AsOf{RunID: n.Memory.RunID, Date: n.Memory.Since(n.Span.Now)}
	if t.Source.AsOf != nil {
		as = *t.Source.AsOf
	}
	as.Gone = l.state == gone
	t.Source.AsOf = &as
	t.Withdrawn = withdrawn
	return t
}
