package researching

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

const (
	maxOpened     = 10   // new results that one block opens in a night; of others it reads what the search shows
	likePassages  = 8    // of a knowledge base that are most like a sentence
	maxCompared   = 1000 // documents of a knowledge base that have changed; of more, only those are compared that rank for a search
	farther       = 40   // passages that rank for it
	mostPassages  = 200  // that a knowledge base ranks
	longestNotice = 1500 // bytes of a text that stands in the place of a page: consent, subscription, maintenance
)

// look is what has become of a page or document.
type look struct {
	state   lookState
	cited   bool                // the block has read it
	weigh   bool                // no search shows its document: what moved in it must be about the topic
	shown   []string            // what searches show of it: that needs no weighing
	excerpt bool                // both texts are parts, of which nobody knows how they stand to each other
	then    topicqueue.Source   // of all that is known of it; without Text: nothing
	text    string              // all that it says now
	now     []topicqueue.Source // that have parts of text: of a page itself, of a document its passages and itself
	call    outcome             // that shows it

	diff    text.Difference
	respelt []text.Pair
	places  map[int]text.Unit // of units of then, by their start: those of text that say the same or have come in their place
	claimed []text.Block      // paragraphs of then with claims
	kept    []text.Block      // of text: quotes of claims that stand
	stood   map[uint64]bool   // marks of then; nil: not asked for

	vanished []quantity.Quantity // figures of then that stand nowhere any more

	lost  []text.Unit // of then, that claims quote
	found []finding   // what is to be recorded, whatever a model says
	pairs []text.Pair // told as changed
	added []text.Unit // told as new
}

type lookState int

const (
	unseen  lookState = iota // it could not be asked again, or no search shows it any more
	asItWas                  // nothing that it says has changed
	changed                  // text says what it says now
	gone
)

// lookAround asks for all that the block has read, and for what has come.
func (f *refresh) lookAround(ctx context.Context, pages, searches []call) error {
	opened, err := f.ask(ctx, pages)
	if err != nil {
		return err
	}
	for _, o := range opened {
		if err := f.lookAtPage(ctx, recurring.AddressKey(o.query), o); err != nil {
			return err
		}
	}
	found, err := f.ask(ctx, searches)
	if err != nil {
		return err
	}
	for _, t := range f.old.Traces {
		key := recurring.PageKey(t.Source)
		if document := recurring.Document(key); document != "" {
			err = f.lookAtDocument(ctx, document, true)
		} else if f.lookOf(t.Source) == nil {
			err = f.lookAtExcerpt(ctx, key, t.Source, found)
		}
		if err != nil {
			return err
		}
	}
	if err := f.compareBases(ctx); err != nil {
		return err
	}
	if err := f.lookAtArrived(ctx, found); err != nil {
		return err
	}
	if err := f.lookAtShown(ctx, found); err != nil {
		return err
	}
	return f.lookAtBase(ctx, searches)
}

// lookOf returns what has become of the page of a source; nil: nobody has looked.
func (f *refresh) lookOf(s topicqueue.Source) *look {
	key := recurring.PageKey(s)
	if l, ok := f.looks[key]; ok || f.memory.Pages[key].URL == "" {
		return l
	}
	return f.looks[recurring.AddressKey(f.memory.Pages[key].URL)]
}

// before returns what is known of a page or document as it was: with Text when all of it was read.
func (f *refresh) before(ctx context.Context, key string) (topicqueue.Source, error) {
	page, known := f.memory.Pages[key]
	s := topicqueue.Source{Kind: topicqueue.SourceWeb, URL: page.URL, Title: page.Title, Hash: page.Hash, ETag: page.ETag, LastModified: page.LastModified}
	if s.Document = recurring.Document(key); s.Document != "" {
		s.Kind = topicqueue.SourceDocument
	}
	if !known || !page.Opened {
		return s, nil
	}
	for _, t := range f.old.Traces {
		if t.Source.Hash == page.Hash && recurring.PageKey(t.Source) == key {
			s = t.Source
		}
	}
	s.ID = topicqueue.SourceID(s)
	body, err := f.Runner.Pages.Page(ctx, f.run.ID, page.Hash)
	if ctx.Err() != nil {
		return s, context.Cause(ctx)
	}
	if err == nil { // else it is not known
		s.Text = body
	}
	return s, nil
}

// doubtful reports that something else stands in the place of a known page tonight: a short text that has nothing of
// what the page said, and nothing of its title. The page is then taken for one that could not be asked.
func (f *refresh) doubtful(ctx context.Context, o outcome) bool {
	key := recurring.AddressKey(o.query)
	if o.tool != openPage || o.answer.Failed || len(o.answer.Sources) != 1 || len(o.answer.Sources[0].Text) > longestNotice {
		return false
	}
	then, err := f.before(ctx, key)
	if err != nil || then.Text == "" {
		return false
	}
	now := o.answer.Sources[0]
	old, marks := text.Units(then.Text), marksOf(now.Text)
	return len(old) >= 3 && text.Coverage(now.Title+"\n"+now.Text, then.Title) == 0 &&
		!slices.ContainsFunc(old, func(u text.Unit) bool { return marks[u.Mark] })
}

