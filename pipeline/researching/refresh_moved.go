package researching

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// spot is where a sentence stands tonight.
type spot struct {
	look       *look
	start, end int // in its text
}

// loss is a sentence of a claim that its source no longer says.
type loss struct {
	look  *look
	unit  text.Unit // of then
	share float64   // of the claim
	noted bool      // else it only stood beside a claim
}

// align finds what has moved in each text.
func (f *refresh) align(ctx context.Context) error {
	for _, l := range f.inOrder() {
		if err := f.alignOne(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// inOrder returns all looks, in the order of their keys.
func (f *refresh) inOrder() []*look {
	var list []*look
	for _, key := range slices.Sorted(maps.Keys(f.looks)) {
		list = append(list, f.looks[key])
	}
	return list
}

func (f *refresh) alignOne(ctx context.Context, l *look) error {
	switch l.state {
	case changed:
		l.diff, l.respelt = f.span.Moved(l.then.Text, l.text)
		f.dropRestless(ctx, l)
	case gone:
		l.diff.Withdrawn = slices.DeleteFunc(text.Units(l.then.Text), func(u text.Unit) bool { return u.Form == text.Label })
	}
	l.diff.New = withoutHeads(l.text, l.diff.New)
	l.diff.Withdrawn = withoutHeads(l.then.Text, l.diff.Withdrawn)
	if l.excerpt {
		l.diff.Withdrawn = nil
	}
	if l.excerpt || l.then.Text == "" && l.cited { // what stood beside the claims is not known
		l.diff.New = nil
	}
	l.places, l.vanished = counterparts(l.then.Text, l.text, slices.Concat(l.respelt, l.diff.Changed)), l.vanishing()
	return f.dropKnown(ctx, l)
}

// withoutHeads drops the rows that name the columns of tables: the others are told with them.
func withoutHeads(s string, units []text.Unit) []text.Unit {
	return slices.DeleteFunc(units, func(u text.Unit) bool {
		return u.Form == text.Row && recurring.Columns(s, u.Start) == strings.TrimSpace(s[u.Start:u.End])
	})
}

// dropRestless asks for a page that has changed once more: what is another one a moment later, such as the number of
// visitors, is no news. When that fails, all is taken for news.
func (f *refresh) dropRestless(ctx context.Context, l *look) {
	tool, ok := f.tools.Lookup(openPage)
	if !ok || l.call.tool != openPage || len(l.diff.Changed)+len(l.diff.New) == 0 {
		return
	}
	again, err := tool.Call(ctx, tools.Call{ToolID: l.call.id, Query: l.call.query}) // not by the runner, which knows the answer
	if err != nil || again.Failed || len(again.Sources) == 0 {
		return
	}
	marks := marksOf(again.Sources[0].Text)
	l.diff.Changed = slices.DeleteFunc(l.diff.Changed, func(p text.Pair) bool {
		if !marks[p.New.Mark] {
			l.respelt = append(l.respelt, p)
		}
		return !marks[p.New.Mark]
	})
	l.diff.New = slices.DeleteFunc(l.diff.New, func(u text.Unit) bool { return !marks[u.Mark] })
}

// fewCopies is in how many texts a sentence with a figure stands that is about one thing.
const fewCopies = 2

// ofMany reports a sentence that so many texts have that each says it of its own subject: "The hearing is on 12 May
// 2026." One without a figure is an ornament that they share.
func ofMany(sentence string, copies int) bool {
	return copies > fewCopies && len(quantity.Parse(sentence)) > 0
}

// dropKnown drops new units that the last run has read elsewhere, or that its knowledge base had elsewhere: pages are
// copied and files renamed.
func (f *refresh) dropKnown(ctx context.Context, l *look) error {
	if len(l.diff.New) > 0 && f.seen == nil {
		f.seen = map[uint64]int{}
		needed, wanted := f.memory.Texts()
		for _, hash := range append(needed, wanted...) {
			if body, err := f.Runner.Pages.Page(ctx, f.run.ID, hash); err == nil { // else it is not known
				for mark := range marksOf(body) {
					f.seen[mark]++
				}
			}
		}
	}
	fresh := l.diff.New[:0]
	for _, u := range l.diff.New {
		copies := f.seen[u.Mark]
		if copies == 0 && f.Before != nil && l.call.tool == recurring.ReadDocument {
			like, err := f.Before.Like(ctx, topicqueue.Clip(topicqueue.OneLine(l.text[u.Start:u.End]), maxClaim), maxOpened)
			if err != nil {
				return f.failed(ctx, l.call.query, err)
			}
			for _, s := range like {
				if marksOf(s.Text)[u.Mark] {
					copies++
				}
			}
		}
		if copies == 0 || ofMany(l.text[u.Start:u.End], copies) {
			fresh = append(fresh, u)
		}
	}
	l.diff.New = fresh
	return ctx.Err()
}

// judge carries over the traces whose claims stand. Claims in a paragraph that says something else now are taken anew
// from what it says, and those that no source makes any more are lost.
func (f *refresh) judge(ctx context.Context) (err error) {
	traces := slices.Clone(f.old.Traces)
	for i := range traces {
		s := &traces[i].Source
		if s.Text, err = f.Runner.Pages.Page(ctx, f.run.ID, s.Hash); err != nil {
			return f.failed(ctx, s.Title, err)
		}
		for _, c := range traces[i].Claims {
			f.most = max(f.most, f.about(s.Title, s.Text, c.Start, c.End))
		}
	}
	programs, err := programsOf(ctx, f)
	if err != nil {
		return err
	}
	for _, t := range traces {
		l := f.lookOf(t.Source)
		switch {
		case t.Source.Kind == topicqueue.SourceCode:
			t = programs.withdraw(t)
		case l == nil || l.state == unseen:
			t.Unchecked = true
		case l.state == asItWas:
			t.Source.ETag, t.Source.LastModified = cmp.Or(l.now[0].ETag, t.Source.ETag), cmp.Or(l.now[0].LastModified, t.Source.LastModified)
			f.date(&t, l)
		default:
			t = f.standing(t, l)
			f.date(&t, l)
		}
		if len(t.Claims) == 0 && t.Dropped == 0 {
			continue
		}
		for _, c := range t.Claims {
			f.texts[foldedText(c.Text)] = true
		}
		f.carried = append(f.carried, t)
	}
	return nil
}

// date says of a trace that is carried over of which day its text is, where its source says something else now.
func (f *refresh) date(t *topicqueue.ToolTrace, l *look) {
	moved := len(l.diff.Changed)+len(l.diff.New)+len(l.diff.Withdrawn) > 0
	switch {
	case t.Reread || strings.Contains(l.text, t.Source.Text): // also again
		t.Source.AsOf = nil
	case t.Source.AsOf != nil || moved:
		t.Source.AsOf = &topicqueue.AsOf{
			RunID: f.run.ID, Date: recurring.Told(t.Timestamp, f.span.Now), Gone: l.state == gone,
		}
	}
}

const (
	nearly     = 0.75 // of how much of the topic a claim speaks of
	aroundUnit = 600  // bytes on each side of a sentence that tell what it is about
)

// about returns how much of the topic a part of a text and its surroundings speak of, 0 to 1.
func (f *refresh) about(title, s string, start, end int) float64 {
	around := strings.ToValidUTF8(s[max(0, start-aroundUnit):min(len(s), end+aroundUnit)], "")
	return text.Coverage(title+"\n"+around, f.run.Topic)
}

// standing returns a trace with those of its claims that stand. They keep their ids and texts, and are quoted from the
// text of tonight where all of them stand there; else they keep the text that they were taken from.
func (f *refresh) standing(t topicqueue.ToolTrace, l *look) topicqueue.ToolTrace {
	if len(l.diff.Changed)+len(l.diff.New)+len(l.diff.Withdrawn) == 0 {
		return t
	}
	claims, units := t.Claims, text.Units(t.Source.Text)
	var places map[int]text.Unit // of then; nil: it is the same text
	if t.Source.Hash != l.then.Hash {
		places = counterparts(t.Source.Text, l.then.Text, text.Align(t.Source.Text, l.then.Text).Changed)
	}
	t.Claims = nil
	var now []text.Block // where the claims stand tonight
	for _, c := range claims {
		over := text.Over(units, c.Start, c.End) // of then
		if places != nil {
			over = slices.DeleteFunc(over, func(u text.Unit) bool { _, ok := places[u.Start]; return !ok })
			for i := range over {
				over[i] = places[over[i].Start]
			}
		}
		if len(over) == 0 { // the words of a search engine, which the page never had
			t.Dropped++
			continue
		}
		slices.SortFunc(over, func(a, b text.Unit) int { return a.Start - b.Start })
		from, to := paragraph(l.then.Text, over[0].Start, over[len(over)-1].End)
		l.claimed = append(l.claimed, text.Block{Start: from, End: to})
		at, stands := l.standsAt(c, over)
		whole := f.Model == nil || !stands // no model has chosen the sentence: all that stands around it is the claim
		if l.renewed(c, over) || whole && l.around(over, from, to) {
			t.Dropped++
			f.renew(l, c, over)
			continue
		}
		t.Claims = append(t.Claims, c)
		if stands {
			now = append(now, at)
		}
	}
	l.kept = append(l.kept, now...)
	if len(now) == len(t.Claims) {
		f.reread(&t, l, now)
	}
	return t
}

// standsAt returns where the quote of a claim, which lies in these units of then, stands in the text of tonight.
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
	if !ok && len(over) == 1 { // another spelling
		return text.Block{Start: start, End: end}, true
	}
	return text.Block{Start: start + from, End: start + to}, ok
}

// reread has a trace quote its claims from tonight's text of its source, where they stand at these places.
func (f *refresh) reread(t *topicqueue.ToolTrace, l *look, at []text.Block) {
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
		t.Source, t.Timestamp, t.Iteration, t.Reread = s, f.now(), 1, true
		for i, b := range at {
			c := &t.Claims[i]
			c.SourceID, c.Start, c.End = s.ID, b.Start-s.Offset, b.End-s.Offset
			c.Quote = s.Text[c.Start:c.End]
		}
		return
	}
}

// counterparts returns of the units of a text, by their start, those of another one that say the same, or that stand
// in their place.
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

// paragraph returns what stands around a part of a text, from blank line to blank line.
func paragraph(s string, start, end int) (from, to int) {
	if from = strings.LastIndex(s[:start], "\n\n"); from >= 0 {
		from += 2
	}
	if to = strings.Index(s[end:], "\n\n"); to < 0 {
		return max(0, from), len(s)
	}
	return max(0, from), end + to
}

// renewed reports a claim whose sentences, units of then, say something else now, or that names a figure which has
// become another one.
func (l *look) renewed(c topicqueue.Claim, over []text.Unit) bool {
	moved := func(u text.Unit) bool {
		return slices.Contains(l.diff.Withdrawn, u) ||
			slices.ContainsFunc(l.diff.Changed, func(p text.Pair) bool { return p.Old == u })
	}
	return slices.ContainsFunc(over, moved) || l.stale(c)
}

// around reports units of then whose paragraph, from one byte to another, says something else now.
func (l *look) around(over []text.Unit, from, to int) bool {
	inside := func(u text.Unit) bool { return from <= u.Start && u.Start < to }
	changed := func(p text.Pair) bool { return inside(p.Old) }
	if slices.ContainsFunc(l.diff.Changed, changed) || slices.ContainsFunc(l.diff.Withdrawn, inside) {
		return true
	}
	for _, u := range over {
		if now, ok := l.places[u.Start]; ok {
			from, to = paragraph(l.text, now.Start, now.End)
			if slices.ContainsFunc(l.diff.New, inside) {
				return true
			}
		}
	}
	return false
}

// stale reports a claim with a figure that has vanished.
func (l *look) stale(c topicqueue.Claim) bool {
	return slices.ContainsFunc(quantity.Parse(c.Text), func(q quantity.Quantity) bool {
		return q.Kind != quantity.Label && hasFigure(l.vanished, q)
	})
}

// vanishing returns the figures that stood in what has moved, and stand nowhere any more.
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

// renew takes anew what has come in the place of the sentences of a claim.
func (f *refresh) renew(l *look, c topicqueue.Claim, over []text.Unit) {
	for _, u := range over {
		if now, ok := l.places[u.Start]; ok {
			l.found = f.quote(l.found, l, now, c.Share)
			continue
		}
		if !slices.Contains(l.diff.Withdrawn, u) {
			continue
		}
		f.losses = append(f.losses, loss{l, u, c.Share, true})
	}
}

// settle takes what claims have lost from where else it stands, on whatever page that the last run has read and in
// whatever document, or what has come there in its place.
func (f *refresh) settle(ctx context.Context) error {
	for _, l := range f.inOrder() {
		for _, u := range l.diff.Withdrawn {
			if l.weigh && f.matters(l, l.then.Text, u) || l.state != gone && l.beside(u) {
				f.losses = append(f.losses, loss{look: l, unit: u})
			}
		}
	}
	stands := func(l loss) bool {
		_, ok := f.elsewhere(l.look, l.unit)
		return ok
	}
	if slices.ContainsFunc(f.losses, func(l loss) bool { return !stands(l) }) {
		if err := f.lookAtOthers(ctx); err != nil {
			return err
		}
	}
	for _, l := range f.losses {
		if p, ok := f.elsewhere(l.look, l.unit); ok {
			if l.noted {
				p.look.found = f.quote(p.look.found, p.look, text.Unit{Start: p.start, End: p.end}, l.share)
			}
			continue
		}
		if !slices.Contains(l.look.lost, l.unit) {
			l.look.lost = append(l.look.lost, l.unit)
		}
		quote := l.look.then.Text[l.unit.Start:l.unit.End]
		for _, other := range f.inOrder() {
			for _, u := range other.diff.New {
				if recurring.Follows(quote, other.text[u.Start:u.End]) && !slices.Contains(other.added, u) {
					other.added = append(other.added, u)
				}
			}
		}
	}
	return nil
}

// beside reports a sentence of then in a paragraph with a claim.
func (l *look) beside(u text.Unit) bool {
	return slices.ContainsFunc(l.claimed, func(b text.Block) bool { return u.Start < b.End && b.Start < u.End })
}

// elsewhere finds what a source no longer says in another one.
func (f *refresh) elsewhere(l *look, u text.Unit) (spot, bool) {
	if f.places == nil {
		f.places = map[uint64][]spot{}
		for _, l := range f.inOrder() {
			for _, u := range text.Units(l.text) {
				f.places[u.Mark] = append(f.places[u.Mark], spot{l, u.Start, u.End})
			}
		}
	}
	others := slices.DeleteFunc(slices.Clone(f.places[u.Mark]), func(p spot) bool { return p.look == l })
	many := ofMany(l.then.Text[u.Start:u.End], len(others))
	for _, p := range others {
		if many && p.look.stood == nil {
			p.look.stood = marksOf(p.look.then.Text)
		}
		if !many || !p.look.stood[u.Mark] { // or it has come there
			return p, true
		}
	}
	return spot{}, false
}

// within returns the source that has a part of the text, and where.
func (l *look) within(start, end int) (i, from, to int, ok bool) {
	for i, s := range l.now {
		from, to = start-s.Offset, end-s.Offset
		if from >= 0 && to <= len(s.Text) && s.Text[from:to] == l.text[start:end] {
			return i, from, to, true
		}
	}
	return 0, 0, 0, false
}

// quote adds a sentence to what is found; without a model all of its block, as everywhere in such a run.
func (f *refresh) quote(found []finding, l *look, u text.Unit, share float64) []finding {
	i, start, end, ok := l.within(u.Start, u.End)
	if !ok {
		return found
	}
	if f.Model == nil {
		for _, b := range text.Blocks(l.now[i].Text) {
			if b.Start < end && start < b.End {
				start, end = min(start, b.Start), max(end, b.End)
			}
		}
	}
	if slices.ContainsFunc(found, func(o finding) bool { return o.source == i && o.start < end && start < o.end }) {
		return found
	}
	return append(found, finding{source: i, text: topicqueue.OneLine(l.now[i].Text[start:end]), start: start, end: end, share: share})
}

// note reads what has moved, and records what is to be cited of it.
func (f *refresh) note(ctx context.Context) ([]topicqueue.ToolTrace, error) {
	var looks []*look
	var outcomes []outcome
	for _, l := range f.inOrder() {
		o := l.call
		o.fresh, o.only = l.now, f.moved(l)
		if len(o.only)+len(l.found)+len(l.added)+len(l.diff.Changed) > 0 {
			looks, outcomes = append(looks, l), append(outcomes, o)
		}
	}
	notes, err := f.read(ctx, outcomes)
	if err != nil {
		return nil, err
	}
	for i, l := range looks {
		notes[i].found = slices.DeleteFunc(notes[i].found, l.stands)
		f.conclude(l, &notes[i])
	}
	traces := f.record(1, outcomes, notes)
	for _, t := range traces {
		f.lastSeq = max(f.lastSeq, citationSeq(t.CitationID))
	}
	return traces, f.keepTexts(ctx, append(slices.Clone(traces), f.carried...))
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

// moved are the paragraphs of a text that say what they did not say.
func (f *refresh) moved(l *look) []piece {
	pieces := []piece{}
	units := slices.Clone(l.diff.New)
	for _, p := range l.diff.Changed {
		units = append(units, p.New)
	}
	slices.SortFunc(units, func(a, b text.Unit) int { return a.Start - b.Start })
	for _, u := range units {
		i, start, end, ok := l.within(u.Start, u.End)
		if !ok || !f.matters(l, l.text, u) {
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

// matters reports a part of a text, of then or now, that may be told: a model says whether it is. Where none does, all
// that has moved in the documents of a base that is about the topic matters; elsewhere what a search shows, and what is
// about the topic nearly as much as the claims are.
func (f *refresh) matters(l *look, s string, u text.Unit) bool {
	title := l.then.Title
	if len(l.now) > 0 {
		title = l.now[0].Title
	}
	shown := func(passage string) bool { return strings.Contains(passage, s[u.Start:u.End]) }
	switch {
	case slices.ContainsFunc(l.shown, shown), !l.weigh && f.Model != nil, f.broad && l.edited():
		return true
	}
	return f.about(title, s, u.Start, u.End) >= nearly*f.most
}

// edited reports a document that was there and still is.
func (l *look) edited() bool { return l.state == changed && l.then.Text != "" }

// changeMatters reports a change that is told where no model says so: in documents that searches return, every one.
func (f *refresh) changeMatters(l *look, p text.Pair) bool {
	returned := l.cited || len(l.shown) > 0
	return f.Model == nil && (returned && l.edited() || f.matters(l, l.text, p.New))
}

// conclude decides what is told of a text, and adds to its note what must be there for it.
func (f *refresh) conclude(l *look, n *note) {
	noted := func(u text.Unit) bool {
		i, start, end, ok := l.within(u.Start, u.End)
		return ok && slices.ContainsFunc(n.found, func(o finding) bool { return o.source == i && o.start < end && start < o.end })
	}
	for _, p := range l.diff.Changed {
		if l.beside(p.Old) || noted(p.New) || f.changeMatters(l, p) {
			l.pairs = append(l.pairs, p)
		}
	}
	for _, u := range l.diff.New {
		if !slices.Contains(l.added, u) && (noted(u) || f.Model == nil && f.matters(l, l.text, u)) {
			l.added = append(l.added, u)
		}
	}
	for _, o := range l.found {
		if !slices.ContainsFunc(n.found, func(m finding) bool { return m.source == o.source && m.start < o.end && o.start < m.end }) {
			n.found = append(n.found, o)
		}
	}
	for _, p := range l.pairs {
		n.found = f.quote(n.found, l, p.New, 0)
	}
	for _, u := range l.added {
		n.found = f.quote(n.found, l, u, 0)
	}
	n.summary = summaryOf(n.found)
}

// stands reports a finding that a claim which stands has, too: nothing in it has moved.
func (l *look) stands(o finding) bool {
	b := text.Block{Start: l.now[o.source].Offset + o.start, End: l.now[o.source].Offset + o.end}
	over := func(start, end int) bool { return start < b.End && b.Start < end }
	return slices.ContainsFunc(l.kept, func(k text.Block) bool { return over(k.Start, k.End) }) &&
		!slices.ContainsFunc(l.diff.New, func(u text.Unit) bool { return over(u.Start, u.End) }) &&
		!slices.ContainsFunc(l.diff.Changed, func(p text.Pair) bool { return over(p.New.Start, p.New.End) })
}

// keepTexts puts what traces cite of documents into the run's bundle, and says that it was read.
func (f *refresh) keepTexts(ctx context.Context, traces []topicqueue.ToolTrace) error {
	for _, l := range f.inOrder() {
		if l.call.tool != recurring.ReadDocument && l.state != asItWas || len(l.now) == 0 {
			continue
		}
		o, cited := l.call, false
		for i, s := range l.now {
			uses := func(t topicqueue.ToolTrace) bool { return t.Source.ID == s.ID }
			if slices.ContainsFunc(traces, uses) {
				cited = true
			} else if i < len(l.now)-1 {
				continue
			}
			o.answer.Sources = append([]topicqueue.Source{s}, o.answer.Sources...) // the whole, which is the last, first
		}
		if !cited && !l.cited || l.state == asItWas && !slices.ContainsFunc(traces, func(t topicqueue.ToolTrace) bool { return t.ToolID == l.call.id }) {
			continue
		}
		for _, s := range o.answer.Sources {
			if err := f.Runner.Pages.PutPage(ctx, f.run.ID, s.Hash, s.Text); err != nil {
				return f.failed(ctx, s.Title, err)
			}
		}
		f.all = append(f.all, o)
	}
	return nil
}

// told says in traces what is new, and returns traces of what sources no longer say.
func (f *refresh) told(traces []*topicqueue.ToolTrace) (formers []topicqueue.ToolTrace) {
	inText := func(a, b text.Unit) int { return a.Start - b.Start }
	for _, l := range f.inOrder() {
		slices.SortFunc(l.added, inText)
		slices.SortFunc(l.lost, inText)
		for _, u := range l.added {
			if t, c := f.citing(traces, l, u); t != nil {
				t.Added = append(t.Added, *c)
			}
		}
		var withdrawn []topicqueue.Claim
		for _, p := range l.pairs {
			if t, c := f.citing(traces, l, p.New); t != nil {
				old := l.said(p.Old)
				old.Now = c
				withdrawn = append(withdrawn, old)
			}
		}
		for _, u := range l.lost {
			withdrawn = append(withdrawn, l.said(u))
		}
		if len(withdrawn) > 0 {
			formers = append(formers, f.former(l, withdrawn))
		}
	}
	return formers
}

// citing returns the trace that cites a sentence of tonight, and the sentence as a claim; nil: none does.
func (f *refresh) citing(traces []*topicqueue.ToolTrace, l *look, u text.Unit) (*topicqueue.ToolTrace, *topicqueue.Claim) {
	i, start, end, ok := l.within(u.Start, u.End)
	if !ok {
		return nil, nil
	}
	quote := l.now[i].Text[start:end]
	var best *topicqueue.ToolTrace
	for _, t := range traces {
		for _, c := range t.Claims {
			same := t.Source.ID == l.now[i].ID && c.Start < end && start < c.End
			if same || best == nil && foldedText(c.Text) == foldedText(quote) { // another source says it, too
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

// said is a sentence of then as a claim.
func (l *look) said(u text.Unit) topicqueue.Claim {
	quote := l.then.Text[u.Start:u.End]
	return topicqueue.Claim{
		SourceID: l.then.ID, Text: topicqueue.OneLine(quote), Quote: quote, Start: u.Start, End: u.End,
		Columns: recurring.Columns(l.then.Text, u.Start),
	}
}

// former makes the trace of what a source no longer says.
func (f *refresh) former(l *look, withdrawn []topicqueue.Claim) topicqueue.ToolTrace {
	t := topicqueue.ToolTrace{ToolID: l.call.id, ToolType: l.call.tool, Query: l.call.query, Timestamp: f.memory.CreatedAt, BlockID: f.block.ID}
	for _, old := range f.old.Traces {
		if recurring.PageKey(old.Source) == recurring.PageKey(l.then) {
			t = old
			break
		}
	}
	f.lastSeq++
	t.CitationID, t.Iteration = topicqueue.BlockCitationID(f.block.Number(), f.lastSeq), 1
	t.RawAnswer, t.Source, t.Claims = topicqueue.PagePath(l.then.Hash), l.then, []topicqueue.Claim{}
	as := topicqueue.AsOf{RunID: f.memory.RunID, Date: f.memory.Since(f.span.Now)}
	if t.Source.AsOf != nil {
		as = *t.Source.AsOf
	}
	as.Gone = l.state == gone
	t.Source.AsOf = &as
	for i := range withdrawn {
		withdrawn[i].CitationID = t.CitationID
	}
	t.Withdrawn = withdrawn
	return t
}
