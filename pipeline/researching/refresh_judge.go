package researching

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// judgement decides which claims of the last run still hold in the aligned texts, and finds lost sentences in other
// texts.
type judgement struct {
	visit     *visit
	programs  *programs
	relevance relevance
	carried   []topicqueue.ToolTrace // traces with claims that hold
	losses    []loss
	places    map[uint64][]spot // by mark: positions of all current sentences; nil: not computed yet
}

// loss is a sentence of a claim that its source no longer contains.
type loss struct {
	look  *look
	unit  text.Unit // in the old text
	share float64   // share of the claim
	noted bool      // part of a claim; else only next to one
}

// spot is the current position of a sentence.
type spot struct {
	look       *look
	start, end int // byte offsets in the text of look
}

// judge keeps the traces whose claims hold. Claims in a changed paragraph are taken from its new text, and claims that
// no source makes any more are recorded as losses.
func (j *judgement) judge(traces []topicqueue.ToolTrace) {
	for _, t := range traces {
		l := j.visit.looks.of(t.Source, j.visit.memory)
		switch {
		case t.Source.Kind == topicqueue.SourceCode:
			t = j.programs.withdraw(t)
		case l == nil || l.state == unseen:
			t.Unchecked = true
		case l.state == asItWas:
			t.Source.ETag = cmp.Or(l.now[0].ETag, t.Source.ETag)
			t.Source.LastModified = cmp.Or(l.now[0].LastModified, t.Source.LastModified)
			j.date(&t, l)
		default:
			t = j.standing(t, l)
			j.date(&t, l)
		}
		if len(t.Claims) == 0 && t.Dropped == 0 {
			continue
		}
		j.carried = append(j.carried, t)
	}
}

// date sets the date of a kept trace's text if its source says something else now.
func (j *judgement) date(t *topicqueue.ToolTrace, l *look) {
	switch {
	case t.Reread || strings.Contains(l.text, t.Source.Text): // or again
		t.Source.AsOf = nil
	case t.Source.AsOf != nil || l.moved():
		t.Source.AsOf = &topicqueue.AsOf{
			RunID: j.visit.run.ID, Date: recurring.Told(t.Timestamp, j.visit.span.Now), Gone: l.state == gone,
		}
	}
}

// standing returns a trace with the claims that still hold. They keep their ids and texts. If all of them are in the
// current text, they are quoted from it; otherwise the trace keeps its old text.
func (j *judgement) standing(t topicqueue.ToolTrace, l *look) topicqueue.ToolTrace {
	if !l.moved() {
		return t
	}
	claims, units := t.Claims, text.Units(t.Source.Text)
	var places map[int]text.Unit // units of the old text; nil: the same text
	if t.Source.Hash != l.then.Hash {
		places = counterparts(t.Source.Text, l.then.Text, text.Align(t.Source.Text, l.then.Text).Changed)
	}
	t.Claims = nil
	var now []text.Block // current positions of the claims
	for _, c := range claims {
		over := text.Over(units, c.Start, c.End) // units of the old text
		if places != nil {
			over = slices.DeleteFunc(over, func(u text.Unit) bool { _, ok := places[u.Start]; return !ok })
			for i := range over {
				over[i] = places[over[i].Start]
			}
		}
		if len(over) == 0 { // the excerpt of a search engine, which the page never contained
			t.Dropped++
			continue
		}
		slices.SortFunc(over, func(a, b text.Unit) int { return a.Start - b.Start })
		from, to := paragraph(l.then.Text, over[0].Start, over[len(over)-1].End)
		l.claimed = append(l.claimed, text.Block{Start: from, End: to})
		at, stands := l.standsAt(c, over)
		whole := !j.relevance.model || !stands // no model chose the sentence, so the whole paragraph is the claim
		if l.renewed(c, over) || whole && l.around(over, from, to) {
			t.Dropped++
			j.renew(l, c, over)
			continue
		}
		t.Claims = append(t.Claims, c)
		if stands {
			now = append(now, at)
		}
	}
	l.kept = append(l.kept, now...)
	if len(now) == len(t.Claims) {
		j.reread(&t, l, now)
	}
	return t
}

