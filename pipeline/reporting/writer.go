package reporting

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/pipeline/reporting/template"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

func newWriter(r *Reporter, in Input, texts *prompts.Texts) *writer {
	m := &writer{
		Reporter: r, input: in, run: in.Run, texts: texts, topic: in.Plan.Topic, review: in.Review, answer: in.Answer,
		read: map[string]string{}, returned: map[string]topicqueue.Source{}, found: map[string]citation.Linked{},
	}
	if strings.TrimSpace(m.topic) == "" {
		m.topic = in.Run.Topic
	}
	m.title = cmp.Or(text.Title(in.Run.Topic), texts.Untitled.String())
	m.blocks, m.claims, m.gaps = gather(in, texts)
	m.cited = evidence.CiteOnce(m.claims, in.Traces())
	m.registry = in.Registry()
	m.cautions = cautions(in.Traces(), texts)
	for _, s := range in.AllReturned() {
		m.returned[s.ID] = s
	}
	for _, t := range in.Traces() {
		m.returned[t.Source.ID] = t.Source
	}
	if text := in.Run.Options.Template; text != "" {
		if t, err := template.Parse(text); err == nil {
			m.template = &t
		} else { // it was checked when the run was enqueued
			m.fellBack("template: " + err.Error())
		}
	}
	for _, r := range in.Plan.Remarks {
		m.remarks = append(m.remarks, prompts.RemarkLine{Sentence: r.Sentence, Words: r.Words})
	}
	m.goOn(in)
	m.stats.Blocks, m.stats.Claims = len(in.Blocks), len(m.claims)
	return m
}

// write produces the report, with the model if there is one.
func (w *writer) write(ctx context.Context) (Report, error) {
	if len(w.claims) == 0 { // only withdrawn claims are left to report
		w.gaps = nil
		return w.finish(ctx, Outline{Title: w.title},
			draft{extractive: true, opening: localPart("", w.texts.AllGone.String())})
	}
	if w.answer != "" {
		return w.answered(ctx)
	}
	if w.Model == nil {
		return w.quoted(ctx)
	}
	plan, err := w.planned(ctx)
	if err != nil {
		return Report{}, err
	}
	w.reached(MomentOutlined, plan.outline().titles()...)
	d, err := w.body(ctx, plan)
	if err != nil {
		return Report{}, err
	}
	dropRepeated(d.sections)
	if s, ids := w.disagreementSection(d.sections); len(ids) > 0 {
		d.sections = append(d.sections, s)
	}
	if err := w.frame(ctx, plan, &d); err != nil {
		return Report{}, err
	}
	local := func(p *part) bool { return p.Local || len(p.Blocks) == 0 }
	if !slices.ContainsFunc(d.parts(), func(p *part) bool { return !local(p) }) { // the model wrote nothing
		return w.withoutModel().quoted(ctx)
	}
	return w.finish(ctx, plan.outline(), d)
}

// withoutModel returns a writer of a report that quotes the sources.
func (w *writer) withoutModel() *writer {
	local := *w.Reporter
	local.Model = nil
	w.Reporter, w.fallbacks, w.moments = &local, []string{"report"}, nil
	w.claims, w.before = slices.DeleteFunc(w.claims, isComputed), nil
	return w
}

// answered turns the answer of a one-conversation run into a report without sections, with the same check, references
// and note as other reports. If nothing in the answer is usable, it reports quotes of the sources.
func (w *writer) answered(ctx context.Context) (Report, error) {
	texts, _ := reportPlan{}.split(w.answer, []int{0})
	text, usable := w.accept(texts[0], w.title, evidence.Citations(w.claims))
	if !usable {
		w.fellBack("answer")
		return w.quoted(ctx)
	}
	d := draft{answer: true, opening: part{partText: text, claims: w.claims}}
	return w.finish(ctx, Outline{Title: w.title, Sections: []OutlineSection{}}, d)
}

// check checks a draft and makes the changes that the check orders.
func (w *writer) check(ctx context.Context, written draft) (d draft, v *checking.Verification, err error) {
	d = written
	d.sections = slices.Clone(written.sections)
	all := slices.Clone(d.opening.claims)
	for _, s := range d.sections {
		all = append(all, s.claims...)
	}
	all = evidence.Distinct(all)
	d.opening.claims, d.conclusion.claims, d.conclusion.title = all, all, w.texts.Conclusion.String()
	var parts []checking.Part
	for _, p := range d.parts() {
		parts = append(parts, checking.Part{Title: p.title, Blocks: p.Blocks, Local: p.Local, Claims: p.claims,
			Past: p.past, Result: p.Result})
	}
	accept := func(written string, ids []string) []report.Block {
		p, _ := w.accept(written, "", ids)
		return p.Blocks
	}
	parts, v, err = checking.Checker{
		Run: w.run, Model: w.Model, Parallel: parallel(w.Parallel), Answer: d.answer, Claims: w.claims,
		Computed: w.input.Computed, Reread: w.reread, Registry: w.registry, Source: w.source, Read: w.readSources,
		Accept: accept,
	}.Check(ctx, parts)
	for i, p := range d.parts() {
		p.Blocks, p.Result = parts[i].Blocks, parts[i].Result
	}
	return d, v, err
}

// finish checks a draft and assembles the report.
func (w *writer) finish(ctx context.Context, outline Outline, d draft) (Report, error) {
	var v *checking.Verification
	var err error
	if d.extractive {
		v = w.checkQuoted(d)
	} else if d, v, err = w.check(ctx, d); err != nil {
		return Report{}, err
	}
	v.Links = w.links(d)
	for _, p := range d.parts() {
		v.Repeated = append(v.Repeated, p.Repeated...)
	}
	w.stats.RepeatedSentences = len(v.Repeated)
	w.stats.Origins = w.weighed.Origins(w.matters(d.sections))
	v.Evaluation = w.evaluate(d, v, w.run.Date(w.now()))
	report := w.assemble(outline, d, v)
	report.Changes, report.Text = w.changes, w.keep(outline, d, v)
	return report, nil
}
