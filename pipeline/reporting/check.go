package reporting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/topicqueue"
)

// readTime bounds the reading of the sources' texts: a report does not wait longer for a storage that is away.
const readTime = 10 * time.Second

// part is one text of a report with what it was written from.
type part struct {
	title  string
	body   *string
	claims []claim
	whole  bool // put together from claims: each statement ends with its marker
	past   *keptPart
	told   *told
}

// parts returns the texts of a draft that can be checked, in the order of the report.
func (w *writer) checkable(d *draft) []part {
	var all []claim
	for _, s := range d.sections {
		all = append(all, s.claims...)
	}
	parts := []part{{body: &d.opening.body, claims: all, whole: d.opening.local, past: d.opening.past, told: &d.opening.told}}
	for i := range d.sections {
		s := &d.sections[i]
		parts = append(parts, part{title: s.title, body: &s.body, claims: s.claims, whole: s.local, past: s.past, told: &s.told})
	}
	return append(parts, part{title: w.words.conclusion, body: &d.conclusion.body, claims: all, whole: d.conclusion.local, past: d.conclusion.past, told: &d.conclusion.told})
}

// check checks each sentence of a draft that cites something, repairs, marks or removes what its sources do not bear
// out, and says what it did. Whatever goes wrong in it, the draft comes back as it was: the error is the end of ctx and
// nothing else.
func (w *writer) check(ctx context.Context, written draft) (d draft, v *Verification, err error) {
	defer func() {
		if p := recover(); p != nil { // a report is never lost to its check
			d, v, err = written, newVerification(), nil
			v.Status, v.Reason = citation.StatusUnverified, fmt.Sprintf("the check broke off: %v", p)
		}
	}()
	d = written
	d.sections = slices.Clone(written.sections)
	d.opening.told, d.conclusion.told = told{}, told{}
	for i := range d.sections {
		d.sections[i].told = told{}
	}
	c := &checker{w: w, v: newVerification(), sources: map[string]topicqueue.Source{}}
	parts := w.checkable(&d)
	if err := c.read(ctx, parts); err != nil {
		return written, nil, err
	}
	if err := c.judge(ctx, parts); err != nil {
		return written, nil, err
	}
	c.v.count()
	if c.unread > 0 && c.unread == c.cited {
		c.v.Status, c.v.Reason = citation.StatusUnverified, "the texts of the sources could not be read: "+c.trouble
	} else if c.unread > 0 {
		c.v.Reason = fmt.Sprintf("the texts of %d of %d sources could not be read: %s", c.unread, c.cited, c.trouble)
	}
	c.v.Counts.SourcesUnread = c.unread
	return d, c.v, nil
}

// checker is the work on one verification.
type checker struct {
	w       *writer
	v       *Verification
	corpus  *support.Corpus
	sources map[string]topicqueue.Source // by source id
	cited   int                          // sources
	unread  int
	trouble string // why the first of them was not read
}

// sourceOf returns the source id behind a citation id.
func (c *checker) sourceOf(id string) string {
	s, _ := c.w.source(id)
	return s.ID
}

