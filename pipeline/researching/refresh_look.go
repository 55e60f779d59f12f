package researching

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"nightdesk/pipeline/recurring"
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

// lookAtPages takes over what became of pages that were asked for.
func (f *refresh) lookAtPages(opened []outcome) {
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
		}
		l.from = o
		f.looks[key] = l
	}
}

// lookAtResults takes over what searches show of pages that were never opened: excerpts and abstracts.
func (f *refresh) lookAtResults(found []outcome) {
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
			}
			f.looks[key] = l
		}
	}
}

// lookAtDocuments compares the documents that the block cites with what they were.
func (f *refresh) lookAtDocuments(ctx context.Context) error {
	for _, t := range f.old.Traces {
		key := recurring.PageKey(t.Source)
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
			f.looks[key] = newLook(page, text, true)
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
