package reporting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	answer bool // an answer, which is all there is: what it does not cite is marked
}

// parts returns the texts of a draft that can be checked, in the order of the report.
func (w *writer) checkable(d *draft) []part {
	all := d.opening.claims
	for _, s := range d.sections {
		all = append(all, s.claims...)
	}
	parts := []part{{body: &d.opening.body, claims: all, whole: d.opening.local, past: d.opening.past, told: &d.opening.told,
		answer: len(d.opening.claims) > 0}}
	for i := range d.sections {
		s := &d.sections[i]
		parts = append(parts, part{title: s.title, body: &s.body, claims: s.claims, whole: s.local, past: s.past, told: &s.told})
	}
	return append(parts, part{title: w.texts.Conclusion.String(), body: &d.conclusion.body, claims: all, whole: d.conclusion.local, past: d.conclusion.past, told: &d.conclusion.told})
}

// check checks each sentence of a draft that cites something, repairs, marks or removes what its sources do not
// say, and says what it did. Whatever goes wrong in it, the draft comes back as it was: the error is the end of ctx
// and nothing else.
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
	c := &checker{m: w.material, v: newVerification(), sources: map[string]topicqueue.Source{}}
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
	if c.silent != nil {
		c.v.Reason = strings.TrimPrefix(fmt.Sprintf("%s; %v", c.v.Reason, c.silent), "; ")
	}
	c.v.Counts.SourcesUnread = c.unread
	return d, c.v, nil
}

// checker is the work on one verification.
type checker struct {
	m       *material
	v       *Verification
	corpus  *support.Corpus
	sources map[string]topicqueue.Source // by source id
	cited   int                          // sources
	unread  int
	trouble string // why the first of them was not read
	silent  error  // why a judge gave no answer, the first time

	unsourced []statement // of an answer: sentences with facts that cite nothing
}

// sourceOf returns the source id behind a citation id.
func (c *checker) sourceOf(id string) string {
	s, _ := c.m.source(id)
	return s.ID
}

