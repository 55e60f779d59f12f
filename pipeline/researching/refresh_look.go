package researching

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// look is what has become of a page.
type look struct {
	state  lookState
	from   outcome           // the call that tells
	source topicqueue.Source // as it is now, of one that was opened or shown; with Text
	whole  bool              // the text is all of the page, not an excerpt
	text   string            // of the page or document as it is now
	units  []recurring.Unit  // of text
	marks  recurring.Marks   // of text
	fresh  []recurring.Unit  // that it did not have, labels too
}

type lookState int

const (
	unseen  lookState = iota // it could not be asked again, or no search shows it any more
	asItWas                  // nothing that it says has changed
	changed                  // text says what it says now
	gone
)

func newLook(page recurring.Page, text string, whole bool) look {
	l := look{state: changed, whole: whole, text: text, units: recurring.Units(text), marks: recurring.MarksOf(text)}
	l.fresh = page.Marks.Missing(l.units)
	return l
}

// passOver makes of fresh sentences that only say in other words what the page said no news.
func (f *refresh) passOver(ctx context.Context, key string, l *look) error {
	if !slices.ContainsFunc(l.fresh, func(u recurring.Unit) bool { return u.Tells }) {
		return nil
	}
	hashes := []string{f.memory.Pages[key].Hash}
	for _, b := range f.memory.Blocks {
		for _, t := range b.Traces {
			if recurring.PageKey(t.Source) == key && !slices.Contains(hashes, t.Source.Hash) {
				hashes = append(hashes, t.Source.Hash)
			}
		}
	}
	var then []evidence.Claim
	for _, hash := range hashes {
		text, _, err := f.kept(ctx, hash)
		if err != nil {
			return err
		}
		for _, u := range recurring.Units(text) {
			if u.Tells && !l.marks.Has(u) {
				then = append(then, statement(text[u.Start:u.End]))
			}
		}
	}
	now := make([]evidence.Claim, len(l.fresh))
	for i, u := range l.fresh {
		now[i] = statement(l.text[u.Start:u.End])
	}
	reading := evidence.Read(slices.Concat(now, then))
	for i := range now {
		for j := range then {
			if reading.Same(i, len(now)+j) {
				l.fresh[i].Tells = false
			}
		}
	}
	return nil
}

// longestNotice is the length, in bytes, of the longest text that is taken for a notice in the place of a page: consent, subscription, maintenance.
const longestNotice = 1500

// doubt returns what tells that something else stands in the place of a known page tonight: a short text that has nothing of what the page
// said, and nothing of its title. The page is then taken for one that could not be asked.
func (f *refresh) doubt(c call) func(tools.Answer) bool {
	page, known := f.memory.Pages[recurring.AddressKey(c.query)]
	if c.tool != openPage || !known || !page.Opened || len(page.Marks) < 3 {
		return nil
	}
	return func(a tools.Answer) bool {
		if a.Failed || len(a.Sources) != 1 || len(a.Sources[0].Text) > longestNotice {
			return false
		}
		s := a.Sources[0]
		units := recurring.Units(s.Text)
		words := wordsOf(s.Title + "\n" + s.Text)
		return len(page.Marks.Missing(units)) == len(units) &&
			!slices.ContainsFunc(wordsOf(page.Title), func(w string) bool { return len(w) > 3 && slices.Contains(words, w) })
	}
}

// lookAtPages takes over what became of pages that were asked for.
func (f *refresh) lookAtPages(ctx context.Context, opened []outcome) error {
	for _, o := range opened {
		key := recurring.AddressKey(o.query)
		page := f.memory.Pages[key]
		l := look{}
		switch {
		case o.answer.Unchanged:
			l.state = asItWas
		case o.answer.Gone:
			l.state = gone
		case o.answer.Failed || len(o.answer.Sources) == 0:
		case o.answer.Sources[0].Hash == page.Hash:
			l = look{state: asItWas, source: o.answer.Sources[0]}
		default:
			l = newLook(page, o.answer.Sources[0].Text, true)
			l.source = o.answer.Sources[0]
			if err := f.passOver(ctx, key, &l); err != nil {
				return err
			}
		}
		l.from = o
		f.looks[key] = l
	}
	return nil
}

// lookAtResults takes over what searches show of pages that were never opened: excerpts and abstracts.
func (f *refresh) lookAtResults(ctx context.Context, found []outcome) error {
	for _, o := range found {
		for _, s := range o.answer.Sources {
			key := recurring.PageKey(s)
			page, known := f.memory.Pages[key]
			if _, looked := f.looks[key]; !known || page.Opened || looked && f.looks[key].state == asItWas {
				continue
			}
			l := newLook(page, s.Text, s.Kind == topicqueue.SourcePaper)
			if l.source, l.from = s, o; len(l.fresh) == 0 {
				l.state = asItWas
			} else if err := f.passOver(ctx, key, &l); err != nil {
				return err
			}
			f.looks[key] = l
		}
	}
	return nil
}

// lookAtDocuments compares the documents that the block cites, or was shown, with what they were.
func (f *refresh) lookAtDocuments(ctx context.Context) error {
	var keys []string
	for _, t := range f.old.Traces {
		keys = append(keys, recurring.PageKey(t.Source))
	}
	for _, a := range f.old.Asked {
		keys = append(keys, a.Found...)
	}
	for _, key := range keys {
		document := recurring.Document(key)
		if _, looked := f.looks[key]; document == "" || looked || f.Documents == nil {
			continue
		}
		text, err := f.Documents.Text(ctx, document)
		page := f.memory.Pages[key]
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.looks[key] = look{state: gone}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("look at document %q again: %w", document, err)
		case topicqueue.TextHash(text) == page.Hash:
			f.looks[key] = look{state: asItWas}
		default:
			l := newLook(page, text, true)
			if err := f.passOver(ctx, key, &l); err != nil {
				return err
			}
			f.looks[key] = l
		}
	}
	return nil
}

// lookOf returns what has become of the page of a source.
func (f *refresh) lookOf(s topicqueue.Source) look {
	key := recurring.PageKey(s)
	if l, ok := f.looks[key]; ok || f.memory.Pages[key].URL == "" {
		return l
	}
	return f.looks[recurring.AddressKey(f.memory.Pages[key].URL)]
}
