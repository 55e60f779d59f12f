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

// readTime limits the time to read the texts of the sources, so that a report does not wait for unavailable storage.
const readTime = 10 * time.Second

// part is one text of a report with its claims.
type part struct {
	title  string
	body   *string
	claims []claim
	whole  bool // assembled from claims: each statement ends with its marker
	past   *keptPart
	told   *told
	answer bool // the report is a single answer, whose uncited sentences are marked
}

// checkable returns the texts of a draft that can be checked, in the order of the report.
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

// check checks each citing sentence of a draft against its sources. It repairs, marks or removes unsupported sentences
// and records the results. If the check fails, the draft is returned unchanged. The only error is the end of ctx.
func (w *writer) check(ctx context.Context, written draft) (d draft, v *Verification, err error) {
	defer func() {
		if p := recover(); p != nil { // a defect of the check must not lose the report
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

// checker holds the state of one verification.
type checker struct {
	m       *material
	v       *Verification
	corpus  *support.Corpus
	sources map[string]topicqueue.Source // by source id
	cited   int                          // number of cited sources that have a stored text
	unread  int
	trouble string // reason why the first unread source could not be read
	silent  error  // first error of a judge

	unsourced []statement // uncited factual sentences of an answer
}

// sourceOf returns the source id of a citation id.
func (c *checker) sourceOf(id string) string {
	s, _ := c.m.source(id)
	return s.ID
}

// read loads the texts of all cited sources.
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
			if s.Hash != "" || s.Text != "" { // a source that was only named has no text
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
			defer func() { // the recover of check does not cover other goroutines
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

// SupportSource converts a source for support checks. text is the text of s.
func SupportSource(s topicqueue.Source, text string) support.Source {
	about := append([]string{s.Title, s.Publisher, s.Date, s.Document}, s.Section...)
	about = append(append(about, s.Authors...), s.URL, s.Head)
	if !s.RetrievedAt.IsZero() { // reports may state the retrieval date
		about = append(about, s.RetrievedAt.UTC().Format(time.DateOnly))
	}
	about = slices.DeleteFunc(about, func(a string) bool { return a == "" })
	return support.Source{ID: s.ID, Text: text, About: strings.Join(about, ". ")}
}

// decision is the outcome of the check of one statement.
type decision struct {
	statement
	findings support.Findings
	judged   support.Judged
	verdict  support.Result
	action   string
	checked  []CheckedSentence
	text     string // replacement, if changed
	proposed string // proposed correction
	refused  string // why the correction was rejected or is missing
	changed  bool
}

// judge decides on the statements of all parts, asks for repairs and updates the parts.
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

// again returns the recorded check of a part of the last report, after rechecking the sentences whose sources were read
// again. ok is false if the part is new or if a verdict changes; the part is then checked like new text.
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

// found checks a statement against its sources. ok is false if the statement cites nothing.
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
	case len(s.ids) == 0, s.text == "": // for example a table cell with markers only
		return d, false
	}
	return decision{statement: s, findings: c.look(p, s), action: ActionKept}, true
}

// look checks a statement against the sources of its citations.
func (c *checker) look(p part, s statement) support.Findings {
	return c.corpus.Check(s.text, s.head, c.sourcesOf(s.ids))
}

// sourcesOf returns the source ids of citation ids.
func (c *checker) sourcesOf(citationIDs []string) []string {
	ids := make([]string, len(citationIDs))
	for i, id := range citationIDs {
		ids[i] = c.sourceOf(id)
	}
	return ids
}

// settleAll keeps, marks or removes the statements of a part and records the decisions.
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
		case 0: // kept from a run before rules had numbers
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

// settle keeps a statement, or marks or removes it if it is unsupported.
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

// entry returns the record of a decision.
func (c *checker) entry(p part, d decision) CheckedSentence {
	e := CheckedSentence{
		Text: d.statement.text, Head: d.head, Section: p.title, Citations: d.ids, Verdict: d.verdict,
		Action: d.action, Rules: support.Rules, Proposed: d.proposed, Refused: d.refused,
	}
	c.place(&e, c.sourcesOf(d.ids), d.findings, d.judged)
	return e
}

// place records the findings of a sentence in these sources and the passage that shows them best.
func (c *checker) place(s *CheckedSentence, ids []string, f support.Findings, j support.Judged) {
	shown := c.corpus.Shown(s.Text, ids, f, j)
	s.Findings, s.Judge, s.Source, s.Start, s.End, s.Page = f, j, shown.Source, shown.Start, shown.End, ""
	if source, ok := c.sources[shown.Source]; ok && source.Hash != "" {
		s.Page = topicqueue.PagePath(source.Hash)
	}
}

// citable reports whether a sentence states facts and can be given a citation.
func citable(p part, s statement) bool { return !p.whole && !s.row && support.Factual(s.text) }

// citing gives a sentence the citation of the claim that contains it verbatim. ok is false if there is no such claim or
// several, because an uncited sentence is not judged by its neighbours' sources.
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

// repeats reports whether a sentence appears verbatim in a claim.
func repeats(sentence string, from claim) bool {
	said := from.statement() + "\n\n" + from.quote()
	f := support.New([]support.Source{{ID: from.ID, Text: said}}).Check(sentence, "", []string{from.ID})
	return f.Quotation.Result == support.Verbatim
}

// missed records an uncited factual sentence.
func (c *checker) missed(p part, s statement) {
	p.told.FactsUncited++
	c.v.Counts.FactsUncited++
	p.told.Uncited, c.v.Uncited = append(p.told.Uncited, s.text), append(c.v.Uncited, s.text)
	if p.answer {
		c.unsourced = append(c.unsourced, s)
	}
}