// read reads the texts of all sources that are cited.
func (c *checker) read(ctx context.Context, parts []part) error {
	var ids []string
	for _, p := range parts {
		ids = append(ids, citations(p.claims)...)
		for _, s := range statementsOf(*p.body, p.whole) {
			s, _ = c.m.linkedStatement(p, s)
			ids = append(ids, s.ids...)
		}
	}
	var sources []topicqueue.Source
	for _, id := range ids {
		s, ok := c.m.source(id)
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
		if texts[i] = cmp.Or(s.Text, c.m.read[s.ID]); texts[i] != "" || c.m.Page == nil {
			continue
		}
		g.Go(func() (err error) {
			defer func() { // of a goroutine of its own: the one above cannot see it
				if p := recover(); p != nil {
					err = fmt.Errorf("panic: %v", p)
				}
			}()
			texts[i], troubles[i] = c.m.Page(readCtx, c.m.run.ID, s.Hash)
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
	about = append(append(about, s.Authors...), s.URL, s.Head)
	if !s.RetrievedAt.IsZero() { // reports say when they looked
		about = append(about, s.RetrievedAt.UTC().Format(time.DateOnly))
	}
	about = slices.DeleteFunc(about, func(a string) bool { return a == "" })
	return support.Source{ID: s.ID, Text: text, About: strings.Join(about, ". ")}
}

// decision is what becomes of one statement.
type decision struct {
	statement
	findings support.Findings
	judged   support.Judged
	verdict  support.Result
	action   string
	checked  []CheckedSentence
	text     string // in place of the statement, when changed
	proposed string // correction
	refused  string // why that is not taken, or there is none
	changed  bool
}

// judge decides about all statements of all parts, asks for repairs, and changes the parts accordingly.
func (c *checker) judge(ctx context.Context, parts []part) error {
	decisions := make([][]decision, len(parts))
	for i, p := range parts {
		if told, ok := c.again(p); ok {
			*p.told = told
			c.v.Counts.FactsUncited += p.told.FactsUncited
			c.v.Uncited = append(c.v.Uncited, p.told.Uncited...)
			continue
		}
		for _, s := range statementsOf(*p.body, p.whole) {
			if d, ok := c.found(p, s); ok {
				decisions[i] = append(decisions[i], d)
			}
		}
	}
	if err := c.askJudge(ctx, parts, decisions); err != nil {
		return err
	}
	for i, p := range parts {
		for j := range decisions[i] {
			d := &decisions[i][j]
			d.verdict = d.findings.Decide(d.judged)
		}
		decisions[i] = slices.DeleteFunc(decisions[i], func(d decision) bool {
			wrong := d.action == ActionCited && d.verdict == support.Unsupported
			if wrong {
				c.missed(p, d.statement)
			}
			return wrong
		})
	}
	if err := c.repairAll(ctx, parts, decisions); err != nil {
		return err
	}
	for i, p := range parts {
		c.settleAll(p, decisions[i])
	}
	return nil
}

// again returns what was found when a part of the last report was checked, looked up in the texts of tonight. ok is
// false when the part is new, or when a sentence of it comes out otherwise: then it is checked as a new one.
func (c *checker) again(p part) (out told, ok bool) {
	if p.past == nil {
		return out, false
	}
	out = p.past.told
	out.Checked = slices.Clone(out.Checked)
	for i := range out.Checked {
		s := &out.Checked[i]
		if !slices.ContainsFunc(s.Citations, func(id string) bool { return c.m.reread[id] }) {
			continue
		}
		ids := c.sourcesOf(s.Citations)
		findings := c.corpus.Check(s.Text, s.Head, ids)
		judged := c.corpus.Prove(s.Judge, ids)
		if findings.Decide(judged) != s.Verdict {
			*p.body = strings.ReplaceAll(*p.body, c.m.mark(), "")
			return told{}, false
		}
		c.place(s, ids, findings, judged)
		s.Rules = support.Rules
	}
	return out, true
}

// found looks for a statement in its sources. ok is false when it cites nothing.
func (c *checker) found(p part, s statement) (d decision, ok bool) {
	if len(s.ids) == 0 && citable(p, s) {
		if d, ok := c.citing(p, s); ok {
			return d, true
		}
	}
	if linked, ok := c.m.linkedStatement(p, s); ok {
		s = linked
	}
	switch {
	case len(s.ids) == 0 && citable(p, s):
		c.missed(p, s)
		return d, false
	case len(s.ids) == 0, s.text == "": // markers alone, of a cell
		return d, false
	}
	return decision{statement: s, findings: c.look(p, s), action: ActionKept}, true
}

// look looks for a statement in the sources behind its citations.
func (c *checker) look(p part, s statement) support.Findings {
	return c.corpus.Check(s.text, s.head, c.sourcesOf(s.ids))
}

// sourcesOf returns the source ids behind citation ids.
func (c *checker) sourcesOf(citationIDs []string) []string {
	ids := make([]string, len(citationIDs))
	for i, id := range citationIDs {
		ids[i] = c.sourceOf(id)
	}
	return ids
}

// settleAll keeps, marks or removes the statements of a part, and writes down what was decided.
func (c *checker) settleAll(p part, decisions []decision) {
	for i := range decisions {
		d := &decisions[i]
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
	if p.answer {
		decisions = c.markUncited(*p.body, decisions)
	}
	body := *p.body
	for _, d := range slices.Backward(decisions) {
		if d.changed {
			body = d.withText(body, d.text)
		}
	}
	if body != *p.body {
		*p.body = readable(body)
	}
}

// settle keeps a statement, or marks or removes it when it is unsupported.
func (c *checker) settle(p part, d *decision) {
	switch {
	case d.verdict != support.Unsupported:
		if d.action == ActionCited {
			d.changed, d.text = true, withMarkers(d.raw(*p.body), d.ids)
		}
	case c.m.run.Options.OnUnsupported == topicqueue.UnsupportedRemove:
		d.action, d.changed, d.text = ActionRemoved, true, ""
	default:
		d.action, d.changed, d.text = ActionMarked, true, c.m.marked(d.raw(*p.body), d.row)
	}
	d.checked = []CheckedSentence{c.entry(p, *d)}
}

func (s statement) raw(body string) string { return body[s.start:s.end] }

// entry writes a decision down.
func (c *checker) entry(p part, d decision) CheckedSentence {
	e := CheckedSentence{
		Text: d.statement.text, Head: d.head, Section: p.title, Citations: d.ids, Verdict: d.verdict,
		Action: d.action, Rules: support.Rules, Proposed: d.proposed, Refused: d.refused,
	}
	c.place(&e, c.sourcesOf(d.ids), d.findings, d.judged)
	return e
}

// place writes down what was found of a sentence in these sources, and the place that shows it best.
func (c *checker) place(s *CheckedSentence, ids []string, f support.Findings, j support.Judged) {
	shown := c.corpus.Shown(s.Text, ids, f, j)
	s.Findings, s.Judge, s.Source, s.Start, s.End, s.Page = f, j, shown.Source, shown.Start, shown.End, ""
	if source, ok := c.sources[shown.Source]; ok && source.Hash != "" {
		s.Page = topicqueue.PagePath(source.Hash)
	}
}

// citable reports a sentence that states facts and can get a citation.
func citable(p part, s statement) bool { return !p.whole && !s.row && support.Factual(s.text) }

// citing gives a sentence the citation of the claim that has it word for word. ok is false when there is none, or more
// than one: what cites nothing is not judged by sources that its neighbours cite.
func (c *checker) citing(p part, s statement) (d decision, ok bool) {
	id := ""
	if strings.HasSuffix(s.text, "?") || strings.HasSuffix(s.text, "？") { // a question states nothing
		return d, false
	}
	for _, claim := range p.claims {
		if id == claim.CitationID || !repeats(s.text, claim) {
			continue
		}
		if id != "" {
			return d, false
		}
		id = claim.CitationID
	}
	if id == "" {
		return d, false
	}
	s.ids = []string{id}
	return decision{statement: s, findings: c.look(p, s), action: ActionCited}, true
}

// repeats reports a sentence that stands word for word in a claim.
func repeats(sentence string, from claim) bool {
	said := from.statement() + "\n\n" + from.quote()
	f := support.New([]support.Source{{ID: from.ID, Text: said}}).Check(sentence, "", []string{from.ID})
	return f.Quotation.Result == support.Verbatim
}

// missed records a sentence with facts that cites nothing.
func (c *checker) missed(p part, s statement) {
	p.told.FactsUncited++
	c.v.Counts.FactsUncited++
	p.told.Uncited, c.v.Uncited = append(p.told.Uncited, s.text), append(c.v.Uncited, s.text)
	if p.answer {
		c.unsourced = append(c.unsourced, s)
	}
}
