package checking

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// Checker checks a report. The registry and the functions must be set, Accept only with a model.
type Checker struct {
	Run      topicqueue.Run
	Model    llm.Model              // judges the statements; nil: none is judged or corrected
	Parallel int                    // number of calls at a time
	Answer   bool                   // the report is a single answer, whose uncited sentences are marked
	Claims   []evidence.Claim       // of the run
	Computed []topicqueue.ToolTrace // computations of the report
	Reread   map[string]bool        // citation ids whose text was read again since the last report
	Registry *citation.Registry
	// Source returns the source of a citation id or a source id.
	Source func(id string) (topicqueue.Source, bool)
	// Read returns the texts of sources, "" for a lost one. An error means that one cannot be read now.
	Read func(ctx context.Context, list []topicqueue.Source) ([]string, error)
	// Accept makes blocks of a text of the model, which may cite these ids.
	Accept func(written string, ids []string) []report.Block
}

// Part is the introduction, a section or the conclusion of a report, without its own heading.
type Part struct {
	Title  string
	Blocks []report.Block
	Local  bool             // assembled, not written by the model
	Claims []evidence.Claim // claims that the text may cite
	Past   *Result          // check of this text in the last report, if it was kept from there; nil: new text
	Result
}

// Check checks each citing sentence of a report against its sources, and each factual one without a citation against
// those of the report. It adds and replaces citations, corrects contradicted sentences, marks or removes what stays
// unsupported, and records the results. After a defect of the check the parts are returned unchanged. Errors are the
// end of ctx and a source that cannot be read now.
func (of Checker) Check(ctx context.Context, parts []Part) (checked []Part, v *Verification, err error) {
	defer func() {
		if p := recover(); p != nil { // a defect of the check must not lose the report
			checked, v, err = parts, NewVerification(), nil
			v.Status, v.Reason = verification.StatusUnverified, fmt.Sprintf("the check broke off: %v", p)
		}
	}()
	c := &pass{Checker: of, v: NewVerification(), sources: map[string]topicqueue.Source{}}
	for _, p := range parts {
		p.Result = Result{}
		c.parts = append(c.parts, &checkedPart{Part: p})
	}
	if err = c.read(ctx); err == nil {
		err = c.find(ctx)
	}
	if err != nil {
		return parts, nil, err
	}
	for _, p := range c.parts {
		c.settleAll(p)
		checked = append(checked, p.Part)
	}
	c.conclude()
	return checked, c.v, nil
}

// pass holds the state of one check.
type pass struct {
	Checker
	v       *Verification
	parts   []*checkedPart // in the order of the report
	corpus  *support.Corpus
	index   *text.Index                  // of the statements of Claims
	sources map[string]topicqueue.Source // by source id
	silent  error                        // first error of a judge
}

// checkedPart is a part of a report with the decisions on its statements.
type checkedPart struct {
	Part
	decisions []*decision
	unsourced []report.Statement // uncited factual sentences
	edits     report.Edits
}

// decision is the outcome of the check of one statement.
type decision struct {
	report.Statement
	part     *checkedPart
	text     string   // before the check
	ids      []string // cited, or source ids of a sentence that only links
	linked   bool
	findings support.Findings
	answer   judging.Answer
	judged   support.Judged
	verdict  support.Result
	wrong    []string // citations to take out, because others have what the statement says
	action   string
	checked  []Sentence
	proposed string // proposed correction
	refused  string // why the correction was rejected or is missing
}

// conclude records the counts and what the check left out.
func (c *pass) conclude() {
	c.v.Count()
	unread := c.v.Counts.SourcesUnread
	if unread > 0 {
		c.v.Reason = fmt.Sprintf("the texts of %d of %d sources are lost", unread, len(c.sources))
	}
	if unread > 0 && unread == len(c.sources) {
		c.v.Status = verification.StatusUnverified
	}
	if c.silent != nil {
		c.v.Reason = strings.TrimPrefix(fmt.Sprintf("%s; %v", c.v.Reason, c.silent), "; ")
	}
}

