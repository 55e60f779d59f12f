package reporting

import (
	"context"
	"slices"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// renew asks the model which sections of the last report need the new claims and which are outdated. It gives these
// sections their claims and instructions, and returns their numbers, from 0. The only error is the end of ctx. If the
// model fails, only sections whose own claims changed are rewritten.
func (ol *writer) renew(ctx context.Context, o *Outline) (again map[int]bool, err error) {
	placed := map[string]bool{}
	for _, s := range ol.before.Outline.Sections {
		for _, id := range s.everyClaim() {
			placed[id] = true
		}
	}
	said, stands := evidence.Statements(ol.claims), map[string]bool{} // statements of the last report
	for i, c := range ol.claims {
		stands[said[i]] = stands[said[i]] || placed[c.ID]
	}
	fresh := map[string][]claim{}
	var moved []string
	for i, what := range said {
		if !stands[what] {
			if fresh[what] == nil {
				moved = append(moved, what)
			}
			fresh[what] = append(fresh[what], ol.claims[i])
		}
	}
	if ol.Model == nil || len(moved) == 0 && len(ol.changes.Withdrawn) == 0 {
		return nil, nil
	}
	answer, err := ask[prompts.RenewAnswer](ctx, ol, func(shrink int) prompts.Prompt {
		return prompts.Renew(ol.run.Options.Language, ol.renewData(*o, moved, shrink))
	})
	if ctx.Err() != nil {
		return nil, err
	}
	if err != nil {
		ol.fellBack("renew")
		return nil, nil
	}
	again = map[int]bool{}
	for _, a := range answer.Sections {
		at := a.Section - 1
		if at < 0 || at >= len(o.Sections) {
			continue
		}
		s := &o.Sections[at]
		if !again[at] && ol.template == nil {
			s.Instruction = ""
		}
		s.Instruction = text.Line(s.Instruction + " " + a.Instruction)
		again[at] = true
		for _, n := range a.Claims {
			if n > 0 && n <= len(moved) {
				s.ClaimIDs = append(s.ClaimIDs, s.placing(fresh[moved[n-1]], placed)...)
			}
		}
	}
	return again, nil
}

// renewData builds the prompt data: the last report and what has changed since. For a small context window it has only
// the titles of the sections.
func (ol *writer) renewData(o Outline, moved []string, shrink int) prompts.RenewData {
	data := prompts.RenewData{Topic: ol.topic}
	for i, s := range o.Sections {
		line := prompts.RenewSection{Number: i + 1, Title: s.Title}
		if shrink == 0 {
			line.Text = report.Canonical(ol.before.Sections[i].Blocks)
		}
		data.Sections = append(data.Sections, line)
	}
	shown := min(len(moved), max(1, len(moved)>>max(0, shrink-1)))
	for i, said := range moved[:shown] {
		data.Claims = append(data.Claims, prompts.PlaceClaim{Number: i + 1, Text: said})
	}
	for _, w := range ol.changes.Withdrawn {
		data.Withdrawn = append(data.Withdrawn, w.Statement)
	}
	return data
}

// renewed returns the outline of the last report without the instructions and titles that depend on changed evidence.
// It removes the instructions of the affected sections, of the introduction and of the conclusion. It replaces titles
// with figures that no claim has any more.
func (ol *writer) renewed() Outline {
	o := ol.before.Outline
	o.Computed = ol.keepComputed(o.Computed)
	if ol.template != nil { // its instructions and titles depend on no evidence
		key := o.Key
		o = ol.filled(o)
		o.Computed, o.Key = ol.input.Computed, key
		return o
	}
	standing, said := map[string]bool{}, ""
	for _, c := range ol.claims {
		standing[c.ID] = !ol.moved[c.CitationID]
		said += c.Text + "\n" + c.Quote + "\n"
	}
	figures := quantity.Parse(said)
	outdated := func(title string) bool {
		return slices.ContainsFunc(quantity.Parse(title), func(q quantity.Quantity) bool {
			has := func(o quantity.Quantity) bool { return quantity.Equal(o, q) }
			return q.Kind != quantity.Label && !slices.ContainsFunc(figures, has)
		})
	}
	o.Sections = slices.Clone(o.Sections)
	stale := false
	for i := range o.Sections {
		s := &o.Sections[i]
		s.Subsections = slices.Clone(s.Subsections)
		if !slices.ContainsFunc(s.everyClaim(), func(id string) bool { return !standing[id] }) {
			continue
		}
		stale, s.Instruction = true, ""
		for n := range s.Subsections {
			s.Subsections[n].Instruction = ""
		}
		if outdated(s.Title) {
			s.Title = ol.titleFor(*s)
		}
	}
	if stale {
		o.Introduction, o.Conclusion = "", ""
		if outdated(o.Title) {
			o.Title = ol.title
		}
	}
	return o
}
