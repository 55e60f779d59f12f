package researching

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// loss is a claim that its source no longer makes.
type loss struct {
	claim topicqueue.Claim // its quote is the whole sentence of then
	trace int              // in old.Traces
	look  look

	sentence uint64 // mark of its first sentence
}

// judge carries over the traces whose claims stand, and tells which claims do not.
func (f *refresh) judge(ctx context.Context) (carried []topicqueue.ToolTrace, lost []loss, err error) {
	for n, t := range f.old.Traces {
		l := f.lookOf(t.Source)
		t.Claims = slices.Clone(t.Claims)
		if t.Source.Text, err = f.text(ctx, t.Source.Hash); err != nil {
			return nil, nil, err
		}
		switch {
		case l.state == asItWas:
			t.Source.ETag, t.Source.LastModified = cmp.Or(l.source.ETag, t.Source.ETag), cmp.Or(l.source.LastModified, t.Source.LastModified)
			carried = append(carried, t)
			continue
		case l.state == unseen:
			t.Unchecked = t.Source.Kind != topicqueue.SourceCode
			carried = append(carried, t)
			continue
		}
		then := recurring.Units(t.Source.Text)
		t.Claims = parted(t, then, l)
		var stand, now []topicqueue.Claim // as they stood, and as they stand
		var kept []topicqueue.Claim       // stand, and what stands only in the words of a search engine
		losing := len(lost)
		for _, c := range t.Claims {
			moved, stands := f.stands(c, t.Source, then, l)
			if stands {
				stand, now, kept = append(stand, c), append(now, moved), append(kept, c)
				continue
			}
			if theirs, still, err := f.engineWords(ctx, c, t, l); err != nil {
				return nil, nil, err
			} else if theirs {
				if still {
					kept = append(kept, c)
				}
				continue
			}
			missing := loss{claim: c, trace: n, look: l}
			if over := recurring.Over(then, c.Start, c.End); len(over) > 0 {
				missing.sentence = over[0].Mark
				if !slices.ContainsFunc(over, func(u recurring.Unit) bool { return !u.Stamp }) {
					continue
				}
				c.Start, c.End = min(c.Start, over[0].Start), max(c.End, over[len(over)-1].End)
				c.Quote = t.Source.Text[c.Start:c.End]
				missing.claim = c
			}
			lost = append(lost, missing)
		}
		missing := len(lost) - losing
		t.Dropped = len(t.Claims) - len(kept) - missing
		switch {
		case len(kept) == len(t.Claims): // as good as it was
			carried = append(carried, t)
		case len(stand) == 0:
			if t.Dropped += len(kept); t.Dropped > 0 {
				t.Claims = nil
				carried = append(carried, t)
			}
		case t.Source.Kind == topicqueue.SourceDocument:
			t.Claims = stand
			carried = append(carried, t)
		default:
			t.Source, t.Claims, t.Dropped = l.source, apart(now), t.Dropped+len(kept)-len(stand)
			for i := range t.Claims {
				t.Claims[i].SourceID = t.Source.ID
			}
			carried = append(carried, t)
		}
	}
	return carried, lost, nil
}

// parted cuts claims that quote whole paragraphs, and do not stand any more as they were, into stretches that still do and
// sentences that do not: only these have changed. The first part keeps the id of its claim.
func parted(t topicqueue.ToolTrace, then []recurring.Unit, l look) []topicqueue.Claim {
	var out []topicqueue.Claim
	now, next := text.Fold(l.text), len(t.Claims)
	stands := func(start, end int) bool {
		_, _, found := now.Find(t.Source.Text[start:end])
		return found
	}
	for _, c := range t.Claims {
		over := recurring.Over(then, c.Start, c.End)
		if len(over) == 0 || c.Text != topicqueue.OneLine(c.Quote) || stands(c.Start, c.End) {
			out = append(out, c)
			continue
		}
		last := c.Start // end of the part before
		for i := 0; i < len(over); {
			part, n := c, i+1
			part.Start, part.End = over[i].Start, over[i].End
			if stands(part.Start, part.End) {
				for ; n < len(over) && stands(part.Start, over[n].End); n++ {
					part.End = over[n].End
				}
				if marked := last + leadingSpace(t.Source.Text[last:]); stands(marked, part.End) { // with the marker of its item
					part.Start = marked
				}
			}
			last = part.End
			if n == i+1 && !over[i].Tells && !stands(part.Start, part.End) { // a label
				i = n
				continue
			}
			if i > 0 {
				next++
				part.ID = fmt.Sprintf("%s.%d", c.CitationID, next)
			}
			part.Quote = t.Source.Text[part.Start:part.End]
			part.Text = topicqueue.OneLine(part.Quote)
			out = append(out, part)
			i = n
		}
	}
	return out
}

