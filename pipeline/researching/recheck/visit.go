package recheck

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// askedAtOnce is the number of parallel calls of Refresh. They cost no model call, and rate limits apply per site.
const askedAtOnce = 6

const (
	MaxOpened     = 10   // new results opened per block and refresh; for others only the search's passage is used
	longestNotice = 1500 // bytes of a notice shown instead of a page: consent, subscription, maintenance
)

// Visit compares each page and document that the block has read with its earlier version, and finds new ones.
type Visit struct {
	*Night
	Made   []Result // calls made
	found  []Result // searches of Made
	looks  looks
	calls  int
	edited map[string]bool // documents changed, added or removed in the knowledge base; nil: not computed yet
	seen   map[uint64]int  // marks of all texts that the last run read, with counts; nil: not computed yet
	broad  bool            // half of the knowledge base's documents are about the topic
	words  *text.Index     // of the compared texts
	most   float64         // highest topic coverage of a claim
}

// Open returns a visit that has not requested anything yet.
func (n *Night) Open() *Visit { return &Visit{Night: n, looks: looks{}} }

// all requests everything that the block has read and its searches, and aligns the texts.
func (v *Visit) all(ctx context.Context, pages, searches []Call) error {
	opened, err := v.ask(ctx, pages)
	if err != nil {
		return err
	}
	for _, o := range opened {
		if err := v.lookAtPage(ctx, recurring.AddressKey(o.Query), o); err != nil {
			return err
		}
	}
	if v.found, err = v.ask(ctx, searches); err != nil {
		return err
	}
	for _, t := range v.Old.Traces {
		key := recurring.PageKey(t.Source)
		if document := recurring.Document(key); document != "" {
			err = v.lookAtDocument(ctx, document, true)
		} else if v.looks.of(t.Source, v.Memory) == nil {
			err = v.lookAtExcerpt(ctx, key, t.Source)
		}
		if err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{v.compareBases, v.lookAtArrived, v.lookAtBase} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	for _, l := range v.looks.inOrder() {
		if err := v.align(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// PageCalls returns one call for each page that the block opened or cites.
func (v *Visit) PageCalls() []Call {
	if _, ok := v.Tools.Lookup(tools.NameOpenPage); !ok {
		return nil
	}
	var calls []Call
	seen := map[string]bool{}
	add := func(key, address string) {
		page, known := v.Memory.Pages[key]
		if !known || !page.Opened || seen[key] || recurring.Document(key) != "" {
			return
		}
		seen[key] = true
		if page.URL != "" { // target of the redirect
			address = page.URL
			if at := recurring.AddressKey(address); seen[at] && at != key {
				return
			}
			seen[recurring.AddressKey(address)] = true
		}
		calls = append(calls, Call{Tool: tools.NameOpenPage, Query: address, Known: page.Version()})
	}
	for _, t := range v.Old.Traces {
		if t.Source.URL != "" {
			add(recurring.PageKey(t.Source), t.Source.URL)
		}
	}
	for _, a := range v.Old.Asked {
		if a.Tool == tools.NameOpenPage {
			add(recurring.AddressKey(a.Query), a.Query)
		}
	}
	return calls
}

// ask makes calls in parallel.
func (v *Visit) ask(ctx context.Context, calls []Call) ([]Result, error) {
	for i := range calls {
		v.calls++
		calls[i].ID = fmt.Sprintf("%s/1.%d", v.Block.ID, v.calls)
	}
	results, err := Make(ctx, v.Runner, v.Run.ID, calls, askedAtOnce)
	for i, r := range results {
		if err == nil && v.doubtful(ctx, r) {
			results[i].Answer.Failed, results[i].Answer.Sources = true, nil
		}
	}
	v.Made = append(v.Made, results...)
	return results, err
}

// before returns the earlier version of a page or document, with Text if all of it was read.
func (v *Visit) before(ctx context.Context, key string) (topicqueue.Source, error) {
	page, known := v.Memory.Pages[key]
	s := topicqueue.Source{Kind: topicqueue.SourceWeb, URL: page.URL, Title: page.Title, Hash: page.Hash,
		ETag: page.ETag, LastModified: page.LastModified}
	if s.Document = recurring.Document(key); s.Document != "" {
		s.Kind = topicqueue.SourceDocument
	}
	if !known || !page.Opened {
		return s, nil
	}
	for _, t := range v.Old.Traces {
		if t.Source.Hash == page.Hash && recurring.PageKey(t.Source) == key {
			s = t.Source
		}
	}
	s.ID = topicqueue.SourceID(s)
	body, err := v.Runner.Pages.Page(ctx, v.Run.ID, page.Hash)
	if ctx.Err() != nil {
		return s, context.Cause(ctx)
	}
	if err == nil { // otherwise the text is unknown
		s.Text = body
	}
	return s, nil
}

// doubtful reports whether a known page was replaced by a notice: a short text with no sentence of the page and no word
// of its title. Such a page counts as unavailable.
func (v *Visit) doubtful(ctx context.Context, o Result) bool {
	key := recurring.AddressKey(o.Query)
	if o.Tool != tools.NameOpenPage || o.Answer.Failed || len(o.Answer.Sources) != 1 ||
		len(o.Answer.Sources[0].Text) > longestNotice {
		return false
	}
	then, err := v.before(ctx, key)
	if err != nil || then.Text == "" {
		return false
	}
	now := o.Answer.Sources[0]
	old, marks := text.Units(then.Text), marksOf(now.Text)
	return len(old) >= 3 && text.Coverage(now.Title+"\n"+now.Text, then.Title) == 0 &&
		!slices.ContainsFunc(old, func(u text.Unit) bool { return marks[u.Mark] })
}

// lookAtPage records the comparison of a requested page.
func (v *Visit) lookAtPage(ctx context.Context, key string, o Result) (err error) {
	l := &look{call: o, cited: true}
	v.looks[key] = l
	if l.then, err = v.before(ctx, key); err != nil {
		return err
	}
	switch {
	case o.Answer.Unchanged:
		l.state, l.now, l.text = asItWas, []topicqueue.Source{l.then}, l.then.Text
	case o.Answer.Gone:
		l.state = gone
	case o.Answer.Failed || len(o.Answer.Sources) == 0:
	default:
		l.state, l.now, l.text = changed, o.Answer.Sources[:1], o.Answer.Sources[0].Text
		if l.now[0].Hash == v.Memory.Pages[key].Hash {
			l.state = asItWas
		}
	}
	return nil
}

// lookAtExcerpt records the comparison of a page that was never opened, from the results of searches.
func (v *Visit) lookAtExcerpt(ctx context.Context, key string, then topicqueue.Source) (err error) {
	for _, o := range v.found {
		for _, s := range o.Answer.Sources {
			if recurring.PageKey(s) != key || strings.TrimSpace(s.Text) == "" {
				continue
			}
			l := &look{state: changed, cited: true, call: o, then: then, now: []topicqueue.Source{s}, text: s.Text,
				excerpt: s.Kind == topicqueue.SourceWeb}
			if l.then.Text, err = v.Runner.Pages.Page(ctx, v.Run.ID, then.Hash); err != nil {
				return v.failed(ctx, then.Title, err)
			}
			if v.looks[key] = l; s.Hash == then.Hash {
				l.state = asItWas
				return nil
			}
		}
	}
	return nil
}

// lookAtArrived opens new results of searches, and changed documents among their results.
func (v *Visit) lookAtArrived(ctx context.Context) error {
	var open []Call
	shown := map[string]*look{} // by address: the passage that the search returned
	for _, o := range v.found {
		for _, s := range v.arrived(o) {
			key := recurring.PageKey(s)
			_, may := v.Tools.Lookup(tools.NameOpenPage)
			if v.looks[key] != nil || shown[s.URL] != nil {
				continue
			}
			passage := &look{state: changed, call: o, now: []topicqueue.Source{s}, text: s.Text}
			switch {
			case s.Kind == topicqueue.SourceDocument:
				if err := v.lookAtDocument(ctx, s.Document, false); err != nil {
					return err
				}
				if l := v.looks[key]; l != nil { // the search ranked it
					l.weigh = false
				}
			case s.Kind == topicqueue.SourceWeb && may && len(open) < MaxOpened:
				open, shown[s.URL] = append(open, Call{Tool: tools.NameOpenPage, Query: s.URL}), passage
			case s.Kind != topicqueue.SourceWeb || v.Modelled: // a search engine's excerpt alone is not evidence
				v.looks[key] = passage
			}
		}
	}
	opened, err := v.ask(ctx, open)
	if err != nil {
		return err
	}
	for _, o := range opened {
		key := recurring.AddressKey(o.Query)
		if !o.Answer.Failed && len(o.Answer.Sources) > 0 {
			v.looks[key] = &look{state: changed, call: o, now: o.Answer.Sources[:1], text: o.Answer.Sources[0].Text}
		} else if v.Modelled {
			v.looks[key] = shown[o.Query]
		}
	}
	return nil
}

// arrived returns the results of a search that the last run did not get, and changed documents. A result above an
// old one is new. One below all old ones may have moved up when others disappeared, if the old list had its maximum
// length: it is new if its date is.
func (v *Visit) arrived(o Result) (sources []topicqueue.Source) {
	var asked recurring.Asked
	for _, a := range v.Old.Asked {
		if tools.Key(a.Tool, a.Query) == tools.Key(o.Tool, o.Query) {
			asked = a
		}
	}
	lastOld := -1
	for i, s := range o.Answer.Sources {
		if slices.Contains(asked.Found, recurring.PageKey(s)) {
			lastOld = i
		}
	}
	full := v.Runner.Limit <= 0 || asked.Results >= v.Runner.Limit
	for i, s := range o.Answer.Sources {
		key := recurring.PageKey(s)
		_, known := v.Memory.Pages[key]
		known = known || key == ""
		compared := s.Kind == topicqueue.SourceDocument && v.edited != nil
		above := !full || i < lastOld || !compared && s.Date >= v.Memory.Date
		if fresh := !known && above || v.edited[s.Document]; fresh && strings.TrimSpace(s.Text) != "" {
			sources = append(sources, s)
		}
	}
	return sources
}

// lookAtOthers compares the documents most similar to lost sentences, and the pages that other blocks read.
func (v *Visit) lookAtOthers(ctx context.Context, losses []loss) error {
	if err := v.lookAtLike(ctx, losses); err != nil {
		return err
	}
	var calls []Call
	_, may := v.Tools.Lookup(tools.NameOpenPage)
	for _, key := range slices.Sorted(maps.Keys(v.Memory.Pages)) {
		page := v.Memory.Pages[key]
		opened := page.Opened && page.URL != "" && recurring.Document(key) == ""
		if may && opened && recurring.AddressKey(page.URL) == key && v.looks[key] == nil {
			calls = append(calls, Call{Tool: tools.NameOpenPage, Query: page.URL, Known: page.Version()})
		}
	}
	opened, err := v.ask(ctx, calls)
	if err != nil {
		return err
	}
	for _, o := range opened {
		if err := v.lookAtPage(ctx, recurring.AddressKey(o.Query), o); err != nil {
			return err
		}
	}
	return nil
}

// KeepTexts stores the cited texts of documents in the run's bundle and records that they were read.
func (v *Visit) KeepTexts(ctx context.Context, traces []topicqueue.ToolTrace) error {
	for _, l := range v.looks.inOrder() {
		if l.call.Tool != recurring.ReadDocument && l.state != asItWas || len(l.now) == 0 {
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
			// the whole document comes last and must be first
			o.Answer.Sources = append([]topicqueue.Source{s}, o.Answer.Sources...)
		}
		shows := func(t topicqueue.ToolTrace) bool { return t.ToolID == l.call.ID }
		if !cited && !l.cited || l.state == asItWas && !slices.ContainsFunc(traces, shows) {
			continue
		}
		for _, s := range o.Answer.Sources {
			if err := v.Runner.Pages.PutPage(ctx, v.Run.ID, s.Hash, s.Text); err != nil {
				return v.failed(ctx, s.Title, err)
			}
		}
		v.Made = append(v.Made, o)
	}
	return nil
}