// reread makes a trace quote its claims from the current text of its source, at these positions.
func (j *judgement) reread(t *topicqueue.ToolTrace, l *look, at []text.Block) {
	for _, s := range l.now {
		outside := func(b text.Block) bool {
			from, to := b.Start-s.Offset, b.End-s.Offset
			return from < 0 || to > len(s.Text) || s.Text[from:to] != l.text[b.Start:b.End]
		}
		if len(at) == 0 || slices.ContainsFunc(at, outside) {
			continue
		}
		t.ToolID, t.ToolType, t.Query, t.RawAnswer = l.call.id, l.call.tool, l.call.query, l.call.answer.Raw
		t.RawAnswerTruncated, t.RawAnswerOriginalSize = l.call.answer.Truncated, l.call.answer.OriginalSize
		t.Source, t.Timestamp, t.Iteration, t.Reread = s, j.visit.now(), 1, true
		for i, b := range at {
			c := &t.Claims[i]
			c.SourceID, c.Start, c.End = s.ID, b.Start-s.Offset, b.End-s.Offset
			c.Quote = s.Text[c.Start:c.End]
		}
		return
	}
}

// renew replaces the sentences of a claim with their new versions, or records them as losses.
func (j *judgement) renew(l *look, c topicqueue.Claim, over []text.Unit) {
	for _, u := range over {
		if now, ok := l.places[u.Start]; ok {
			l.found = l.quote(l.found, now, c.Share, !j.relevance.model)
			continue
		}
		if !slices.Contains(l.diff.Withdrawn, u) {
			continue
		}
		j.losses = append(j.losses, loss{l, u, c.Share, true})
	}
}

// settle looks for lost sentences in all other pages and documents that the last run read. If a sentence is nowhere, it
// adds the new sentences that may replace it.
func (j *judgement) settle(ctx context.Context) error {
	for _, l := range j.visit.looks.inOrder() {
		for _, u := range l.diff.Withdrawn {
			if l.weigh && j.relevance.matters(l, l.then.Text, u) || l.state != gone && l.beside(u) {
				j.losses = append(j.losses, loss{look: l, unit: u})
			}
		}
	}
	nowhere := func(l loss) bool {
		_, ok := j.elsewhere(l.look, l.unit)
		return !ok
	}
	if slices.ContainsFunc(j.losses, nowhere) {
		if err := j.visit.lookAtOthers(ctx, j.losses); err != nil {
			return err
		}
		j.places = nil
	}
	for _, l := range j.losses {
		if p, ok := j.elsewhere(l.look, l.unit); ok {
			if l.noted {
				there := text.Unit{Start: p.start, End: p.end}
				p.look.found = p.look.quote(p.look.found, there, l.share, !j.relevance.model)
			}
			continue
		}
		if !slices.Contains(l.look.lost, l.unit) {
			l.look.lost = append(l.look.lost, l.unit)
		}
		quote := l.look.then.Text[l.unit.Start:l.unit.End]
		for _, other := range j.visit.looks.inOrder() {
			for _, u := range other.diff.New {
				if recurring.Follows(quote, other.text[u.Start:u.End]) && !slices.Contains(other.added, u) {
					other.added = append(other.added, u)
				}
			}
		}
	}
	return nil
}

// elsewhere finds a lost sentence in another text that is nearly as close to the topic: another company's file may have
// the same sentence about that company.
func (j *judgement) elsewhere(l *look, u text.Unit) (spot, bool) {
	if j.places == nil {
		j.places = map[uint64][]spot{}
		for _, l := range j.visit.looks.inOrder() {
			for _, u := range text.Units(l.text) {
				j.places[u.Mark] = append(j.places[u.Mark], spot{l, u.Start, u.End})
			}
		}
	}
	near := nearly * j.relevance.about(l.title(), l.then.Text, u.Start, u.End)
	others := slices.DeleteFunc(slices.Clone(j.places[u.Mark]), func(p spot) bool {
		return p.look == l || j.relevance.about(p.look.title(), p.look.text, p.start, p.end) < near
	})
	many := ofMany(l.then.Text[u.Start:u.End], len(others))
	for _, p := range others {
		if many && p.look.stood == nil {
			p.look.stood = marksOf(p.look.then.Text)
		}
		if !many || !p.look.stood[u.Mark] { // or it is new there
			return p, true
		}
	}
	return spot{}, false
}
