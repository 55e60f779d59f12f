package recheck

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// spot is a sentence of a text.
type spot struct {
	look *look
	unit text.Unit
}

// loss is a sentence of a claim that its source no longer contains.
type loss struct {
	spot          // in the old text
	share float64 // share of the claim
	noted bool    // part of a claim; else only next to one
}

// judge keeps the traces whose claims hold. Claims in a changed paragraph are taken from its new text, and claims that
// no source makes any more are recorded as losses.
func (o *Outcome) judge(traces []topicqueue.ToolTrace) {
	for _, t := range traces {
		l := o.looks.of(t.Source, o.Memory)
		switch {
		case t.Source.Kind == topicqueue.SourceCode:
			t = o.withdraw(t)
		case l == nil || l.state == unseen:
			t.Unchecked = true
		case l.state == asItWas:
			t.Source.ETag = cmp.Or(l.now[0].ETag, t.Source.ETag)
			t.Source.LastModified = cmp.Or(l.now[0].LastModified, t.Source.LastModified)
			o.date(&t, l)
		default:
			t = o.standing(t, l)
			o.date(&t, l)
		}
		if len(t.Claims) == 0 && t.Dropped == 0 {
			continue
		}
		o.Carried = append(o.Carried, t)
	}
}

// date sets the date of a kept trace's text if its source says something else now.
func (o *Outcome) date(t *topicqueue.ToolTrace, l *look) {
	switch {
	case t.Reread || strings.Contains(l.text, t.Source.Text): // or again
		t.Source.AsOf = nil
	case t.Source.AsOf != nil || l.moved():
		t.Source.AsOf = &topicqueue.AsOf{
			RunID: o.Run.ID, Date: recurring.Told(t.Timestamp, o.Span.Now), Gone: l.state == gone,
		}
	}
}

// standing returns a trace with the claims that still hold. They keep their ids and texts. If all of them are in the
// current text, they are quoted from it; otherwise the trace keeps its old text.
func (o *Outcome) standing(t topicqueue.ToolTrace, l *look) topicqueue.ToolTrace {
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
		from, to := between(paragraph, l.then.Text, over[0].Start, over[len(over)-1].End)
		l.claimed = append(l.claimed, text.Block{Start: from, End: to})
		at, stands := l.standsAt(c, over)
		whole := !o.Modelled || !stands // no model chose the sentence, so the whole paragraph is the claim
		if l.renewed(c, over) || whole && l.around(over, from, to) {
			t.Dropped++
			o.renew(l, c, over)
			continue
		}
		t.Claims = append(t.Claims, c)
		if stands {
			now = append(now, at)
		}
	}
	l.kept = append(l.kept, now...)
	if len(now) == len(t.Claims) {
		o.reread(&t, l, now)
	}
	return t
}

// reread makes a trace quote its claims from the current text of its source, at these positions.
func (o *Outcome) reread(t *topicqueue.ToolTrace, l *look, at []text.Block) {
	for _, s := range l.now {
		outside := func(b text.Block) bool {
			from, to := b.Start-s.Offset, b.End-s.Offset
			return from < 0 || to > len(s.Text) || s.Text[from:to] != l.text[b.Start:b.End]
		}
		if len(at) == 0 || slices.ContainsFunc(at, outside) {
			continue
		}
		t.ToolID, t.ToolType, t.Query, t.RawAnswer = l.call.ID, l.call.Tool, l.call.Query, l.call.Answer.Raw
		t.RawAnswerTruncated, t.RawAnswerOriginalSize = l.call.Answer.Truncated, l.call.Answer.OriginalSize
		t.Source, t.Timestamp, t.Iteration, t.Reread = s, o.Now(), 1, true
		for i, b := range at {
			c := &t.Claims[i]
			c.SourceID, c.Start, c.End = s.ID, b.Start-s.Offset, b.End-s.Offset
			c.Quote = s.Text[c.Start:c.End]
		}
		return
	}
}

// renew replaces the sentences of a claim with their new versions, or records them as losses.
func (o *Outcome) renew(l *look, c topicqueue.Claim, over []text.Unit) {
	for _, u := range over {
		if now, ok := l.places[u.Start]; ok {
			l.found = l.quote(l.found, now, c.Share, !o.Modelled)
			continue
		}
		if !slices.Contains(l.diff.Withdrawn, u) {
			continue
		}
		o.losses = append(o.losses, loss{spot{l, u}, c.Share, true})
	}
}

// settle looks for lost sentences in all other pages and documents that the last run read. If a sentence is nowhere, it
// adds the new sentences that may replace it.
func (o *Outcome) settle(ctx context.Context) error {
	for _, l := range o.looks.inOrder() {
		for _, u := range l.diff.Withdrawn {
			if l.weigh && o.matters(l, l.then.Text, u) || l.state != gone && l.beside(u) {
				o.losses = append(o.losses, loss{spot: spot{l, u}})
			}
		}
	}
	nowhere := func(l loss) bool {
		_, ok := o.elsewhere(l.spot)
		return !ok
	}
	if slices.ContainsFunc(o.losses, nowhere) {
		if err := o.lookAtOthers(ctx, o.losses); err != nil {
			return err
		}
		o.places = nil
	}
	for _, l := range o.losses {
		if p, ok := o.elsewhere(l.spot); ok {
			if l.noted {
				p.look.found = p.look.quote(p.look.found, p.unit, l.share, !o.Modelled)
			}
			continue
		}
		if !slices.Contains(l.look.lost, l.unit) {
			l.look.lost = append(l.look.lost, l.unit)
		}
		quote := l.look.then.Text[l.unit.Start:l.unit.End]
		for _, other := range o.looks.inOrder() {
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
func (o *Outcome) elsewhere(lost spot) (spot, bool) {
	l, u := lost.look, lost.unit
	if o.places == nil {
		o.places = map[uint64][]spot{}
		for _, l := range o.looks.inOrder() {
			for _, u := range text.Units(l.text) {
				o.places[u.Mark] = append(o.places[u.Mark], spot{l, u})
			}
		}
	}
	near := nearly * o.about(l.title(), l.then.Text, u.Start, u.End)
	others := slices.DeleteFunc(slices.Clone(o.places[u.Mark]), func(p spot) bool {
		return p.look == l || o.about(p.look.title(), p.look.text, p.unit.Start, p.unit.End) < near
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
