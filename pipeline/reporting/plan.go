package reporting

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// reportPlan is an outline with the claims for the writers of its sections.
type reportPlan struct {
	Outline
	sections  []sectionPlan
	concludes bool    // the report has a conclusion
	key       []claim // claims that other sections may need too
}

// sectionPlan is a section with its claims.
type sectionPlan struct {
	OutlineSection
	claims []claim // in the order of the section
	again  bool    // the last report's text of this section is outdated
}

// outline returns the plan as it is stored.
func (p reportPlan) outline() Outline {
	o := p.Outline
	o.Sections = nil
	for _, s := range p.sections {
		o.Sections = append(o.Sections, s.OutlineSection)
	}
	return o
}

// titles returns the titles of the sections.
func (o Outline) titles() []string {
	titles := make([]string, len(o.Sections))
	for i, s := range o.Sections {
		titles[i] = s.Title
	}
	return titles
}

// planned returns the plan of the report. It is based on the template, on the last report, or on the model's outline.
// If the model fails, each block becomes a section. The only error is the end of ctx.
func (ol *writer) planned(ctx context.Context) (reportPlan, error) {
	outline, again, err := ol.outline(ctx)
	if err != nil {
		return reportPlan{}, err
	}
	ol.assign(&outline)
	p := reportPlan{Outline: outline, concludes: outline.Conclusion != "" || ol.template != nil || outline.Form == ""}
	if ol.before != nil {
		p.concludes = len(ol.before.Conclusion.Blocks) > 0
	}
	known := map[string]claim{}
	p.Key, p.Sections = nil, nil
	for _, c := range ol.claims {
		known[c.ID] = c
		if slices.Contains(outline.Key, c.ID) || isComputed(c) {
			p.Key, p.key = append(p.Key, c.ID), append(p.key, c)
		}
	}
	for _, d := range ol.disagreements() { // a section that has one side tells of both
		for _, i := range []int{ol.claimOf(d.A), ol.claimOf(d.B)} {
			p.key = append(p.key, without(ol.claims[i:i+1], p.key)...)
		}
	}
	for i, s := range outline.Sections {
		section := sectionPlan{OutlineSection: s, again: again[i]}
		section.ClaimIDs, section.Subsections = nil, []OutlineSubsection{}
		has := map[string]bool{}
		take := func(ids []string) (taken []string) { // without claims that only the last report had
			for _, id := range ids {
				if c, ok := known[id]; ok && !has[id] {
					has[id] = true
					taken, section.claims = append(taken, id), append(section.claims, c)
				}
			}
			return taken
		}
		for _, sub := range s.Subsections {
			if sub.ClaimIDs = take(sub.ClaimIDs); len(sub.ClaimIDs) > 0 || ol.template != nil {
				section.Subsections = append(section.Subsections, sub)
			}
		}
		section.ClaimIDs = take(s.ClaimIDs)
		section.BlockIDs = blockIDs(section.claims)
		section.Shared = take(s.Shared)
		if len(section.claims) > 0 || ol.template != nil {
			p.sections = append(p.sections, section)
		}
	}
	return p, nil
}

// sectionOf returns a section of an outline that has these claims.
func sectionOf(title string, claims []claim) OutlineSection {
	s := OutlineSection{Title: title, BlockIDs: blockIDs(claims), Subsections: []OutlineSubsection{}}
	for _, c := range claims {
		s.ClaimIDs = append(s.ClaimIDs, c.ID)
	}
	return s
}

// blockIDs returns the distinct blocks of claims, in order.
func blockIDs(claims []claim) []string {
	ids := []string{}
	for _, c := range claims {
		ids = append(ids, c.Block)
	}
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(topicqueue.BlockNumber(a), topicqueue.BlockNumber(b)), cmp.Compare(a, b))
	})
	return slices.Compact(ids)
}

// outline returns the outline of the last report with the claims of this one, or the model's outline after repair, and
// the sections of the last report to write again. With a template, the model only assigns the claims.
func (ol *writer) outline(ctx context.Context) (o Outline, again map[int]bool, err error) {
	if ol.before != nil {
		o = ol.renewed()
		again, err = ol.renew(ctx, &o)
		return o, again, err
	}
	if ol.Model == nil {
		return ol.ofTemplate(), nil, nil
	}
	data := prompts.OutlineData{Topic: ol.topic, Draft: ol.review.Draft, Open: ol.open(),
		Disagreements: ol.disagreementLines(ol.disagreements(), func(i int) string { return strconv.Itoa(i + 1) })}
	if ol.template != nil {
		for i, s := range ol.template.Sections {
			line := prompts.PartLine{Number: i + 1, Title: s.Title, Instruction: s.Instruction}
			for _, p := range s.Subsections {
				line.Subsections = append(line.Subsections, prompts.SubsectionLine{Title: p.Title, Instruction: p.Instruction})
			}
			data.Sections = append(data.Sections, line)
		}
	}
	answer, err := ask[prompts.OutlineAnswer](ctx, ol, func(shrink int) prompts.Prompt {
		data.Blocks = ol.digests(shrink)
		return prompts.Outline(ol.run.Options.Language, data)
	})
	if ctx.Err() != nil {
		return Outline{}, nil, err
	}
	if err != nil {
		ol.fellBack("outline")
		answer = prompts.OutlineAnswer{}
	}
	if o = ol.repaired(answer); ol.template != nil {
		o = ol.filled(o)
	}
	o.Computed = ol.compute(answer.Computations)
	return o, nil, nil
}

