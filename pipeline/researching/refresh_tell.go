package researching

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

// relevance decides which changes are reported.
type relevance struct {
	topic string
	model bool        // a model decides what matters
	broad bool        // broad of the visit
	words *text.Index // of the compared texts, old and new
	most  float64     // highest topic coverage of a claim
}

// relevance returns the relevance for the compared texts, without most. If no text has changed, nothing is weighed, and
// the texts are not indexed.
func (v *visit) relevance() relevance {
	looks := v.looks.inOrder()
	if !slices.ContainsFunc(looks, (*look).moved) {
		looks = nil
	}
	var docs []text.Document
	for _, l := range looks {
		docs = append(docs, text.Document{Heading: l.title(), Text: l.then.Text + "\n" + l.text})
	}
	return relevance{topic: v.run.Topic, model: v.Model != nil, broad: v.broad, words: text.NewIndex(docs)}
}

// about returns the share of the topic that a span of s and its context cover, 0 to 1. Words that tell the compared
// texts apart, such as the name of a company, count more than those that most of them have.
func (r relevance) about(title, s string, start, end int) float64 {
	around := strings.ToValidUTF8(s[max(0, start-aroundUnit):min(len(s), end+aroundUnit)], "")
	return r.words.Weighted(title+"\n"+around, r.topic)
}

// matters reports whether a changed unit may be reported. With a model, which decides later, units without weigh and
// those in passages found by searches pass. Without one, every change in an edited document passes if the knowledge
// base is about the topic. In all cases, units pass whose topic coverage is near that of the best claim.
func (r relevance) matters(l *look, s string, u text.Unit) bool {
	shown := func(passage string) bool { return strings.Contains(passage, s[u.Start:u.End]) }
	switch {
	case r.model && (!l.weigh || slices.ContainsFunc(l.shown, shown)), r.broad && l.edited():
		return true
	}
	return r.about(l.title(), s, u.Start, u.End) >= nearly*r.most
}

// changeMatters reports whether a change is reported without a model. In documents that the block has read, every
// change is.
func (r relevance) changeMatters(l *look, p text.Pair) bool {
	return !r.model && (l.cited && l.edited() || r.matters(l, l.text, p.New))
}

// moved returns the changed paragraphs of a text.
func (r relevance) moved(l *look) []piece {
	pieces := []piece{}
	units := slices.Clone(l.diff.New)
	for _, p := range l.diff.Changed {
		units = append(units, p.New)
	}
	slices.SortFunc(units, func(a, b text.Unit) int { return a.Start - b.Start })
	for _, u := range units {
		i, start, end, ok := l.within(u.Start, u.End)
		if !ok || !r.matters(l, l.text, u) {
			continue
		}
		from, to := paragraph(l.now[i].Text, start, end)
		p := piece{source: i, at: from, text: l.now[i].Text[from:to]}
		if len(pieces) == 0 || pieces[len(pieces)-1] != p {
			pieces = append(pieces, p)
		}
	}
	return pieces
}

// conclude decides which changes of a text are reported, and adds the findings that they need to its note.
func (r relevance) conclude(l *look, n *note) {
	noted := func(u text.Unit) bool {
		i, start, end, ok := l.within(u.Start, u.End)
		over := func(o finding) bool { return o.source == i && o.start < end && start < o.end }
		return ok && slices.ContainsFunc(n.found, over)
	}
	for _, p := range l.diff.Changed {
		toldBeside := r.model && l.toldBeside(p, n.found)
		if noted(p.New) || r.changeMatters(l, p) || l.beside(p.Old) && !toldBeside {
			l.pairs = append(l.pairs, p)
		}
	}
	for _, u := range l.diff.New {
		if !slices.Contains(l.added, u) && (noted(u) || !r.model && r.matters(l, l.text, u)) {
			l.added = append(l.added, u)
		}
	}
	for _, o := range l.found {
		over := func(m finding) bool { return m.source == o.source && m.start < o.end && o.start < m.end }
		if !slices.ContainsFunc(n.found, over) {
			n.found = append(n.found, o)
		}
	}
	for _, p := range l.pairs {
		n.found = l.quote(n.found, p.New, 0, !r.model)
	}
	for _, u := range l.added {
		n.found = l.quote(n.found, u, 0, !r.model)
	}
	n.summary = summaryOf(n.found)
}

// toldBeside reports whether the model noted the new value of a change as part of another change in the same paragraph.
func (l *look) toldBeside(p text.Pair, found []finding) bool {
	i, start, end, ok := l.within(p.New.Start, p.New.End)
	_, _, value := recurring.Differing(l.then.Text[p.Old.Start:p.Old.End], l.text[p.New.Start:p.New.End])
	if !ok || value == "" {
		return false
	}
	from, to := paragraph(l.now[i].Text, start, end)
	return slices.ContainsFunc(found, func(f finding) bool {
		inParagraph := f.source == i && from <= f.start && f.end <= to
		return inParagraph && strings.Contains(f.text, value) &&
			slices.ContainsFunc(l.diff.Changed, func(o text.Pair) bool {
				source, start, end, ok := l.within(o.New.Start, o.New.End)
				return ok && source == i && f.start < end && start < f.end
			})
	})
}

// told adds the new claims to traces, and returns traces of withdrawn claims, without citation ids.
func (n *night) told(looks looks, traces []topicqueue.ToolTrace) (formers []topicqueue.ToolTrace) {
	inText := func(a, b text.Unit) int { return a.Start - b.Start }
	for _, l := range looks.inOrder() {
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
			formers = append(formers, n.former(l, withdrawn))
		}
	}
	return formers
}

// former returns the trace of statements that a source no longer makes.
func (n *night) former(l *look, withdrawn []topicqueue.Claim) topicqueue.ToolTrace {
	t := topicqueue.ToolTrace{ToolID: l.call.id, ToolType: l.call.tool, Query: l.call.query,
		Timestamp: n.memory.CreatedAt, BlockID: n.block.ID}
	for _, old := range n.old.Traces {
		if recurring.PageKey(old.Source) == recurring.PageKey(l.then) {
			t = old
			break
		}
	}
	t.Iteration, t.RawAnswer, t.Source, t.Claims = 1, topicqueue.PagePath(l.then.Hash), l.then, []topicqueue.Claim{}
	as := topicqueue.AsOf{RunID: n.memory.RunID, Date: n.memory.Since(n.span.Now)}
	if t.Source.AsOf != nil {
		as = *t.Source.AsOf
	}
	as.Gone = l.state == gone
	t.Source.AsOf = &as
	t.Withdrawn = withdrawn
	return t
}