// read reads the texts of all sources that are cited.
func (c *checker) read(ctx context.Context, parts []part) error {
	var ids []string
	for _, p := range parts {
		ids = append(ids, citations(p.claims)...)
		for _, s := range statementsOf(*p.body, p.whole) {
			s, _ = c.w.linkedStatement(p, s)
			ids = append(ids, s.ids...)
		}
	}
	var sources []topicqueue.Source
	for _, id := range ids {
		s, ok := c.w.source(id)
		if _, known := c.sources[s.ID]; ok && !known {
			c.sources[s.ID] = s
			if s.Hash != "" || s.Text != "" { // else it was only named: there is nothing to read
				sources = append(sources, s)
			}
		}
	}
	c.cited = len(sources)
	texts, troubles := make([]string, len(sources)), make([]error, len(sources))
	readCtx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	var g errgroup.Group
	g.SetLimit(8)
	for i, s := range sources {
		if texts[i] = cmp.Or(s.Text, c.w.texts[s.ID]); texts[i] != "" || c.w.Page == nil {
			continue
		}
		g.Go(func() (err error) {
			defer func() { // of a goroutine of its own: the one above cannot see it
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v", p)
				}
			}()
			texts[i], troubles[i] = c.w.Page(readCtx, c.w.run.ID, s.Hash)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		panic(err)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	all := make([]support.Source, len(sources))
	for i, s := range sources {
		all[i] = SupportSource(s, texts[i])
		if texts[i] == "" {
			c.unread++
			if c.trouble == "" {
				c.trouble = cmp.Or(troubles[i], errNoText).Error()
			}
		}
	}
	c.corpus = support.New(all)
	return nil
}

var errNoText = errors.New("there is no text")

// SupportSource returns a source as claim support is checked by it. text: that of s.
func SupportSource(s topicqueue.Source, text string) support.Source {
	about := append([]string{s.Title, s.Publisher, s.Date, s.Document}, s.Section...)
	about = append(append(about, s.Authors...), s.URL)
	return support.Source{ID: s.ID, Text: text, About: strings.Join(slices.DeleteFunc(about, func(a string) bool { return a == "" }), ". ")}
}

// decision is what becomes of one statement.
type decision struct {
	statement
	verdict support.Verdict
	action  string
	checked []CheckedSentence
	text    string // in place of the statement, when changed
	changed bool
	meaning bool
}

// judge decides about all statements of all parts, asks for repairs, and changes the parts accordingly.
func (c *checker) judge(ctx context.Context, parts []part) error {
	decisions := make([][]decision, len(parts))
	for i, p := range parts {
		if p.past != nil { // it was checked when it was written, and its sources are as they were
			*p.told = p.past.told
			c.v.Counts.FactsUncited += p.told.FactsUncited
			continue
		}
		for _, s := range statementsOf(*p.body, p.whole) {
			if linked, ok := c.w.linkedStatement(p, s); ok {
				decisions[i] = append(decisions[i], c.checkLinked(p, s, linked))
				continue
			}
			if len(s.ids) == 0 {
				c.cite(p, s, &decisions[i])
				continue
			}
			if s.text == "" {
				continue // markers alone, of a cell
			}
			decisions[i] = append(decisions[i], decision{statement: s, verdict: c.check(p, s, s.ids), action: ActionKept})
		}
	}
	if err := c.lift(ctx, decisions); err != nil {
		return err
	}
	if err := c.repairAll(ctx, parts, decisions); err != nil {
		return err
	}
	for i, p := range parts {
		for j := range decisions[i] {
			d := &decisions[i][j]
			if len(d.checked) == 0 {
				c.settle(p, d)
			}
			p.told.Checked = append(p.told.Checked, d.checked...)
		}
		for _, s := range p.told.Checked {
			switch s.Rules {
			case c.v.Rules:
				s.Rules = 0
			case 0: // kept from a night before the rules had numbers
				s.Rules = -1
			}
			c.v.Sentences = append(c.v.Sentences, s)
		}
		body := *p.body
		for _, d := range slices.Backward(decisions[i]) {
			if d.changed {
				body = d.withText(body, d.text)
			}
		}
		if body != *p.body {
			*p.body = readable(body)
		}
	}
	return nil
}

// check judges a statement by the sources behind these citations.
func (c *checker) check(p part, s statement, citationIDs []string) support.Verdict {
	ids := make([]string, len(citationIDs))
	for i, id := range citationIDs {
		ids[i] = c.sourceOf(id)
	}
	return verdictOn(c.corpus, false, s.head, s.text, ids)
}

// settle keeps a statement, or marks or removes it when it is unsupported.
func (c *checker) settle(p part, d *decision) {
	if d.verdict.Result == support.Unsupported {
		switch c.w.run.Options.OnUnsupported {
		case topicqueue.UnsupportedRemove:
			d.action, d.changed, d.text = ActionRemoved, true, ""
		default:
			d.action, d.changed, d.text = ActionMarked, true, c.w.words.marked(d.raw(*p.body), d.row)
		}
	}
	d.checked = []CheckedSentence{c.entry(p, d.statement, d.ids, d.verdict, d.action)}
	d.checked[0].Meaning = d.meaning
}

func (s statement) raw(body string) string { return body[s.start:s.end] }

// entry writes a decision down.
func (c *checker) entry(p part, s statement, ids []string, v support.Verdict, action string) CheckedSentence {
	e := CheckedSentence{
		Text: s.text, Head: s.head, Section: p.title, Citations: ids, Verdict: v.Result, Reason: v.Reason, Detail: v.Detail,
		Source: v.Source, Start: v.Start, End: v.End, Action: action, Rules: support.Rules,
	}
	if source, ok := c.sources[v.Source]; ok && source.Hash != "" {
		e.Page = path.Join("pages", source.Hash+".txt")
	}
	return e
}

// checkLinked judges a sentence by what it links, unless a claim bears out what that does not.
func (c *checker) checkLinked(p part, s, linked statement) decision {
	d := decision{statement: linked, verdict: c.check(p, linked, linked.ids), action: ActionKept}
	if d.verdict.Result != support.Supported && citable(p, s) {
		if cited, ok := c.citing(p, s); ok {
			return cited
		}
	}
	return d
}

// citable reports a sentence that states facts and can get a citation.
func citable(p part, s statement) bool { return !p.whole && !s.row && support.Factual(s.text) }

// cite gives a sentence that states facts and cites nothing the citation of the claim that bears it out, when there is just
// one; else it is counted.
func (c *checker) cite(p part, s statement, out *[]decision) {
	if !citable(p, s) {
		return
	}
	if d, ok := c.citing(p, s); ok {
		*out = append(*out, d)
	} else {
		p.missed(c.v)
	}
}

// citing gives a sentence the citation of the claim that bears it out; ok is false when there is none, or more than one.
func (c *checker) citing(p part, s statement) (d decision, ok bool) {
	id, alone := "", true
	var verdict support.Verdict
	for _, claim := range p.claims {
		if id == claim.CitationID || !alone {
			continue
		}
		v := support.Check(s.text, []support.Source{{ID: claim.source.ID, Text: claim.quote(), About: SupportSource(claim.source, "").About}})
		if v.Result == support.Supported {
			alone = id == ""
			id = claim.CitationID
		}
	}
	if id == "" || !alone {
		return d, false
	}
	if verdict = c.check(p, s, []string{id}); verdict.Result != support.Supported {
		return d, false
	}
	return decision{
		statement: s, verdict: verdict, action: ActionCited, changed: true, text: withMarkers(s.raw(*p.body), []string{id}),
		checked: []CheckedSentence{c.entry(p, s, []string{id}, verdict, ActionCited)},
	}, true
}

// missed counts a sentence with facts that cites nothing.
func (p part) missed(v *Verification) {
	p.told.FactsUncited++
	v.Counts.FactsUncited++
}

// lift asks the embedding model, when there is one, about sentences that only their choice of words leaves open. Its
// failure changes nothing.
func (c *checker) lift(ctx context.Context, decisions [][]decision) error {
	if c.w.Embed == nil {
		return nil
	}
	var open []*decision
	var pairs []support.Pair
	for i := range decisions {
		for j := range decisions[i] {
			if d := &decisions[i][j]; support.CanLift(d.verdict) {
				open = append(open, d)
				pairs = append(pairs, support.Pair{Sentence: d.statement.text, Passage: c.corpus.Passage(d.verdict)})
			}
		}
	}
	same, err := support.Lift(ctx, c.w.Embed, pairs)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return nil
	}
	for i, d := range open {
		if same[i] {
			d.verdict.Result, d.verdict.Reason, d.meaning = support.Supported, "", true
		}
	}
	return nil
}