// ofTemplate returns the outline of the template, without claims.
func (ol *writer) ofTemplate() Outline {
	t := ol.template
	o := Outline{Title: ol.title, Introduction: t.Introduction, Conclusion: t.Conclusion}
	if t.Title != "" {
		o.Title = strings.ReplaceAll(t.Title, "{topic}", ol.title)
	}
	for _, s := range t.Sections {
		section := sectionOf(s.Title, nil)
		section.Instruction = s.Instruction
		for _, sub := range s.Subsections {
			section.Subsections = append(section.Subsections, OutlineSubsection{Title: sub.Title, Instruction: sub.Instruction})
		}
		o.Sections = append(o.Sections, section)
	}
	return o
}

// filled returns the outline of the template with the claims of the sections of the same titles.
func (ol *writer) filled(from Outline) Outline {
	o := ol.ofTemplate()
	o.Key = from.Key
	for i := range o.Sections {
		s := &o.Sections[i]
		at := slices.IndexFunc(from.Sections, func(f OutlineSection) bool { return report.SameTitle(f.Title, s.Title) })
		if at < 0 {
			continue
		}
		f := from.Sections[at]
		s.BlockIDs, s.ClaimIDs, s.Shared = f.BlockIDs, f.ClaimIDs, f.Shared
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

// assign places the claims that the outline does not name: beside one with the same statement, a computation beside
// its first operand, and others in the section that names their block. If several sections or none name it, the claim
// goes to the one of these, or of all, that shares most of its words (BM25), or else to the first.
func (ol *writer) assign(o *Outline) {
	type place struct {
		section int
		ids     *[]string // of the section or a subsection
	}
	placed, twins, first := map[string]place{}, map[string]place{}, map[string]place{} // first: by citation
	said := evidence.Statements(ol.claims)
	put := func(i int, at place) {
		c := ol.claims[i]
		placed[c.ID] = at
		if _, known := twins[said[i]]; !known {
			twins[said[i]] = at
		}
		if _, known := first[c.CitationID]; !known {
			first[c.CitationID] = at
		}
	}
	docs := make([]text.Document, len(o.Sections))
	for n := range o.Sections {
		s := &o.Sections[n]
		lists := []*[]string{&s.ClaimIDs}
		docs[n] = text.Document{Heading: s.Title, Text: s.Instruction}
		for k := range s.Subsections {
			sub := &s.Subsections[k]
			lists = append(lists, &sub.ClaimIDs)
			docs[n].Heading, docs[n].Text = docs[n].Heading+"\n"+sub.Title, docs[n].Text+"\n"+sub.Instruction
		}
		for i, c := range ol.claims {
			for _, ids := range lists {
				if slices.Contains(*ids, c.ID) {
					docs[n].Text += "\n" + said[i]
					put(i, place{n, ids})
				}
			}
		}
	}
	index := text.NewIndex(docs)
	for i, c := range ol.claims {
		if _, named := placed[c.ID]; named {
			continue
		}
		at, twin := twins[said[i]]
		if ids := operands([]topicqueue.Claim{c.Claim}); isComputed(c) && len(ids) > 0 {
			at.section = first[ids[0]].section
			at.ids = &o.Sections[at.section].ClaimIDs
		} else if !twin {
			at.section = ol.nearest(c, o.Sections, index)
			at.ids = &o.Sections[at.section].ClaimIDs
		}
		*at.ids = append(*at.ids, c.ID)
		put(i, at)
	}
}

// nearest returns the section for a claim that the outline does not name.
func (ol *writer) nearest(c claim, sections []OutlineSection, index *text.Index) int {
	all := make([]int, len(sections))
	for i := range all {
		all[i] = i
	}
	of := slices.DeleteFunc(slices.Clone(all), func(i int) bool { return !slices.Contains(sections[i].BlockIDs, c.Block) })
	if len(of) == 1 {
		return of[0]
	}
	if len(of) == 0 {
		of = all
	}
	scores := index.BM25(claimWords(c) + "\n" + ol.block(c.Block).title)
	return slices.MaxFunc(of, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
}

// digests lists the claims of each block for the prompt, numbered from 1 as in ol.claims. A claim that several blocks
// found is listed once. Each increment of shrink halves the listed claims, to fit a small context window.
func (ol *writer) digests(shrink int) []prompts.BlockDigest {
	var out []prompts.BlockDigest
	said, listed := evidence.Statements(ol.claims), map[string]bool{}
	for _, b := range ol.blocks {
		d := prompts.BlockDigest{ID: b.id, Title: b.title, Overview: b.overview}
		for i, c := range ol.claims {
			if c.Block == b.id && !listed[said[i]] {
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
