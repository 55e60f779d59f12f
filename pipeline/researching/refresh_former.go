package researching

import (
	"cmp"
	"context"
	"slices"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/recurring"
	"nightdesk/topicqueue"
)

// formers makes traces of the sentences in whose place those have come that were noted tonight, where the last report did not have them and their
// text is at hand: a change is told with its old value. Their claims have no id, which tells that no report has made them.
func (f *refresh) formers(ctx context.Context, noted []topicqueue.ToolTrace, lost []loss) ([]topicqueue.ToolTrace, error) {
	var traces []topicqueue.ToolTrace
	told := map[uint64]bool{}
	for _, l := range lost {
		told[l.sentence] = true
	}
	for _, t := range noted {
		l := f.lookOf(t.Source)
		if l.state != changed || !l.whole {
			continue
		}
		for _, c := range t.Claims {
			source, unit, err := f.former(ctx, t.Source, c, l, told)
			if err != nil {
				return nil, err
			}
			if source.ID == "" {
				continue
			}
			told[unit.Mark] = true
			quote := source.Text[unit.Start:unit.End]
			f.lastSeq++
			old := t
			old.CitationID = topicqueue.BlockCitationID(f.block.Number(), f.lastSeq)
			old.Source, old.Claims = source, []topicqueue.Claim{}
			old.Withdrawn = []topicqueue.Claim{{CitationID: old.CitationID, SourceID: source.ID, Text: quote, Quote: quote, Start: unit.Start, End: unit.End}}
			traces = append(traces, old)
		}
	}
	return traces, nil
}

// former finds the sentence in whose place that of a claim has come, in a text of then that is in the run's bundle; no source: there is none.
func (f *refresh) former(ctx context.Context, now topicqueue.Source, c topicqueue.Claim, l look, told map[uint64]bool) (topicqueue.Source, recurring.Unit, error) {
	then, err := f.then(ctx, now, c)
	if err != nil {
		return topicqueue.Source{}, recurring.Unit{}, err
	}
	type place struct {
		source int
		unit   recurring.Unit
	}
	var places []place
	claims := []evidence.Claim{statement(topicqueue.OneLine(c.Quote))}
	for i, s := range then {
		for _, u := range recurring.Units(s.Text) {
			if u.Tells && !told[u.Mark] && !l.marks.Has(u) {
				places = append(places, place{i, u})
				claims = append(claims, statement(s.Text[u.Start:u.End]))
			}
		}
	}
	reading := evidence.Read(claims)
	best, most := -1, 0.0
	for i := range places {
		if _, turned := reading.Turned(i+1, 0, true); turned && !reading.Same(i+1, 0) && reading.Alike(i+1, 0) > most {
			best, most = i, reading.Alike(i+1, 0)
		}
	}
	if best < 0 {
		return topicqueue.Source{}, recurring.Unit{}, nil
	}
	s := then[places[best].source]
	if s.Kind == topicqueue.SourceDocument {
		err = f.Runner.Pages.PutPage(ctx, f.run.ID, s.Hash, s.Text)
	}
	return s, places[best].unit, err
}

// then returns what a page or document said when the topic was last researched, as far as its text is at hand.
func (f *refresh) then(ctx context.Context, s topicqueue.Source, c topicqueue.Claim) ([]topicqueue.Source, error) {
	asOf := &topicqueue.AsOf{RunID: f.memory.RunID, Date: f.memory.Date}
	if s.Kind != topicqueue.SourceDocument {
		key := recurring.PageKey(s)
		page := f.memory.Pages[key]
		text, kept, err := f.kept(ctx, page.Hash)
		if err != nil || !kept || !page.Opened {
			return nil, err
		}
		s.URL, s.Title, s.ETag, s.LastModified = cmp.Or(page.URL, s.URL), cmp.Or(page.Title, s.Title), page.ETag, page.LastModified
		s.Hash, s.Text, s.AsOf = page.Hash, text, asOf
		s.ID = topicqueue.SourceID(s)
		return []topicqueue.Source{s}, nil
	}
	if f.Before == nil {
		return nil, nil
	}
	found, err := f.Before.Like(ctx, topicqueue.Clip(topicqueue.OneLine(c.Quote), maxClaim), likePassages)
	if err != nil {
		return nil, f.failed(ctx, err)
	}
	found = slices.DeleteFunc(found, func(o topicqueue.Source) bool { return o.Document != s.Document })
	asOf.RunID = f.run.ID // the last run did not keep it
	for i := range found {
		found[i].AsOf = asOf
	}
	return found, nil
}
