package reporting

import (
	"cmp"
	"context"
	"slices"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// reportPlan is the plan of a report: its sections, each with the claims for its writer.
type reportPlan struct {
	title, introduction, conclusion string
	form                            string // one of prompts.Forms; empty: that of a template
	concludes                       bool   // the report has a conclusion
	sections                        []sectionPlan
	key                             []claim // claims that other sections may need too
	computed                        []topicqueue.ToolTrace
}

// sectionPlan is the plan of a section, with its claims.
type sectionPlan struct {
	OutlineSection
	claims []claim // claim.part is the subsection
	again  bool    // the last report's text of this section is outdated

	disagreements []evidence.Contradiction
	figures       []figure // figures of the claims' sources
}

func newSectionPlan(title, instruction string, claims ...claim) sectionPlan {
	s := sectionPlan{OutlineSection: OutlineSection{
		Title: title, Instruction: instruction, BlockIDs: []string{}, Subsections: []OutlineSubsection{},
	}}
	s.add(claims...)
	return s
}

// add gives claims to the section.
func (s *sectionPlan) add(claims ...claim) {
	for _, c := range claims {
		ids := &s.ClaimIDs
		switch {
		case c.shared:
			ids = &s.Shared
		case c.part > 0:
			ids = &s.Subsections[c.part-1].ClaimIDs
		}
		*ids = append(*ids, c.ID)
		if !c.shared && !slices.Contains(s.BlockIDs, c.block) {
			s.BlockIDs = append(s.BlockIDs, c.block)
		}
	}
	s.claims = append(s.claims, claims...)
	slices.SortFunc(s.BlockIDs, func(a, b string) int {
		return cmp.Compare(topicqueue.BlockNumber(a), topicqueue.BlockNumber(b))
	})
}

// titles returns the titles of the sections.
func (p reportPlan) titles() []string {
	titles := make([]string, len(p.sections))
	for i, s := range p.sections {
		titles[i] = s.Title
	}
	return titles
}

// outline returns the plan as a stored outline: each section with its blocks and claims.
func (p reportPlan) outline() Outline {
	o := Outline{Title: p.title, Introduction: p.introduction, Conclusion: p.conclusion, Form: p.form,
		Computed: p.computed}
	for _, c := range p.key {
		o.Key = append(o.Key, c.ID)
	}
	for _, s := range p.sections {
		o.Sections = append(o.Sections, s.OutlineSection)
	}
	return o
}

// outliner plans the sections of a report and assigns the claims to them.
type outliner struct{ *material }

// planned returns the plan of the report. It is based on the template, on the last report, or on the model's outline.
// If the model fails, each block becomes a section. The only error is the end of ctx.
func (ol outliner) planned(ctx context.Context) (reportPlan, error) {
	outline, err := ol.outline(ctx)
	if err != nil {
		return reportPlan{}, err
	}
	places := ol.places(outline)
	var again map[int]string // sections of the last report to rewrite, with their new instructions
	if ol.before != nil {
		if again, err = ol.renew(ctx, outline, places); err != nil {
			return reportPlan{}, err
		}
	}
	p := reportPlan{title: outline.Title, introduction: outline.Introduction, conclusion: outline.Conclusion,
		form: outline.Form, computed: outline.Computed}
	p.concludes = p.conclusion != "" || ol.template != nil || outline.Form == ""
	if ol.before != nil {
		p.concludes = len(ol.before.Conclusion.Blocks) > 0
	}
	for _, c := range ol.claims {
		if slices.Contains(outline.Key, c.ID) || c.isComputed() {
			p.key = append(p.key, c)
		}
	}
	for i, s := range outline.Sections {
		section := newSectionPlan(s.Title, s.Instruction)
		if now, outdated := again[i]; outdated {
			section.Instruction, section.again = now, true
			if ol.template != nil {
				section.Instruction = text.Line(s.Instruction + " " + now)
			}
		}
		parts := make([]int, len(s.Subsections)+1) // number of each subsection in the plan
		for n, sub := range s.Subsections {
			here := func(c claim) bool { return places[c.ID] == place{i, n + 1} }
			if ol.template != nil || slices.ContainsFunc(ol.claims, here) {
				sub.ClaimIDs = nil
				section.Subsections = append(section.Subsections, sub)
				parts[n+1] = len(section.Subsections)
			}
		}
		var claims []claim
		for _, c := range ol.claims {
			at := places[c.ID]
			if c.shared = at.section != i && slices.Contains(s.Shared, c.ID); at.section == i {
				c.part = parts[at.part]
			}
			if at.section == i || c.shared {
				claims = append(claims, c)
			}
		}
		slices.SortStableFunc(claims, func(a, b claim) int { // those of no subsection last
			return cmp.Compare(uint(a.part-1), uint(b.part-1))
		})
		section.add(claims...)
		if len(claims) > 0 || ol.template != nil {
			p.sections = append(p.sections, section)
		}
	}
	return p, nil
}

// outline returns the outline of the last report, or the model's outline after repair. With a template, the model only
// assigns the claims.
func (ol outliner) outline(ctx context.Context) (Outline, error) {
	if ol.before != nil {
		return ol.renewed(), nil
	}
	if ol.Model == nil {
		return ol.template.outlineFor(ol.title), nil
	}
	data := prompts.OutlineData{Topic: ol.topic, Disagreements: disagreementLines(ol.disagreements()),
		Draft: ol.review.Draft, Open: ol.open()}
	if ol.template != nil {
		for i, s := range ol.template.Sections {
			line := prompts.PartLine{Number: i + 1, Title: s.Title, Instruction: s.Instruction}
			for _, p := range s.Subsections {
				line.Subsections = append(line.Subsections, prompts.SubsectionLine{Title: p.Title, Instruction: p.Instruction})
			}
			data.Sections = append(data.Sections, line)
		}
	}
	answer, err := ask[prompts.OutlineAnswer](ctx, ol.material, func(shrink int) prompts.Prompt {
		data.Blocks = ol.digests(shrink)
		return prompts.Outline(ol.run.Options.Language, data)
	})
	if ctx.Err() != nil {
		return Outline{}, err
	}
	if err != nil {
		ol.fellBack("outline")
		answer = prompts.OutlineAnswer{}
	}
	out := ol.repaired(answer)
	for _, n := range answer.KeyClaims {
		if n > 0 && n <= len(ol.claims) && len(out.Key) < maxKey {
			out.Key = append(out.Key, ol.claims[n-1].ID)
		}
	}
	if ol.template != nil {
		out = ol.filled(out)
	}
	out.Computed = ol.compute(answer.Computations)
	return out, nil
}

// maxKey is the maximum number of key claims.
const maxKey = 15

// filled returns the outline of the template with the claims of the sections of the same titles.
func (ol outliner) filled(from Outline) Outline {
	o := ol.template.outlineFor(ol.title)
	o.Key = from.Key
	for i := range o.Sections {
		s := &o.Sections[i]
		at := slices.IndexFunc(from.Sections, func(f OutlineSection) bool { return report.SameTitle(f.Title, s.Title) })
		if at < 0 {
			continue
		}
		f := from.Sections[at]
		s.BlockIDs, s.ClaimIDs, s.Shared, s.Subsections = f.BlockIDs, f.ClaimIDs, f.Shared, slices.Clone(s.Subsections)
		for n := range s.Subsections {
			for _, sub := range f.Subsections {
				if report.SameTitle(sub.Title, s.Subsections[n].Title) {
					s.Subsections[n].ClaimIDs = sub.ClaimIDs
				}
			}
		}
	}
	return o
}

// digests lists the claims of each block for the prompt, numbered from 1 as in ol.claims. A claim that several blocks
// found is listed once. Each increment of shrink halves the listed claims, to fit a small context window.
func (ol outliner) digests(shrink int) []prompts.BlockDigest {
	var out []prompts.BlockDigest
	said, listed := statementKeys(ol.claims), map[string]bool{}
	for _, b := range ol.blocks {
		d := prompts.BlockDigest{ID: b.id, Title: b.title, Overview: b.overview}
		for i, c := range ol.claims {
			if c.block == b.id && !listed[said[i]] {
				listed[said[i]] = true
				d.Claims = append(d.Claims, prompts.PlaceClaim{Number: i + 1, Text: said[i]})
			}
		}
		shown := min(len(d.Claims), max(1, len(d.Claims)>>shrink))
		d.Left = len(d.Claims) - shown
		d.Claims = d.Claims[:shown]
		out = append(out, d)
	}
	return out
}