func marksOf(s string) map[uint64]bool {
	marks := map[uint64]bool{}
	for _, u := range text.Units(s) {
		marks[u.Mark] = true
	}
	return marks
}

// lookAtPage takes over what became of a page that was asked for.
func (f *refresh) lookAtPage(ctx context.Context, key string, o outcome) (err error) {
	l := &look{call: o, cited: true}
	f.looks[key] = l
	if l.then, err = f.before(ctx, key); err != nil {
		return err
	}
	switch {
	case o.answer.Unchanged:
		l.state, l.now, l.text = asItWas, []topicqueue.Source{l.then}, l.then.Text
	case o.answer.Gone:
		l.state = gone
	case o.answer.Failed || len(o.answer.Sources) == 0:
	default:
		l.state, l.now, l.text = changed, o.answer.Sources[:1], o.answer.Sources[0].Text
		if l.now[0].Hash == f.memory.Pages[key].Hash {
			l.state = asItWas
		}
	}
	return nil
}

// lookAtDocument compares a document with what it was.
func (f *refresh) lookAtDocument(ctx context.Context, document string, cited bool) error {
	key := keyOf(document)
	if f.looks[key] != nil || f.Documents == nil {
		return nil
	}
	l := &look{cited: cited, weigh: !cited}
	var err error
	if l.then, err = f.before(ctx, key); err != nil {
		return err
	}
	if err := f.compareBases(ctx); err != nil {
		return err
	}
	f.calls++
	l.call.call = call{id: fmt.Sprintf("%s/1.%d", f.block.ID, f.calls), tool: recurring.ReadDocument, query: document}
	f.looks[key] = l
	if l.then.Text != "" && f.edited != nil && !f.edited[document] {
		l.state, l.now, l.text = asItWas, []topicqueue.Source{l.then}, l.then.Text
		return nil
	}
	if l.then.Text == "" && f.Before != nil {
		l.then, _, err = wholeDocument(ctx, f.Before, document)
		if err == nil { // the last run did not keep it
			l.then.AsOf = &topicqueue.AsOf{RunID: f.run.ID, Date: f.memory.Since(f.span.Now)}
			err = f.Runner.Pages.PutPage(ctx, f.run.ID, l.then.Hash, l.then.Text)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.failed(ctx, document, err)
		}
	}
	now, passages, err := wholeDocument(ctx, f.Documents, document)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.state = gone
	case err != nil:
		return f.failed(ctx, document, err)
	case now.Hash == l.then.Hash:
		l.state, l.now, l.text = asItWas, []topicqueue.Source{l.then}, l.then.Text
	default:
		l.state, l.text, l.now = changed, now.Text, append(passages, now)
	}
	l.call.answer.Raw = topicqueue.PagePath(now.Hash)
	return nil
}

// keyOf is the recurring.PageKey of a document.
func keyOf(document string) string {
	return recurring.PageKey(topicqueue.Source{Kind: topicqueue.SourceDocument, Document: document})
}

// compareBases finds out which documents have changed, come or gone since the last run, as far as its knowledge base is
// there.
func (f *refresh) compareBases(ctx context.Context) error {
	if f.edited != nil || f.Documents == nil || f.Before == nil && !f.sameBase() {
		return nil
	}
	edited := map[string]bool{}
	if !f.sameBase() {
		then, err := f.Before.Hashes(ctx)
		if err != nil {
			return f.failed(ctx, f.run.Options.KnowledgeBase, err)
		}
		now, err := f.Documents.Hashes(ctx)
		if err != nil {
			return f.failed(ctx, f.run.Options.KnowledgeBase, err)
		}
		for document, hash := range now {
			edited[document] = then[document] != hash
		}
		for document := range then {
			edited[document] = edited[document] || now[document] == ""
		}
		maps.DeleteFunc(edited, func(_ string, is bool) bool { return !is })
		if err := f.compareTopic(ctx, len(edited), len(then)); err != nil {
			return err
		}
	}
	f.edited = edited
	return nil
}

// halfAsGood is how well a document answers the topic that is about it, as a share of the best score.
const halfAsGood = 0.5