// read loads the texts of the sources of all claims and links.
func (c *pass) read(ctx context.Context) error {
	ids := evidence.Citations(c.Claims)
	for _, p := range c.parts {
		ids = append(ids, evidence.Citations(p.Claims)...)
		for _, s := range report.Statements(p.Blocks) {
			ids = append(append(ids, s.IDs()...), c.linked(p, s)...)
		}
	}
	var sources []topicqueue.Source
	for _, id := range ids {
		s, ok := c.Source(id)
		_, known := c.sources[s.ID]
		if ok && !known && (s.Hash != "" || s.Text != "") { // a source that was only named has no text
			c.sources[s.ID] = s
			sources = append(sources, s)
		}
	}
	all := make([]support.Source, len(sources))
	texts, err := c.Read(ctx, sources)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	for i, whole := range texts {
		if all[i] = SupportSource(sources[i], whole); whole == "" {
			c.v.Counts.SourcesUnread++
		}
	}
	c.corpus = support.New(all)
	return nil
}

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

// find checks the statements of all parts against their sources, has them judged, and corrects what is contradicted.
// The only error is the end of ctx.
func (c *pass) find(ctx context.Context) error {
	for _, p := range c.parts {
		if c.again(p) {
			continue
		}
		for _, s := range report.Statements(p.Blocks) {
			c.findStatement(p, s)
		}
	}
	var all []*decision
	for _, p := range c.parts {
		all = append(all, p.decisions...)
	}
	if err := c.askJudge(ctx, all); err != nil {
		return err
	}
	for _, p := range c.parts {
		p.decisions = slices.DeleteFunc(p.decisions, func(d *decision) bool {
			d.verdict = d.findings.Decide(d.judged)
			c.correct(d)
			uncited := len(d.IDs()) == 0 && !d.linked && d.action != ActionRepaired
			missed := uncited && (len(d.ids) == 0 || d.verdict == support.Unsupported)
			if missed {
				c.missed(p, d.Statement)
			}
			return missed
		})
	}
	return nil
}

// again takes over the recorded check of a part of the last report, after rechecking the sentences whose sources were
// read again. It returns false if the part is new or if a verdict changes; the part is then checked like new text.
func (c *pass) again(p *checkedPart) bool {
	if p.Past == nil {
		return false
	}
	out := *p.Past
	out.Checked = slices.Clone(out.Checked)
	said := map[string]bool{}
	for _, s := range report.Statements(p.Blocks) {
		said[s.Text()] = true
	}
	gone := func(s Sentence) bool { return s.Action != ActionRemoved && !said[s.Text] }
	if slices.ContainsFunc(out.Checked, gone) {
		return false // it was stored by a version that recorded other sentences
	}
	for i := range out.Checked {
		s := &out.Checked[i]
		if !slices.ContainsFunc(s.Citations, func(id string) bool { return c.Reread[id] }) {
			continue
		}
		ids := c.sourcesOf(s.Citations)
		findings := c.corpus.Check(s.Text, s.Head, ids)
		judged := c.corpus.Prove(s.Judge, ids)
		if findings.Decide(judged) != s.Verdict {
			report.EachStatement(p.Blocks, func(s report.Statement) { *s.Mark = report.Mark{} })
			return false
		}
		c.place(s, ids, findings, judged)
		s.Rules = support.Rules
	}
	p.Result = out
	c.v.Counts.FactsUncited += out.FactsUncited
	c.v.Uncited = append(c.v.Uncited, out.Uncited...)
	return true
}

// findStatement checks a statement against its sources, if it cites or links any. A sentence that states facts without
// a citation gets that of the only claim that contains it verbatim; else the judge looks for its source.
func (c *pass) findStatement(p *checkedPart, s report.Statement) {
	d := &decision{Statement: s, part: p, text: s.Text(), ids: s.IDs(), action: ActionKept}
	citable := !p.Local && !s.IsRow() && support.Factual(d.text)
	if len(d.ids) == 0 && citable {
		// it is not judged by its neighbours' sources
		if ids := evidence.Citations(claimsWith(d.text, p.Claims)); len(ids) == 1 {
			d.ids, d.action = ids, ActionCited
		}
	}
	if len(d.ids) == 0 {
		d.ids = c.linked(p, s)
		d.linked = len(d.ids) > 0
	}
	switch {
	case len(d.ids) > 0 && d.text != "": // a table cell, for example, may have markers only
		d.findings = c.corpus.Check(d.text, d.Head, c.sourcesOf(d.ids))
		p.decisions = append(p.decisions, d)
	case len(d.ids) == 0 && citable && c.Model != nil:
		p.decisions = append(p.decisions, d)
	case len(d.ids) == 0 && citable:
		c.missed(p, s)
	}
}

