package reporting

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Text is a report written by a model, in the form that the next run of its topic needs. Parts whose evidence is
// unchanged are kept verbatim, with the results of their check.
type Text struct {
	Language   string     `json:"language"`
	Template   string     `json:"template,omitempty"`
	Length     string     `json:"length,omitempty"`
	Audience   string     `json:"audience,omitempty"`
	Outline    Outline    `json:"outline"` // with the claims of each section
	Opening    partText   `json:"opening"`
	Sections   []partText `json:"sections"` // parallel to Outline.Sections
	Conclusion partText   `json:"conclusion"`
}

// fits reports whether a report with options o may keep parts of t.
func (t *Text) fits(o topicqueue.Options) bool {
	same := t.Language == o.Language && t.Template == o.Template && t.Length == o.Length && t.Audience == o.Audience
	return same && len(t.Sections) > 0 && len(t.Sections) == len(t.Outline.Sections)
}

// ReadText parses the JSON of a Text. An empty body gives nil.
func ReadText(body json.RawMessage) (*Text, error) {
	if len(body) == 0 {
		return nil, nil
	}
	t := &Text{}
	if err := json.Unmarshal(body, t); err != nil {
		return nil, err
	}
	for _, p := range t.parts() {
		if p.Body != "" {
			p.Blocks, p.Body = report.Parse(p.Body), ""
		}
	}
	return t, nil
}

// parts returns the parts of a text in the order of the report.
func (t *Text) parts() []*partText {
	all := []*partText{&t.Opening}
	for i := range t.Sections {
		all = append(all, &t.Sections[i])
	}
	return append(all, &t.Conclusion)
}

// keep returns the parts of the report that the next run may keep; nil if there will be no next run, or if the report
// is not written by a model or not verified.
func (a *writer) keep(outline Outline, d draft, v *checking.Verification) *Text {
	if !a.run.Options.Incremental || d.extractive || !v.Verified() {
		return nil
	}
	t := &Text{
		Language: a.run.Options.Language, Template: a.run.Options.Template, Length: a.run.Options.Length,
		Audience: a.run.Options.Audience, Outline: outline, Opening: d.opening.partText, Conclusion: d.conclusion.partText,
	}
	for _, s := range d.sections[:len(outline.Sections)] { // sections added after the outline are rebuilt by the next run
		t.Sections = append(t.Sections, s.partText)
	}
	return t
}

// citedAs returns t with citations replaced according to now.
func (t Text) citedAs(now map[string]string) *Text {
	t.Sections = slices.Clone(t.Sections)
	for _, p := range t.parts() {
		p.Blocks, p.Checked = report.Clone(p.Blocks), slices.Clone(p.Checked)
		report.Recite(p.Blocks, now)
		for i, s := range p.Checked {
			p.Checked[i].Citations = citedAs(s.Citations, now)
		}
	}
	return &t
}

// citedAs replaces ids according to now and removes duplicates.
func citedAs(ids []string, now map[string]string) []string {
	var list []string
	for _, id := range ids {
		if id = cmp.Or(now[id], id); !slices.Contains(list, id) {
			list = append(list, id)
		}
	}
	return list
}

func changesCitedAs(c recurring.Changes, now map[string]string) recurring.Changes {
	c.New, c.Changed, c.Withdrawn = slices.Clone(c.New), slices.Clone(c.Changed), slices.Clone(c.Withdrawn)
	for i := range c.New {
		c.New[i].Citations = citedAs(c.New[i].Citations, now)
	}
	for i := range c.Changed {
		ch := &c.Changed[i]
		ch.Old.Citations, ch.New.Citations = citedAs(ch.Old.Citations, now), citedAs(ch.New.Citations, now)
	}
	for i := range c.Withdrawn {
		c.Withdrawn[i].Citations = citedAs(c.Withdrawn[i].Citations, now)
	}
	return c
}

