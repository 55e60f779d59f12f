package researching

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// askedAtOnce is the number of parallel calls of Refresh. They cost no model call, and rate limits apply per site.
const askedAtOnce = 6

const (
	maxOpened     = 10   // new results opened per block and refresh; for others only the search's passage is used
	longestNotice = 1500 // bytes of a notice shown instead of a page: consent, subscription, maintenance
)

// visit compares each page and document that the block has read with its earlier version, and finds new ones.
type visit struct {
	*night
	looks  looks
	made   []outcome // calls made
	calls  int
	edited map[string]bool // documents changed, added or removed in the knowledge base; nil: not computed yet
	seen   map[uint64]int  // marks of all texts that the last run read, with counts; nil: not computed yet
	broad  bool            // half of the knowledge base's documents are about the topic
}

// all requests everything that the block has read and its searches, and aligns the texts.
func (v *visit) all(ctx context.Context, pages, searches []call) error {
	opened, err := v.ask(ctx, pages)
	if err != nil {
		return err
	}
	for _, o := range opened {
		if err := v.lookAtPage(ctx, recurring.AddressKey(o.query), o); err != nil {
			return err
		}
	}
	found, err := v.ask(ctx, searches)
	if err != nil {
		return err
	}
	for _, t := range v.old.Traces {
		key := recurring.PageKey(t.Source)
		if document := recurring.Document(key); document != "" {
			err = v.lookAtDocument(ctx, document, true)
		} else if v.looks.of(t.Source, v.memory) == nil {
			err = v.lookAtExcerpt(ctx, key, t.Source, found)
		}
		if err != nil {
			return err
		}
	}
	if err := v.compareBases(ctx); err != nil {
		return err
	}
	if err := v.lookAtArrived(ctx, found); err != nil {
		return err
	}
	if err := v.lookAtShown(ctx, found); err != nil {
		return err
	}
	if err := v.lookAtBase(ctx, searches); err != nil {
		return err
	}
	for _, l := range v.looks.inOrder() {
		if err := v.align(ctx, l); err != nil {
			return err
		}
	}
	return nil
}

// pageCalls returns one call for each page that the block opened or cites.
func (v *visit) pageCalls() []call {
	if _, ok := v.tools.Lookup(openPage); !ok {
		return nil
	}
	var calls []call
	seen := map[string]bool{}
	add := func(key, address string) {
		page, known := v.memory.Pages[key]
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
		calls = append(calls, call{tool: openPage, query: address, known: page.Version()})
	}
	for _, t := range v.old.Traces {
		if t.Source.URL != "" {
			add(recurring.PageKey(t.Source), t.Source.URL)
		}
	}
	for _, a := range v.old.Asked {
		if a.Tool == openPage {
			add(recurring.AddressKey(a.Query), a.Query)
		}
	}
	return calls
}

