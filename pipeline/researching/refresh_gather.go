package researching

import (
	"context"
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// maxOpened bounds the new results that one block opens in a night; of others it reads what the search shows.
const maxOpened = 10

// gather puts together what is to be noted: what changed pages say now, new results, and passages of documents that were
// not there. What takes the place of a lost claim is found without a model.
func (f *refresh) gather(ctx context.Context, found []outcome, lost []loss) error {
	if err := f.gatherPages(ctx, lost); err != nil {
		return err
	}
	var open []call
	var shown []outcome // by open: what the search shows of it
	taken := map[string]bool{}
	for _, o := range found {
		for _, key := range f.arrived(o) {
			if taken[key] {
				continue
			}
			taken[key] = true
			o.fresh = nil
			for _, s := range o.answer.Sources {
				if recurring.PageKey(s) == key && strings.TrimSpace(s.Text) != "" {
					o.fresh = append(o.fresh, s)
				}
			}
			if len(o.fresh) > 0 && o.fresh[0].Kind == topicqueue.SourceWeb && f.opens(len(open)) {
				open, shown = append(open, call{tool: openPage, query: o.fresh[0].URL}), append(shown, o)
			} else if err := f.noteNew(ctx, o, o.fresh, lost); err != nil {
				return err
			}
		}
		if err := f.gatherPassages(ctx, o, lost); err != nil {
			return err
		}
	}
	opened, err := f.ask(ctx, open, false)
	if err != nil {
		return err
	}
	for i, o := range opened {
		if o.answer.Failed || len(o.answer.Sources) == 0 {
			o, o.answer.Sources = shown[i], shown[i].fresh
		}
		if err := f.noteNew(ctx, o, o.answer.Sources, lost); err != nil {
			return err
		}
	}
	if err := f.gatherLost(ctx, lost); err != nil {
		return err
	}
	return f.gatherElsewhere(ctx, lost)
}

// opens reports whether a new result is opened after so many others.
func (f *refresh) opens(others int) bool {
	_, ok := f.tools.Lookup(openPage)
	return ok && others < maxOpened
}

// gatherPages takes what changed pages say that they did not.
func (f *refresh) gatherPages(ctx context.Context, lost []loss) error {
	done := map[string]bool{}
	for _, o := range f.all {
		if o.tool != openPage || len(o.answer.Sources) != 1 {
			continue
		}
		s := o.answer.Sources[0]
		l := f.looks[recurring.AddressKey(o.query)]
		if l.state != changed || done[s.ID] {
			continue
		}
		done[s.ID] = true
		if err := f.noteFresh(ctx, o, s, l.fresh, lost); err != nil {
			return err
		}
	}
	return nil
}

// gatherPassages takes from a search of the knowledge base the passages that have something which their document did not have, and from
// others what they show of pages that nobody has opened.
func (f *refresh) gatherPassages(ctx context.Context, o outcome, lost []loss) error {
	for _, s := range o.answer.Sources {
		key := recurring.PageKey(s)
		page, known := f.memory.Pages[key]
		if f.unseen[key] {
			if err := f.noteNew(ctx, o, []topicqueue.Source{s}, lost); err != nil {
				return err
			}
			continue
		}
		if !known || page.Opened && s.Kind != topicqueue.SourceDocument || s.Kind == topicqueue.SourceWeb {
			continue
		}
		l := newLook(page, s.Text, false)
		if err := f.passOver(ctx, key, &l); err != nil {
			return err
		}
		if err := f.noteFresh(ctx, o, s, l.fresh, lost); err != nil {
			return err
		}
	}
	return nil
}

// gatherLost looks in the knowledge base for what has come in the place of lost claims and for what changed documents say besides, and in
// excerpts.
func (f *refresh) gatherLost(ctx context.Context, lost []loss) error {
	base, ok := firstOf(f.tools, ragHybrid, ragNaive)
	var calls []call
	for _, l := range lost {
		s := f.old.Traces[l.trace].Source
		if s.Kind == topicqueue.SourceDocument && ok {
			calls = append(calls, call{tool: base, query: topicqueue.Clip(topicqueue.OneLine(l.claim.Quote), maxClaim)})
		}
		if !l.look.whole && l.look.state == changed { // what an excerpt shows beside it may have stood on the page before
			if unit, ok := f.successor(topicqueue.OneLine(l.claim.Quote), l.look); ok {
				if err := f.noteFresh(ctx, l.look.from, l.look.source, []recurring.Unit{unit}, lost); err != nil {
					return err
				}
			}
		}
	}
	if ok {
		calls = append(calls, f.freshCalls(base)...)
		unseen, err := f.unseenCalls(ctx, base, lost)
		if err != nil {
			return err
		}
		calls = append(calls, unseen...)
	}
	found, err := f.ask(ctx, calls, true)
	if err != nil {
		return err
	}
	for _, o := range found {
		if err := f.gatherPassages(ctx, o, lost); err != nil {
			return err
		}
	}
	return nil
}

// freshCalls are searches for what documents that the block cites say anew, in its own words: no other search may show it.
func (f *refresh) freshCalls(base string) []call {
	var calls []call
	for _, key := range slices.Sorted(maps.Keys(f.looks)) {
		l := f.looks[key]
		if recurring.Document(key) == "" || l.state != changed {
			continue
		}
		for _, u := range l.fresh {
			if u.Tells && len(calls) < maxOpened {
				calls = append(calls, call{tool: base, query: topicqueue.Clip(topicqueue.OneLine(l.text[u.Start:u.End]), maxClaim)})
			}
		}
	}
	return calls
}

// gatherElsewhere finds lost claims that another source makes in the same words: one that was read tonight, else a page that was
// not sent again because nothing on it has changed.
func (f *refresh) gatherElsewhere(ctx context.Context, lost []loss) error {
	var open []call
	asked := map[string]bool{}
	for _, l := range lost {
		if f.elsewhereTonight(l, f.all) {
			continue
		}
		if key := f.elsewhereBefore(l); key != "" && !asked[key] {
			asked[key] = true
			open = append(open, call{tool: openPage, query: f.memory.Pages[key].URL})
		}
	}
	opened, err := f.ask(ctx, open, true)
	if err != nil {
		return err
	}
	for _, l := range lost {
		f.elsewhereTonight(l, opened)
	}
	return nil
}

// elsewhereTonight adds a lost claim to what is known of another source that has its sentence.
func (f *refresh) elsewhereTonight(l loss, outcomes []outcome) bool {
	from := recurring.PageKey(f.old.Traces[l.trace].Source)
	for _, o := range outcomes {
		for _, s := range o.answer.Sources {
			if recurring.PageKey(s) == from {
				continue
			}
			for _, u := range recurring.Units(s.Text) {
				if u.Mark != l.sentence {
					continue
				}
				i := slices.IndexFunc(f.noting, func(n outcome) bool { return n.fresh[0].ID == s.ID })
				if i < 0 {
					i = len(f.noting)
					o.fresh, o.only = []topicqueue.Source{s}, []recurring.Unit{}
					f.noting, f.ready = append(f.noting, o), append(f.ready, note{})
				}
				f.ready[i].found = append(f.ready[i].found, finding{text: l.claim.Text, start: u.Start, end: u.End})
				return true
			}
		}
	}
	return false
}

// elsewhereBefore returns the key of a page that has the sentence of a lost claim still, as far as is known; "" when none has.
func (f *refresh) elsewhereBefore(l loss) string {
	for _, key := range slices.Sorted(maps.Keys(f.memory.Pages)) {
		page := f.memory.Pages[key]
		if state := f.looks[key].state; page.Opened && page.URL != "" && (state == asItWas || state == unseen) && recurring.Document(key) == "" &&
			page.Marks.Has(recurring.Unit{Mark: l.sentence}) && f.opens(0) {
			return key
		}
	}
	return ""
}

// arrived returns the pages among the results of a search that were not there.
func (f *refresh) arrived(o outcome) []string {
	i := slices.IndexFunc(f.old.Asked, func(a recurring.Asked) bool { return tools.Key(a.Tool, a.Query) == tools.Key(o.tool, o.query) })
	if i < 0 || o.answer.Failed {
		return nil
	}
	before, now := f.old.Asked[i].Found, make([]string, len(o.answer.Sources))
	for n, s := range o.answer.Sources {
		now[n] = recurring.PageKey(s)
	}
	known := func(key string) bool { _, known := f.memory.Pages[key]; return known }
	full := f.Runner.Limit <= 0 || f.old.Asked[i].Results >= f.Runner.Limit
	arrived, doubtful := recurring.Arrived(before, now, known, full)
	for _, n := range doubtful { // it may have stood below the others, unless it is younger than they
		if o.answer.Sources[n].Date >= f.memory.Date {
			arrived = append(arrived, n)
		}
	}
	keys := make([]string, len(arrived))
	for n, i := range arrived {
		keys[n] = now[i]
	}
	return keys
}

// noteNew lets new sources be noted. What some page said before, in the same words, is no news: sites repeat themselves, and copies
// come up.
func (f *refresh) noteNew(ctx context.Context, o outcome, sources []topicqueue.Source, lost []loss) error {
	for _, s := range sources {
		if err := f.noteFresh(ctx, o, s, f.seen.Fresh(recurring.Units(s.Text)), lost); err != nil {
			return err
		}
	}
	return nil
}

// noteFresh lets the paragraphs of a source be noted that have fresh units which tell something. Those that take the place of lost claims,
// labels too, are found already, and nobody is asked about them.
func (f *refresh) noteFresh(ctx context.Context, o outcome, s topicqueue.Source, fresh []recurring.Unit, lost []loss) error {
	if f.noted[s.ID] || len(fresh) == 0 {
		return nil
	}
	var ready note
	told := map[recurring.Unit]bool{}
	for _, l := range lost {
		if recurring.PageKey(f.old.Traces[l.trace].Source) != recurring.PageKey(s) {
			continue
		}
		unit, ok := f.successor(topicqueue.OneLine(l.claim.Quote), look{text: s.Text, fresh: fresh})
		if ok && !told[unit] {
			told[unit] = true
			ready.found = append(ready.found, finding{text: topicqueue.OneLine(s.Text[unit.Start:unit.End]), start: unit.Start, end: unit.End})
		}
	}
	o.fresh, o.only = []topicqueue.Source{s}, []recurring.Unit{}
	for _, u := range fresh {
		if !u.Tells || told[u] {
			continue
		}
		if stood, err := f.stood(ctx, s, u, lost); err != nil {
			return err
		} else if !stood {
			o.only = append(o.only, u)
		}
	}
	if len(told)+len(o.only) == 0 {
		return nil
	}
	f.noted[s.ID] = true
	f.noting, f.ready = append(f.noting, o), append(f.ready, ready)
	return nil
}

// merged joins notes with what was found without them.
func (f *refresh) merged(notes []note) []note {
	for i := range notes {
		if ready := f.ready[i]; len(ready.found) > 0 {
			notes[i].found = append(ready.found, notes[i].found...)
			if notes[i].summary == "" {
				notes[i].summary = summaryOf(ready.found)
			}
		}
	}
	return notes
}

// paragraphs are the pieces of a text around units: from blank line to blank line.
func paragraphs(source int, text string, units []recurring.Unit) []piece {
	var pieces []piece
	end := -1
	for _, u := range units {
		if u.Start < end {
			continue
		}
		start := strings.LastIndex(text[:u.Start], "\n\n") + 1
		if start > 0 {
			start++
		}
		end = len(text)
		if i := strings.Index(text[u.End:], "\n\n"); i >= 0 {
			end = u.End + i
		}
		pieces = append(pieces, piece{source: source, at: start, text: text[start:end]})
	}
	return pieces
}