// goOn takes over the results of the last run, with the current citations of their passages.
func (m *writer) goOn(in Input) {
	if in.Changes == nil {
		return
	}
	changes := changesCitedAs(*in.Changes, m.cited)
	for _, o := range in.Open { // gaps of both reports
		if slices.ContainsFunc(m.gaps, func(g Gap) bool { return g.BlockID == o.BlockID }) {
			changes.Open = append(changes.Open, o)
		}
	}
	m.changes, m.moved, m.reread = &changes, map[string]bool{}, map[string]bool{}
	for _, b := range in.Blocks {
		for _, t := range b.Traces {
			for _, c := range t.Withdrawn {
				m.moved[cmp.Or(m.cited[c.CitationID], c.CitationID)] = true
			}
			id := cmp.Or(m.cited[t.CitationID], t.CitationID)
			m.reread[id] = m.reread[id] || t.Reread
			m.moved[id] = m.moved[id] || t.Dropped > 0
		}
	}
	if t := in.Before; t != nil && t.fits(m.run.Options) && m.Model != nil {
		m.before = t.citedAs(m.cited)
	}
}

// keptSection returns the section of the last report with the same title and claims, if the evidence that it cites is
// unchanged.
func (w *writer) keptSection(s sectionPlan) (kept part, ok bool) {
	if w.before == nil || s.again {
		return kept, false
	}
	ids := make([]string, len(s.claims))
	for i, c := range s.claims {
		ids[i] = c.ID
	}
	slices.Sort(ids)
	i := slices.IndexFunc(w.before.Outline.Sections, func(b OutlineSection) bool {
		return b.Title == s.Title && slices.Equal(slices.Sorted(slices.Values(b.everyClaim())), ids)
	})
	moved := func(c claim) bool { return w.moved[c.CitationID] }
	if i < 0 || slices.ContainsFunc(s.claims, moved) {
		return kept, false
	}
	past := &w.before.Sections[i]
	if !w.stands(past) {
		return kept, false
	}
	kept = past.kept()
	kept.title, kept.claims = s.Title, s.claims
	return kept, true
}

// lastBody returns the text of a section of the last report, or "" if no model wrote it.
func (m *writer) lastBody(title string) string {
	if m.before != nil {
		i := slices.Index(m.before.Outline.titles(), title)
		if i >= 0 && !m.before.Sections[i].Local {
			return report.Canonical(m.before.Sections[i].Blocks)
		}
	}
	return ""
}

// stands reports whether a part of the last report can be kept: the model wrote it, no reader remarked on it or on the
// whole report, and all evidence that it cites is unchanged. It is false for a text with links, which are not checked
// for changes.
func (m *writer) stands(past *partText) bool {
	moved := func(id string) bool { return m.moved[id] }
	links := citation.HasAddress(report.Canonical(past.Blocks))
	if past.Local || links || slices.ContainsFunc(report.Cited(past.Blocks), moved) {
		return false
	}
	wordsOf := func(s string) string { return " " + strings.Join(text.Words(s), " ") + " " }
	sentences := slices.Clone(past.Uncited)
	for _, c := range past.Checked {
		sentences = append(sentences, c.Text)
	}
	return !slices.ContainsFunc(m.remarks, func(r prompts.RemarkLine) bool {
		about := func(s string) bool { return strings.Contains(wordsOf(s), wordsOf(r.Sentence)) }
		return r.Sentence == "" || slices.ContainsFunc(sentences, about)
	})
}

// keptFrame returns the last report if its introduction and conclusion can be kept: all its sections are kept and there
// are no others.
func (w *writer) keptFrame(sections []part) *Text {
	written := func(s part) bool { return s.past == nil && !s.empty }
	if w.before == nil || len(sections) != len(w.before.Sections) || slices.ContainsFunc(sections, written) {
		return nil
	}
	if !w.stands(&w.before.Opening) || !w.stands(&w.before.Conclusion) {
		return nil
	}
	return w.before
}