// ask makes calls in parallel.
func (v *visit) ask(ctx context.Context, calls []call) ([]outcome, error) {
	outcomes := make([]outcome, len(calls))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(askedAtOnce)
	for i, c := range calls {
		v.calls++
		c.id = fmt.Sprintf("%s/1.%d", v.block.ID, v.calls)
		group.Go(func() (err error) {
			outcomes[i], err = v.make(groupCtx, v.run.ID, c)
			if err == nil && v.doubtful(groupCtx, outcomes[i]) {
				outcomes[i].answer.Failed, outcomes[i].answer.Sources = true, nil
			}
			return err
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	v.made = append(v.made, outcomes...)
	return outcomes, err
}

// before returns the earlier version of a page or document, with Text if all of it was read.
func (v *visit) before(ctx context.Context, key string) (topicqueue.Source, error) {
	page, known := v.memory.Pages[key]
	s := topicqueue.Source{Kind: topicqueue.SourceWeb, URL: page.URL, Title: page.Title, Hash: page.Hash,
		ETag: page.ETag, LastModified: page.LastModified}
	if s.Document = recurring.Document(key); s.Document != "" {
		s.Kind = topicqueue.SourceDocument
	}
	if !known || !page.Opened {
		return s, nil
	}
	for _, t := range v.old.Traces {
		if t.Source.Hash == page.Hash && recurring.PageKey(t.Source) == key {
			s = t.Source
		}
	}
	s.ID = topicqueue.SourceID(s)
	body, err := v.Runner.Pages.Page(ctx, v.run.ID, page.Hash)
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
func (v *visit) doubtful(ctx context.Context, o outcome) bool {
	key := recurring.AddressKey(o.query)
	if o.tool != openPage || o.answer.Failed || len(o.answer.Sources) != 1 ||
		len(o.answer.Sources[0].Text) > longestNotice {
		return false
	}
	then, err := v.before(ctx, key)
	if err != nil || then.Text == "" {
		return false
	}
	now := o.answer.Sources[0]
	old, marks := text.Units(then.Text), marksOf(now.Text)
	return len(old) >= 3 && text.Coverage(now.Title+"\n"+now.Text, then.Title) == 0 &&
		!slices.ContainsFunc(old, func(u text.Unit) bool { return marks[u.Mark] })
}

// lookAtPage records the comparison of a requested page.
func (v *visit) lookAtPage(ctx context.Context, key string, o outcome) (err error) {
	l := &look{call: o, cited: true}
	v.looks[key] = l
	if l.then, err = v.before(ctx, key); err != nil {
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
		if l.now[0].Hash == v.memory.Pages[key].Hash {
			l.state = asItWas
		}
	}
	return nil
}

// lookAtExcerpt records the comparison of a page that was never opened, from the results of searches.
func (v *visit) lookAtExcerpt(ctx context.Context, key string, then topicqueue.Source, found []outcome) (err error) {
	for _, o := range found {
		for _, s := range o.answer.Sources {
			if recurring.PageKey(s) != key || strings.TrimSpace(s.Text) == "" {
				continue
			}
			l := &look{state: changed, cited: true, call: o, then: then, now: []topicqueue.Source{s}, text: s.Text,
				excerpt: s.Kind == topicqueue.SourceWeb}
			if l.then.Text, err = v.Runner.Pages.Page(ctx, v.run.ID, then.Hash); err != nil {
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

// lookAtArrived opens new results of searches.
func (v *visit) lookAtArrived(ctx context.Context, found []outcome) error {
	var open []call
	shown := map[string]outcome{} // by address: the search's outcome with its passage
	for _, o := range found {
		for _, s := range v.arrived(o) {
			key := recurring.PageKey(s)
			_, may := v.tools.Lookup(openPage)
			if o.fresh = []topicqueue.Source{s}; v.looks[key] != nil || shown[s.URL].fresh != nil {
				continue
			}
			switch {
			case s.Kind == topicqueue.SourceDocument:
				if err := v.lookAtDocument(ctx, s.Document, false); err != nil {
					return err
				}
				if l := v.looks[key]; l != nil { // the search ranked it
					l.weigh = false
				}
			case s.Kind == topicqueue.SourceWeb && may && len(open) < maxOpened:
				open, shown[s.URL] = append(open, call{tool: openPage, query: s.URL}), o
			case s.Kind != topicqueue.SourceWeb || v.Model != nil: // a search engine's excerpt alone is not evidence
				v.looks[key] = &look{state: changed, call: o, now: o.fresh, text: s.Text}
			}
		}
	}
	opened, err := v.ask(ctx, open)
	if err != nil {
		return err
	}
	for _, o := range opened {
		key := recurring.AddressKey(o.query)
		if !o.answer.Failed && len(o.answer.Sources) > 0 {
			v.looks[key] = &look{state: changed, call: o, now: o.answer.Sources[:1], text: o.answer.Sources[0].Text}
		} else if s := shown[o.query]; v.Model != nil {
			v.looks[key] = &look{state: changed, call: s, now: s.fresh, text: s.fresh[0].Text}
		}
	}
	return nil
}

// arrived returns the new results of a search that have text.
func (v *visit) arrived(o outcome) (sources []topicqueue.Source) {
	if o.answer.Failed {
		return nil
	}
	var asked recurring.Asked
	for _, a := range v.old.Asked {
		if tools.Key(a.Tool, a.Query) == tools.Key(o.tool, o.query) {
			asked = a
		}
	}
	now := make([]string, len(o.answer.Sources))
	for n, s := range o.answer.Sources {
		now[n] = recurring.PageKey(s)
	}
	known := func(key string) bool { _, known := v.memory.Pages[key]; return known }
	full := v.Runner.Limit <= 0 || asked.Results >= v.Runner.Limit
	arrived, doubtful := recurring.Arrived(asked.Found, now, known, full)
	for _, n := range doubtful { // it may have been ranked too low before, unless it is newer than the last run
		compared := o.answer.Sources[n].Kind == topicqueue.SourceDocument && v.edited != nil
		if !compared && o.answer.Sources[n].Date >= v.memory.Date {
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

// lookAtOthers compares the documents most similar to lost sentences, and the pages that other blocks read.
func (v *visit) lookAtOthers(ctx context.Context, losses []loss) error {
	if err := v.lookAtLike(ctx, losses); err != nil {
		return err
	}
	var calls []call
	_, may := v.tools.Lookup(openPage)
	for _, key := range slices.Sorted(maps.Keys(v.memory.Pages)) {
		page := v.memory.Pages[key]
		opened := page.Opened && page.URL != "" && recurring.Document(key) == ""
		if may && opened && recurring.AddressKey(page.URL) == key && v.looks[key] == nil {
			calls = append(calls, call{tool: openPage, query: page.URL, known: page.Version()})
		}
	}
	opened, err := v.ask(ctx, calls)
	if err != nil {
		return err
	}
	for _, o := range opened {
		if err := v.lookAtPage(ctx, recurring.AddressKey(o.query), o); err != nil {
			return err
		}
	}
	return nil
}

// keepTexts stores the cited texts of documents in the run's bundle and records that they were read.
func (v *visit) keepTexts(ctx context.Context, traces []topicqueue.ToolTrace) error {
	for _, l := range v.looks.inOrder() {
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
			// the whole document comes last and must be first
			o.answer.Sources = append([]topicqueue.Source{s}, o.answer.Sources...)
		}
		shows := func(t topicqueue.ToolTrace) bool { return t.ToolID == l.call.id }
		if !cited && !l.cited || l.state == asItWas && !slices.ContainsFunc(traces, shows) {
			continue
		}
		for _, s := range o.answer.Sources {
			if err := v.Runner.Pages.PutPage(ctx, v.run.ID, s.Hash, s.Text); err != nil {
				return v.failed(ctx, s.Title, err)
			}
		}
		v.made = append(v.made, o)
	}
	return nil
}

// make makes one call.
func (r *Researcher) make(ctx context.Context, run string, c call) (outcome, error) {
	answer, err := r.Runner.Call(ctx, run, c.tool, tools.Call{ToolID: c.id, Query: c.query, Known: c.known})
	if err != nil {
		return outcome{}, fmt.Errorf("call %s for %s: %w", c.tool, c.id, err)
	}
	return outcome{call: c, answer: answer}, nil
}