// compareTopic finds out whether half of the documents of the last run's knowledge base are about the topic, as far as
// that matters: without a model, and where documents have been edited.
func (f *refresh) compareTopic(ctx context.Context, edited, documents int) error {
	if f.Model != nil || edited == 0 || documents > mostPassages {
		return nil
	}
	like, err := f.Before.Like(ctx, f.run.Topic, mostPassages)
	if err != nil {
		return f.failed(ctx, f.run.Topic, err)
	}
	about := map[string]bool{}
	for _, s := range like {
		if s.Share >= halfAsGood {
			about[s.Document] = true
		}
	}
	f.broad = 2*len(about) >= documents
	return nil
}

// wholeDocument returns a document as one source, and its passages. The error wraps fs.ErrNotExist when there is none.
func wholeDocument(ctx context.Context, base Documents, document string) (topicqueue.Source, []topicqueue.Source, error) {
	body, err := base.Text(ctx, document)
	if err != nil {
		return topicqueue.Source{}, nil, err
	}
	passages, err := base.Passages(ctx, document)
	s := topicqueue.Source{Kind: topicqueue.SourceDocument, Document: document, Title: document}
	if len(passages) > 0 {
		s = passages[0]
		s.Section, s.Anchor, s.Page, s.Offset, s.Share = nil, "", 0, 0, 0
		s.URL, _, _ = strings.Cut(s.URL, "#")
	}
	s.Hash, s.Text = topicqueue.TextHash(body), body
	s.ID = topicqueue.SourceID(s)
	return s, passages, err
}

// lookAtExcerpt takes over what searches show of a page that was never opened.
func (f *refresh) lookAtExcerpt(ctx context.Context, key string, then topicqueue.Source, found []outcome) (err error) {
	for _, o := range found {
		for _, s := range o.answer.Sources {
			if recurring.PageKey(s) != key || strings.TrimSpace(s.Text) == "" {
				continue
			}
			l := &look{state: changed, cited: true, call: o, then: then, now: []topicqueue.Source{s}, text: s.Text, excerpt: s.Kind == topicqueue.SourceWeb}
			if l.then.Text, err = f.Runner.Pages.Page(ctx, f.run.ID, then.Hash); err != nil {
				return f.failed(ctx, then.Title, err)
			}
			if f.looks[key] = l; s.Hash == then.Hash {
				l.state = asItWas
				return nil
			}
		}
	}
	return nil
}

// lookAtShown compares the documents that have changed and that searches show, also far below.
func (f *refresh) lookAtShown(ctx context.Context, found []outcome) error {
	for _, o := range found {
		for _, s := range o.answer.Sources {
			if s.Kind != topicqueue.SourceDocument || !f.edited[s.Document] {
				continue
			}
			if err := f.lookAtDocument(ctx, s.Document, false); err != nil {
				return err
			}
			if l := f.looks[recurring.PageKey(s)]; l != nil {
				l.shown = append(l.shown, s.Text)
			}
		}
	}
	return nil
}

// lookAtBase compares the documents that have changed, come or gone, that no search of the block shows, and that are
// more about this block than about others. Where there are very many, it is those that rank for its searches.
func (f *refresh) lookAtBase(ctx context.Context, searches []call) error {
	ranking := map[string]bool{}
	for _, c := range searches {
		if len(f.edited) <= maxCompared || c.tool != ragHybrid && c.tool != ragNaive {
			continue
		}
		for _, base := range []Documents{f.Documents, f.Before} {
			found, err := base.Like(ctx, c.query, farther)
			if err != nil {
				return f.failed(ctx, c.query, err)
			}
			for _, s := range found {
				ranking[s.Document] = true
			}
		}
	}
	for _, document := range slices.Sorted(maps.Keys(f.edited)) {
		if len(f.edited) > maxCompared && !ranking[document] {
			continue
		}
		if len(f.edited) <= maxCompared {
			if mine, err := f.isMine(ctx, document); err != nil || !mine {
				if err != nil {
					return err
				}
				continue
			}
		}
		if err := f.lookAtDocument(ctx, document, false); err != nil {
			return err
		}
	}
	return nil
}

// isMine reports a document that says more of the words of this block's title, overview and queries than of any
// other's; of equal ones, the first has it. What has gone counts as it was.
func (f *refresh) isMine(ctx context.Context, document string) (bool, error) {
	body, err := f.Documents.Text(ctx, document)
	if errors.Is(err, fs.ErrNotExist) && f.Before != nil {
		body, err = f.Before.Text(ctx, document)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, f.failed(ctx, document, err)
	}
	best, most := "", -1.0
	for _, b := range f.memory.Blocks {
		t := b.SubTopic
		about := text.Coverage(body, strings.Join(append([]string{t.Title, t.Overview}, t.Queries...), "\n"))
		if !b.Unfinished && about > most {
			best, most = b.ID, about
		}
	}
	return best == f.old.ID, nil
}