// claimsWith returns the claims that contain a sentence verbatim. A question states nothing.
func claimsWith(sentence string, claims []evidence.Claim) (found []evidence.Claim) {
	if strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？") {
		return nil
	}
	for _, from := range claims {
		said := from.Statement() + "\n\n" + from.Passage()
		f := support.New([]support.Source{{ID: from.ID, Text: said}}).Check(sentence, "", []string{from.ID})
		if f.Quotation.Result == support.Verbatim {
			found = append(found, from)
		}
	}
	return found
}

// missed records an uncited factual sentence.
func (c *pass) missed(p *checkedPart, s report.Statement) {
	p.FactsUncited++
	c.v.Counts.FactsUncited++
	p.Uncited, c.v.Uncited = append(p.Uncited, s.Text()), append(c.v.Uncited, s.Text())
	p.unsourced = append(p.unsourced, s)
}

// linked returns the ids of the sources that a statement links, if it does not cite any.
func (c *pass) linked(p *checkedPart, s report.Statement) (ids []string) {
	if words := s.Text(); len(s.IDs()) == 0 && !p.Local && citation.HasAddress(words) {
		for _, l := range c.Registry.Links(words) {
			ids = append(ids, l.Sources...)
		}
	}
	return ids
}

// sourcesOf returns the source ids of citation ids.
func (c *pass) sourcesOf(citationIDs []string) []string {
	ids := make([]string, len(citationIDs))
	for i, id := range citationIDs {
		s, _ := c.Source(id)
		ids[i] = s.ID
	}
	return ids
}

// settleAll keeps, marks or removes the statements of a part and records the decisions. It marks the uncited factual
// sentences of an answer too: in so short a text, readers would take every sentence for a checked one.
func (c *pass) settleAll(p *checkedPart) {
	for _, d := range p.decisions {
		if len(d.checked) == 0 {
			c.settle(d)
		}
		p.Checked = append(p.Checked, d.checked...)
	}
	for _, s := range p.Checked {
		switch s.Rules {
		case c.v.Rules:
			s.Rules = 0
		case 0: // kept from a run before rules had numbers
			s.Rules = -1
		}
		c.v.Sentences = append(c.v.Sentences, s)
	}
	if c.Answer {
		for _, s := range p.unsourced {
			s.State = report.StateMarked
		}
	}
	p.Blocks = p.edits.Apply(p.Blocks)
}

// settle keeps a statement, or marks or removes it if it is unsupported.
func (c *pass) settle(d *decision) {
	d.Verdict = string(d.verdict)
	switch {
	case d.verdict != support.Unsupported:
		if d.action == ActionCited {
			d.Cite(slices.DeleteFunc(slices.Clone(d.ids), func(id string) bool { return slices.Contains(d.IDs(), id) })...)
			d.Uncite(d.wrong...)
		}
	case c.Run.Options.OnUnsupported == topicqueue.UnsupportedRemove:
		d.action = ActionRemoved
		d.part.edits.Replace(d.Statement)
	default:
		d.action, d.State = ActionMarked, report.StateMarked
	}
	if d.verdict == support.Unsupported && !d.linked { // the text still has the citations as written
		d.ids = d.IDs()
	}
	d.checked = []Sentence{c.entry(d)}
}

// entry returns the record of a decision.
func (c *pass) entry(d *decision) Sentence {
	e := Sentence{
		Text: d.text, Head: d.Head, Section: d.part.Title, Citations: d.ids, Verdict: d.verdict,
		Action: d.action, Rules: support.Rules, Proposed: d.proposed, Refused: d.refused,
	}
	c.place(&e, c.sourcesOf(d.ids), d.findings, d.judged)
	return e
}

// place records the findings of a sentence in these sources and the passage that shows them best.
func (c *pass) place(s *Sentence, ids []string, f support.Findings, j support.Judged) {
	shown := c.corpus.Shown(s.Text, ids, f, j)
	s.Findings, s.Judge, s.Source, s.Start, s.End, s.Page = f, j, shown.Source, shown.Start, shown.End, ""
	if source, ok := c.sources[shown.Source]; ok && source.Hash != "" {
		s.Page = topicqueue.PagePath(source.Hash)
	}
}
