package recheck

import (
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// look is the comparison of a page or document with its earlier version.
type look struct {
	state   lookState
	cited   bool                // read by the block
	weigh   bool                // not found by a search, so changes must be about the topic
	excerpt bool                // both texts are excerpts of unknown relation
	then    topicqueue.Source   // everything known of the earlier version; without Text: nothing
	text    string              // complete current text
	now     []topicqueue.Source // sources with parts of text: the page, or a document's passages and the document
	call    Result              // call that returned it

	diff    text.Difference
	respelt []text.Pair
	places  map[int]text.Unit // by start of a unit of then: the same unit of text, or its replacement
	claimed []text.Block      // paragraphs of then with claims
	kept    []text.Block      // spans in text of quotes that still hold
	stood   map[uint64]bool   // marks of then; nil: not computed yet

	vanished []quantity.Quantity // figures of then that text no longer has

	lost  []text.Unit // units of then that claims quote
	found []Finding   // recorded even if the model does not select it
	pairs []text.Pair // reported as changed
	added []text.Unit // reported as new
}

type lookState int

const (
	unseen  lookState = iota // not available, or no longer found by a search
	asItWas                  // unchanged
	changed                  // text is the current content
	gone
)

// looks holds the comparisons by recurring.PageKey.
type looks map[string]*look

// inOrder returns the comparisons in the order of their keys.
func (m looks) inOrder() []*look {
	var list []*look
	for _, key := range slices.Sorted(maps.Keys(m)) {
		list = append(list, m[key])
	}
	return list
}

// of returns the comparison of a source's page; nil: none.
func (m looks) of(s topicqueue.Source, memory *recurring.Memory) *look {
	key := recurring.PageKey(s)
	if l, ok := m[key]; ok || memory.Pages[key].URL == "" {
		return l
	}
	return m[recurring.AddressKey(memory.Pages[key].URL)]
}

// title returns the current title of the page or document, or else the earlier one.
func (l *look) title() string {
	if len(l.now) > 0 {
		return l.now[0].Title
	}
	return l.then.Title
}

// edited reports whether the document existed before and still does, with changes.
func (l *look) edited() bool { return l.state == changed && l.then.Text != "" }

// moved reports whether the text has changes.
func (l *look) moved() bool { return len(l.diff.Changed)+len(l.diff.New)+len(l.diff.Withdrawn) > 0 }

// within returns the source that contains a part of text, and the part's offsets in it.
func (l *look) within(start, end int) (i, from, to int, ok bool) {
	for i, s := range l.now {
		from, to = start-s.Offset, end-s.Offset
		if from >= 0 && to <= len(s.Text) && s.Text[from:to] == l.text[start:end] {
			return i, from, to, true
		}
	}
	return 0, 0, 0, false
}

// standsAt returns the position in the current text of a claim's quote, which covers the units over of then.
func (l *look) standsAt(c topicqueue.Claim, over []text.Unit) (text.Block, bool) {
	start, end := len(l.text), 0
	for _, u := range over {
		there, ok := l.places[u.Start]
		if !ok {
			return text.Block{}, false
		}
		start, end = min(start, there.Start), max(end, there.End)
	}
	from, to, ok := text.Fold(l.text[start:end]).Find(c.Quote)
	if !ok && len(over) == 1 { // different spelling
		return text.Block{Start: start, End: end}, true
	}
	return text.Block{Start: start + from, End: start + to}, ok
}

// renewed reports whether a sentence of the claim (over, units of then) or a figure in it has changed.
func (l *look) renewed(c topicqueue.Claim, over []text.Unit) bool {
	moved := func(u text.Unit) bool {
		return slices.Contains(l.diff.Withdrawn, u) ||
			slices.ContainsFunc(l.diff.Changed, func(p text.Pair) bool { return p.Old == u })
	}
	return slices.ContainsFunc(over, moved) || l.stale(c)
}

// around reports whether the paragraph from:to of then, which contains over, has changed.
func (l *look) around(over []text.Unit, from, to int) bool {
	inside := func(u text.Unit) bool { return from <= u.Start && u.Start < to }
	changed := func(p text.Pair) bool { return inside(p.Old) }
	if slices.ContainsFunc(l.diff.Changed, changed) || slices.ContainsFunc(l.diff.Withdrawn, inside) {
		return true
	}
	for _, u := range over {
		if now, ok := l.places[u.Start]; ok {
			from, to = between(paragraph, l.text, now.Start, now.End)
			if slices.ContainsFunc(l.diff.New, inside) {
				return true
			}
		}
	}
	return false
}

// stale reports whether a claim has a figure that vanished.
func (l *look) stale(c topicqueue.Claim) bool {
	return slices.ContainsFunc(quantity.Parse(c.Text), func(q quantity.Quantity) bool {
		return q.Kind != quantity.Label && hasFigure(l.vanished, q)
	})
}

// vanishing returns the figures of changed units that the current text no longer has.
func (l *look) vanishing() (gone []quantity.Quantity) {
	moved := slices.Clone(l.diff.Withdrawn)
	for _, p := range l.diff.Changed {
		moved = append(moved, p.Old)
	}
	if len(moved) == 0 {
		return nil
	}
	now := quantity.Parse(l.text)
	for _, u := range moved {
		for _, q := range quantity.Parse(l.then.Text[u.Start:u.End]) {
			if !hasFigure(now, q) {
				gone = append(gone, q)
			}
		}
	}
	return gone
}

func hasFigure(list []quantity.Quantity, q quantity.Quantity) bool {
	return slices.ContainsFunc(list, func(o quantity.Quantity) bool { return quantity.Equal(o, q) })
}

// beside reports whether a unit of then is in a paragraph with a claim.
func (l *look) beside(u text.Unit) bool {
	return slices.ContainsFunc(l.claimed, func(b text.Block) bool { return u.Start < b.End && b.Start < u.End })
}

// stands reports whether a finding repeats an unchanged claim that still holds.
func (l *look) stands(o Finding) bool {
	b := text.Block{Start: l.now[o.Source].Offset + o.Start, End: l.now[o.Source].Offset + o.End}
	over := func(start, end int) bool { return start < b.End && b.Start < end }
	return slices.ContainsFunc(l.kept, func(k text.Block) bool { return over(k.Start, k.End) }) &&
		!slices.ContainsFunc(l.diff.New, func(u text.Unit) bool { return over(u.Start, u.End) }) &&
		!slices.ContainsFunc(l.diff.Changed, func(p text.Pair) bool { return over(p.New.Start, p.New.End) })
}

// quote adds a sentence to found. whole: add its whole block, as in runs without a model.
func (l *look) quote(found []Finding, u text.Unit, share float64, whole bool) []Finding {
	i, start, end, ok := l.within(u.Start, u.End)
	if !ok {
		return found
	}
	if whole {
		for _, b := range text.Blocks(l.now[i].Text) {
			if b.Start < end && start < b.End {
				start, end = min(start, b.Start), max(end, b.End)
			}
		}
	}
	if slices.ContainsFunc(found, func(o Finding) bool { return o.Source == i && o.Start < end && start < o.End }) {
		return found
	}
	sentence := topicqueue.OneLine(l.now[i].Text[start:end])
	return append(found, Finding{Source: i, Text: sentence, Start: start, End: end, Share: share})
}

// citing returns the trace that cites a current sentence, and the sentence as a claim; nil: none does.
func (l *look) citing(traces []topicqueue.ToolTrace, u text.Unit) (*topicqueue.ToolTrace, *topicqueue.Claim) {
	i, start, end, ok := l.within(u.Start, u.End)
	if !ok {
		return nil, nil
	}
	quote := l.now[i].Text[start:end]
	var best *topicqueue.ToolTrace
	for n := range traces {
		t := &traces[n]
		for _, c := range t.Claims {
			same := t.Source.ID == l.now[i].ID && c.Start < end && start < c.End
			if same || best == nil && FoldedText(c.Text) == FoldedText(quote) { // another source with the same statement
				best = t
			}
		}
	}
	if best == nil {
		return nil, nil
	}
	return best, &topicqueue.Claim{
		CitationID: best.CitationID, SourceID: l.now[i].ID, Text: topicqueue.OneLine(quote), Quote: quote,
		Start: start, End: end, Columns: recurring.Columns(l.text, u.Start),
	}
}

// said returns a sentence of then as a claim.
func (l *look) said(u text.Unit) topicqueue.Claim {
	quote := l.then.Text[u.Start:u.End]
	return topicqueue.Claim{
		SourceID: l.then.ID, Text: topicqueue.OneLine(quote), Quote: quote, Start: u.Start, End: u.End,
		Columns: recurring.Columns(l.then.Text, u.Start),
	}
}

// counterparts maps the units of old, by their start, to the equal units of now or to their replacements in pairs.
func counterparts(old, now string, pairs []text.Pair) map[int]text.Unit {
	places, at := map[int]text.Unit{}, map[uint64]text.Unit{}
	for _, u := range slices.Backward(text.Units(now)) {
		at[u.Mark] = u
	}
	for _, u := range text.Units(old) {
		if there, stands := at[u.Mark]; stands {
			places[u.Start] = there
		}
	}
	for _, p := range pairs {
		places[p.Old.Start] = p.New
	}
	return places
}

// paragraph is what separates paragraphs.
const paragraph = "\n\n"

// between extends a span to the surrounding separators.
func between(separator, s string, start, end int) (from, to int) {
	if from = strings.LastIndex(s[:start], separator); from >= 0 {
		from += len(separator)
	}
	if to = strings.Index(s[end:], separator); to < 0 {
		return max(0, from), len(s)
	}
	return max(0, from), end + to
}

func marksOf(s string) map[uint64]bool {
	marks := map[uint64]bool{}
	for _, u := range text.Units(s) {
		marks[u.Mark] = true
	}
	return marks
}

// FoldedText normalizes a statement for comparison.
func FoldedText(s string) string {
	s = text.Fold(strings.ToLower(s)).String()
	return strings.TrimRight(s, ".!?。！？ ")
}