func leadingSpace(s string) int { return len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace)) }

// apart drops claims that stand where an earlier one stands: a sentence that a page repeats is found at its first place.
func apart(claims []topicqueue.Claim) []topicqueue.Claim {
	var out []topicqueue.Claim
	for _, c := range claims {
		if !slices.ContainsFunc(out, func(o topicqueue.Claim) bool { return c.Start < o.End && o.Start < c.End }) {
			out = append(out, c)
		}
	}
	return out
}

// text returns a text of the run's bundle.
func (f *refresh) text(ctx context.Context, hash string) (string, error) {
	if text, ok := f.bodies[hash]; ok {
		return text, nil
	}
	text, err := f.Runner.Pages.Page(ctx, f.run.ID, hash)
	if err != nil {
		return "", fmt.Errorf("read what was found on %s: %w", f.memory.Date, err)
	}
	f.bodies[hash] = text
	return text, nil
}

// covers reports a quote that is all of its sentences.
func covers(c topicqueue.Claim, over []recurring.Unit) bool {
	return len(over) > 0 && c.Start <= over[0].Start && over[len(over)-1].End <= c.End
}

// kept returns a text that the run's bundle may have; what cannot be read is not known.
func (f *refresh) kept(ctx context.Context, hash string) (string, bool, error) {
	if hash == "" {
		return "", false, nil
	}
	text, err := f.text(ctx, hash)
	if ctx.Err() != nil {
		return "", false, context.Cause(ctx)
	}
	return text, err == nil, nil
}

// stands reports whether a page still says what a claim quotes, and returns the claim with its quote where it stands now. The
// sentence around the quote counts: a part of it may stand while its figures do not.
func (f *refresh) stands(c topicqueue.Claim, source topicqueue.Source, then []recurring.Unit, l look) (topicqueue.Claim, bool) {
	if l.state == gone {
		return c, false
	}
	over := recurring.Over(then, c.Start, c.End)
	missing := slices.ContainsFunc(over, func(u recurring.Unit) bool { return !l.marks.Has(u) })
	start, end, found := text.Fold(l.text).Find(c.Quote)
	switch {
	case found && missing && !covers(c, over) && !sameFigures(textOf(source.Text, over), textOf(l.text, recurring.Over(l.units, start, end))):
		found = false
	case !found && !missing && len(over) > 0: // the sentences of the quote no longer stand together: the first one is quoted
		if i := slices.IndexFunc(l.units, func(u recurring.Unit) bool { return u.Mark == over[0].Mark }); i >= 0 {
			start, end, found = l.units[i].Start, l.units[i].End, true
		}
	case !found && f.reworded(textOf(source.Text, over), l, &start, &end):
		found = true
	case !found && !l.whole: // an excerpt may show another part of the page: only what takes its place tells that it is gone
		_, replaced := f.successor(textOf(source.Text, over), l)
		return c, !replaced
	}
	if found {
		c.Start, c.End, c.Quote = start, end, l.text[start:end]
	}
	return c, found
}