// lookAtArrived opens results of searches that were not there before.
func (f *refresh) lookAtArrived(ctx context.Context, found []outcome) error {
	var open []call
	shown := map[string]outcome{} // by address: what the search shows of it
	for _, o := range found {
		for _, s := range f.arrived(o) {
			key := recurring.PageKey(s)
			_, may := f.tools.Lookup(openPage)
			if o.fresh = []topicqueue.Source{s}; f.looks[key] != nil || shown[s.URL].fresh != nil {
				continue
			}
			switch {
			case s.Kind == topicqueue.SourceDocument:
				if err := f.lookAtDocument(ctx, s.Document, false); err != nil {
					return err
				}
				if l := f.looks[key]; l != nil { // the search has weighed it
					l.weigh = false
				}
			case s.Kind == topicqueue.SourceWeb && may && len(open) < maxOpened:
				open, shown[s.URL] = append(open, call{tool: openPage, query: s.URL}), o
			case s.Kind != topicqueue.SourceWeb || f.Model != nil: // an engine's excerpt alone is no finding
				f.looks[key] = &look{state: changed, call: o, now: o.fresh, text: s.Text}
			}
		}
	}
	opened, err := f.ask(ctx, open)
	if err != nil {
		return err
	}
	for _, o := range opened {
		key := recurring.AddressKey(o.query)
		if !o.answer.Failed && len(o.answer.Sources) > 0 {
			f.looks[key] = &look{state: changed, call: o, now: o.answer.Sources[:1], text: o.answer.Sources[0].Text}
		} else if s := shown[o.query]; f.Model != nil {
			f.looks[key] = &look{state: changed, call: s, now: s.fresh, text: s.fresh[0].Text}
		}
	}
	return nil
}

// lookAtOthers asks for the pages that other blocks have read, and reads the documents that are most like what claims
// have lost.
func (f *refresh) lookAtOthers(ctx context.Context) error {
	for _, l := range f.losses {
		if f.Documents == nil || l.look.call.tool != recurring.ReadDocument {
			continue
		}
		sentence := topicqueue.OneLine(l.look.then.Text[l.unit.Start:l.unit.End])
		like, err := f.Documents.Like(ctx, topicqueue.Clip(sentence, maxClaim), likePassages)
		if err != nil {
			return f.failed(ctx, sentence, err)
		}
		for _, s := range like {
			key := recurring.PageKey(s)
			if f.looks[key] != nil {
				continue
			}
			if err := f.lookAtDocument(ctx, s.Document, false); err != nil {
				return err
			}
			if err := f.alignOne(ctx, f.looks[key]); err != nil {
				return err
			}
		}
	}
	var calls []call
	for _, key := range slices.Sorted(maps.Keys(f.memory.Pages)) {
		page := f.memory.Pages[key]
		_, may := f.tools.Lookup(openPage)
		if may && page.Opened && recurring.Document(key) == "" && page.URL != "" && recurring.AddressKey(page.URL) == key && f.looks[key] == nil {
			calls = append(calls, call{tool: openPage, query: page.URL, known: page.Version()})
		}
	}
	opened, err := f.ask(ctx, calls)
	if err != nil {
		return err
	}
	f.places = nil
	for _, o := range opened {
		if err := f.lookAtPage(ctx, recurring.AddressKey(o.query), o); err != nil {
			return err
		}
	}
	return nil
}

// arrived returns the results of a search that were not there, with something to read.
func (f *refresh) arrived(o outcome) (sources []topicqueue.Source) {
	if o.answer.Failed {
		return nil
	}
	var asked recurring.Asked
	for _, a := range f.old.Asked {
		if tools.Key(a.Tool, a.Query) == tools.Key(o.tool, o.query) {
			asked = a
		}
	}
	now := make([]string, len(o.answer.Sources))
	for n, s := range o.answer.Sources {
		now[n] = recurring.PageKey(s)
	}
	known := func(key string) bool { _, known := f.memory.Pages[key]; return known }
	full := f.Runner.Limit <= 0 || asked.Results >= f.Runner.Limit
	arrived, doubtful := recurring.Arrived(asked.Found, now, known, full)
	for _, n := range doubtful { // it may have stood below the others, unless it is younger than they
		compared := o.answer.Sources[n].Kind == topicqueue.SourceDocument && f.edited != nil
		if !compared && o.answer.Sources[n].Date >= f.memory.Date {
			arrived = append(arrived, n)
		}
	}
	for _, n := range arrived {
		if s := o.answer.Sources[n]; strings.TrimSpace(s.Text) != "" {
			sources = append(sources, s)
		}
	}
	return sources
}

// failed says what was being done when a text could not be read.
func (f *refresh) failed(ctx context.Context, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("compare %q with what it was on %s: %w", topicqueue.Clip(topicqueue.OneLine(what), maxLine), f.memory.Date, err)
}