// engineWords reports a claim whose quote is the wording of a search engine, which joins and cuts what a page says: it never stood so on the
// page, which was opened on the same night and has claims of its own, so nothing is told of its end. still: all of its words are on the page.
func (f *refresh) engineWords(ctx context.Context, c topicqueue.Claim, t topicqueue.ToolTrace, l look) (theirs, still bool, err error) {
	page := f.memory.Pages[recurring.PageKey(t.Source)]
	if t.Source.Kind != topicqueue.SourceWeb || t.ToolType == openPage || !page.Opened {
		return false, false, nil
	}
	words := map[string]bool{}
	for _, w := range wordsOf(l.text) {
		words[w] = true
	}
	quote, cut := uncut(c.Quote)
	still = !slices.ContainsFunc(wordsOf(quote), func(w string) bool { return !words[w] })
	then, kept, err := f.kept(ctx, page.Hash)
	if err != nil {
		return false, false, err
	}
	if !kept {
		joined := !strings.ContainsAny(quote[max(0, len(quote)-1):], ".!?\"”")
		return still && (cut || joined), still, nil
	}
	if _, replaced := f.successor(quote, l); replaced && !still {
		return false, false, nil
	}
	if cut {
		return true, still, nil
	}
	_, _, stood := text.Fold(then).Find(quote)
	return !stood, still, nil
}

// uncut returns a quote without the dots of an excerpt that was cut there.
func uncut(quote string) (string, bool) {
	bare := strings.TrimSpace(quote)
	for _, dots := range []string{"...", "…"} {
		bare = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(bare, dots), dots))
	}
	return bare, bare != strings.TrimSpace(quote)
}

// wordsOf returns the words and figures of a text.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// reworded finds the sentence that says the same in the place of a claim's: a mistake was mended, a number is written otherwise.
func (f *refresh) reworded(sentence string, l look, start, end *int) bool {
	u, ok := l.likest(sentence, func(reading evidence.Reading, i int) bool { return reading.Same(0, i) })
	if ok {
		*start, *end = u.Start, u.End
	}
	return ok
}

// likest returns of what the source did not say before the sentence that is most like another one, among those that fit; i is the
// place of one in the reading, whose first is the other.
func (l look) likest(sentence string, fits func(reading evidence.Reading, i int) bool) (best recurring.Unit, ok bool) {
	claims := []evidence.Claim{statement(sentence)}
	for _, u := range l.fresh {
		claims = append(claims, statement(l.text[u.Start:u.End]))
	}
	reading, most := evidence.Read(claims), 0.0
	for i, u := range l.fresh {
		if alike := reading.Alike(0, i+1); alike > most && fits(reading, i+1) {
			best, most, ok = u, alike, true
		}
	}
	return best, ok
}

// textOf returns the text of units that follow each other.
func textOf(text string, units []recurring.Unit) string {
	parts := make([]string, len(units))
	for i, u := range units {
		parts[i] = text[u.Start:u.End]
	}
	return strings.Join(parts, " ")
}

func sameFigures(a, b string) bool {
	return evidence.Read([]evidence.Claim{statement(a), statement(b)}).SameFigures(0, 1)
}

func statement(text string) evidence.Claim {
	return evidence.Claim{Claim: topicqueue.Claim{Text: text}}
}

// successor finds what a page now says in the place of a sentence: of what it did not say before, that which says the same of the subject
// or something else.
func (f *refresh) successor(sentence string, l look) (recurring.Unit, bool) {
	return l.likest(sentence, func(reading evidence.Reading, i int) bool {
		turn, turned := reading.Turned(0, i, true)
		if turn.Kind == evidence.TurnedWords && !l.whole { // an excerpt may show another sentence
			return false
		}
		return turned || reading.Same(0, i)
	})
}

// asOf makes traces of what sources no longer say, one for each trace that lost claims.
func (f *refresh) asOf(lost []loss) []topicqueue.ToolTrace {
	var traces []topicqueue.ToolTrace
	last := -1
	for _, l := range lost {
		if l.trace != last {
			last = l.trace
			f.lastSeq++
			t := f.old.Traces[l.trace]
			t.CitationID = topicqueue.BlockCitationID(f.block.Number(), f.lastSeq)
			t.Claims, t.Iteration = []topicqueue.Claim{}, 1
			t.Source.AsOf = &topicqueue.AsOf{RunID: f.memory.RunID, Date: f.memory.Date, Gone: l.look.state == gone}
			traces = append(traces, t)
		}
		t := &traces[len(traces)-1]
		t.Withdrawn = append(t.Withdrawn, l.claim)
	}
	return traces
}
