package reporting

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// reportPlan is the plan of a report: its sections, each with the claims for its writer.
type reportPlan struct {
	title, introduction, conclusion string
	sections                        []sectionPlan
}

// sectionPlan is the plan of a section.
type sectionPlan struct {
	title, instruction string
	parts              []OutlineSubsection // titles and instructions of the subsections
	claims             []claim             // claim.part is the subsection
	again              bool                // the last report's text of this section is outdated
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
	if ol.template != nil && ol.Model != nil {
		if err := ol.placeByModel(ctx, places); err != nil {
			return reportPlan{}, err
		}
	}
	var renewed renewal
	if ol.template == nil && ol.before != nil {
		if renewed, err = ol.renew(ctx, outline, places); err != nil {
			return reportPlan{}, err
		}
	}
	p := reportPlan{title: outline.Title, introduction: outline.Introduction, conclusion: outline.Conclusion}
	for i, s := range outline.Sections {
		section := sectionPlan{title: s.Title, instruction: s.Instruction}
		if now, again := renewed.again[i]; again {
			section.instruction, section.again = now, true
		}
		for n, part := range s.Subsections {
			here := func(c claim) bool { return places[c.ID] == place{i, n + 1} }
			if ol.template != nil || slices.ContainsFunc(ol.claims, here) {
				section.parts = append(section.parts, OutlineSubsection{Title: part.Title, Instruction: part.Instruction})
				number := len(section.parts)
				for _, c := range ol.claims {
					if here(c) {
						c.part = number
						section.claims = append(section.claims, c)
					}
				}
			}
		}
		for _, c := range ol.claims {
			switch elsewhere := places[c.ID].section != i; {
			case places[c.ID] == (place{i, 0}):
				section.claims = append(section.claims, c)
			case elsewhere && (slices.Contains(s.Shared, c.ID) || slices.Contains(renewed.also[c.ID], i)):
				c.shared = true
				section.claims = append(section.claims, c)
			}
		}
		if len(section.claims) > 0 || ol.template != nil {
			p.sections = append(p.sections, section)
		}
	}
	return p, nil
}

// place is the position of a claim: section from 0, subsection from 1 (0: none).
type place struct{ section, part int }

// outline returns the outline of the template, that of the last report, or the model's outline after repair.
func (ol outliner) outline(ctx context.Context) (Outline, error) {
	switch {
	case ol.template != nil:
		return ol.template.outlineFor(ol.title), nil
	case ol.before != nil:
		return ol.renewed(ol.before.Outline), nil
	}
	data := prompts.OutlineData{Topic: ol.topic, Disagreements: disagreementLines(ol.disagreements())}
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
	return ol.repaired(answer), nil
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

const (
	// maxSubsections prevents the model from cutting a section into headings with a sentence each.
	maxSubsections = 6
	// maxSections is the maximum number of sections, which the prompt also states.
	maxSections = 6
)

// frameTitles are titles of the parts that every report has besides its sections.
var frameTitles = []string{"introduction", "conclusion", "conclusions", "references", "sources", "gaps", "引言", "导言", "结论", "参考文献", "未覆盖的内容"}

// repaired makes a model's outline usable: titles are clean and unique, sections have claims, and every block belongs
// to one section unless its claims are placed by number. If nothing in the outline is usable, each block becomes a
// section.
func (ol outliner) repaired(a prompts.OutlineAnswer) Outline {
	out := Outline{Title: CleanTitle(a.Title),
		Introduction: text.Line(a.Introduction), Conclusion: text.Line(a.Conclusion)}
	if !reportTitle(out.Title) {
		out.Title = ol.title
	}
	taken, blocks := map[int]bool{}, map[string]bool{}
	numbers := func(claims []int) (ids []string) {
		for _, n := range claims {
			if n > 0 && n <= len(ol.claims) && !taken[n] {
				taken[n] = true
				ids = append(ids, ol.claims[n-1].ID)
			}
		}
		return ids
	}
	for _, s := range a.Sections {
		section := OutlineSection{Title: CleanTitle(s.Title), Instruction: text.Line(s.Instruction)}
		var subs []OutlineSubsection
		for _, sub := range s.Subsections {
			subs = append(subs, OutlineSubsection{Title: sub.Title, Instruction: sub.Instruction, ClaimIDs: numbers(sub.Claims)})
		}
		section.ClaimIDs = numbers(s.Claims)
		section.setSubsections(subs)
		for _, id := range s.BlockIDs {
			if id = strings.TrimSpace(id); !blocks[id] && ol.block(id) != nil {
				blocks[id] = true
				section.BlockIDs = append(section.BlockIDs, id)
			}
		}
		if len(section.BlockIDs)+len(section.AllClaimIDs()) == 0 {
			continue
		}
		if section.Title == "" || slices.Contains(frameTitles, strings.ToLower(section.Title)) {
			section.Title = ol.titleFor(section)
		}
		out.Sections = ol.withSection(out.Sections, section)
	}
	for _, b := range ol.blocks {
		if blocks[b.id] || ol.allPlaced(b.id, taken) {
			continue
		}
		if i := ol.sectionOfMost(out.Sections, b.id); i >= 0 {
			out.Sections[i].BlockIDs = append(out.Sections[i].BlockIDs, b.id)
			continue
		}
		out.Sections = append(out.Sections, OutlineSection{
			Title: b.title, BlockIDs: []string{b.id}, Subsections: []OutlineSubsection{},
		})
	}
	return out
}

// withSection appends a section. It merges the section into one of the same title, or into the last one at maxSections.
func (ol outliner) withSection(sections []OutlineSection, s OutlineSection) []OutlineSection {
	i := slices.IndexFunc(sections, func(o OutlineSection) bool { return sameTitle(o.Title, s.Title) })
	if i < 0 && len(sections) == maxSections {
		i = maxSections - 1
	}
	if i < 0 {
		return append(sections, s)
	}
	into := &sections[i]
	into.BlockIDs = append(into.BlockIDs, s.BlockIDs...)
	into.ClaimIDs = append(into.ClaimIDs, s.ClaimIDs...)
	into.Instruction = text.Line(into.Instruction + " " + s.Instruction)
	into.setSubsections(append(into.Subsections, s.Subsections...))
	return sections
}

// allPlaced reports whether every claim of a block is placed by number.
func (ol outliner) allPlaced(block string, taken map[int]bool) bool {
	for i, c := range ol.claims {
		if c.block == block && !taken[i+1] {
			return false
		}
	}
	return true
}

// sectionOfMost returns the section with the most claims of a block. If none has any, it returns the section whose
// title and instruction best match the block's title (BM25), or -1 if no section matches.
func (ol outliner) sectionOfMost(sections []OutlineSection, block string) int {
	docs, scores := make([]text.Document, len(sections)), make([]float64, len(sections))
	for i, s := range sections {
		docs[i] = text.Document{Heading: s.Title, Text: s.Instruction}
		for _, c := range ol.claims {
			if c.block == block && slices.Contains(s.AllClaimIDs(), c.ID) {
				scores[i]++
			}
		}
	}
	if len(sections) > 0 && slices.Max(scores) == 0 {
		scores = text.BM25(ol.block(block).title, docs)
	}
	if i := highest(scores); i >= 0 && scores[i] > 0 {
		return i
	}
	return -1
}

// highest returns the index of the first maximum, or -1 for an empty slice.
func highest(scores []float64) int {
	best := -1
	for i, s := range scores {
		if best < 0 || s > scores[best] {
			best = i
		}
	}
	return best
}

// setSubsections sets the subsections of s. It omits those with an empty or repeated title, those with the title of the
// section, and those beyond maxSubsections; their claims move to the section itself.
func (s *OutlineSection) setSubsections(subs []OutlineSubsection) {
	s.Subsections = []OutlineSubsection{}
	for _, sub := range subs {
		sub.Title, sub.Instruction = CleanTitle(sub.Title), text.Line(sub.Instruction)
		same := func(o OutlineSubsection) bool { return sameTitle(o.Title, sub.Title) }
		if titleKey(sub.Title) == "" || sameTitle(sub.Title, s.Title) || len(s.Subsections) == maxSubsections || slices.ContainsFunc(s.Subsections, same) {
			s.ClaimIDs = append(s.ClaimIDs, sub.ClaimIDs...)
			continue
		}
		s.Subsections = append(s.Subsections, sub)
	}
}

// places returns the place of each claim in an outline. A claim goes where the outline names it. With a template or a
// last report, an unnamed claim goes to the section that shares most of its words. Otherwise it goes to the section of
// its block, or else to the first section.
func (ol outliner) places(o Outline) map[string]place {
	places, blocks := map[string]place{}, map[string]int{}
	for i, s := range o.Sections {
		for _, id := range s.ClaimIDs {
			places[id] = place{i, 0}
		}
		for n, sub := range s.Subsections {
			for _, id := range sub.ClaimIDs {
				places[id] = place{i, n + 1}
			}
		}
		for _, id := range s.BlockIDs {
			blocks[id] = i
		}
	}
	switch {
	case ol.template != nil:
		ol.placeByWords(o, places)
	case ol.before != nil:
		ol.placeByNeighbours(o, places)
	}
	together := map[string]place{} // by statement: the first named place of a duplicate, else that of its first block
	said := statementKeys(ol.claims)
	for i, c := range ol.claims {
		if p, named := places[c.ID]; named {
			if _, known := together[said[i]]; !known {
				together[said[i]] = p
			}
		}
	}
	for i, c := range ol.claims {
		if _, known := together[said[i]]; !known {
			together[said[i]] = place{blocks[c.block], 0}
		}
		places[c.ID] = together[said[i]]
	}
	return places
}

// statementKeys returns a statement for each claim, so that duplicates are equal. Claims that several blocks found with
// the same quote of one source get the statement of one of them, preferably one that is not verbatim.
func statementKeys(claims []claim) []string {
	type passage struct{ source, quote string }
	best := map[passage]int{}
	for i, c := range claims {
		at := passage{c.source.ID, c.Quote}
		if first, known := best[at]; !known || claims[first].verbatim() && !c.verbatim() {
			best[at] = i
		}
	}
	said := make([]string, len(claims))
	for i, c := range claims {
		said[i] = c.statement()
		if one := claims[best[passage{c.source.ID, c.Quote}]]; c.Quote != "" && one.block != c.block {
			said[i] = one.statement()
		}
	}
	return said
}

// placeByNeighbours places claims that the last report's outline does not have. Each goes to the section of its block
// whose title, instruction and claims share most of its words (BM25).
func (ol outliner) placeByNeighbours(o Outline, places map[string]place) {
	docs := make([]text.Document, len(o.Sections))
	for i, s := range o.Sections {
		docs[i] = text.Document{Heading: s.Title, Text: s.Instruction}
	}
	for _, c := range ol.claims {
		if p, named := places[c.ID]; named {
			docs[p.section].Text += "\n" + c.statement()
		}
	}
	index := text.NewIndex(docs)
	for _, c := range ol.claims {
		scores := index.BM25(c.words())
		for i, s := range o.Sections {
			if !slices.Contains(s.BlockIDs, c.block) {
				scores[i] = 0
			}
		}
		if _, named := places[c.ID]; !named {
			if best := highest(scores); best >= 0 && scores[best] > 0 {
				places[c.ID] = place{best, 0}
			}
		}
	}
}

// placeByWords places the remaining claims in the sections of the template that share most of their words (BM25). A
// claim that shares no words goes to the section that matches its block best. Claims of the last report keep their
// places.
func (ol outliner) placeByWords(o Outline, places map[string]place) {
	if ol.before != nil {
		for id, section := range ol.before.Places {
			if section >= 0 && section < len(o.Sections) {
				places[id] = place{section, 0}
			}
		}
	}
	docs := make([]text.Document, len(o.Sections))
	for i, s := range o.Sections {
		docs[i] = text.Document{Heading: s.Title, Text: s.Instruction}
		for _, p := range s.Subsections {
			docs[i].Heading += "\n" + p.Title
			docs[i].Text += "\n" + p.Instruction
		}
	}
	index, sums := text.NewIndex(docs), map[string][]float64{}
	var lost []claim
	for _, c := range ol.claims {
		scores := index.BM25(c.words())
		if sums[c.block] == nil {
			sums[c.block] = make([]float64, len(docs))
		}
		for i, s := range scores {
			sums[c.block][i] += s
		}
		if _, known := places[c.ID]; known {
			continue
		}
		if best := highest(scores); scores[best] > 0 {
			places[c.ID] = place{best, 0}
		} else {
			lost = append(lost, c)
		}
	}
	for _, c := range lost {
		places[c.ID] = place{highest(sums[c.block]), 0}
	}
}

// placeByModel asks the model to place the claims of a templated report that the last report does not have. Claims that
// the model does not place stay where they are. The only error is the end of ctx.
func (ol outliner) placeByModel(ctx context.Context, places map[string]place) error {
	var open []claim
	said := map[string]bool{}
	for _, c := range ol.claims {
		if _, known := ol.placedBefore()[c.ID]; !known && !said[c.statement()] {
			open, said[c.statement()] = append(open, c), true
		}
	}
	data := prompts.PlaceData{Topic: ol.topic}
	for i, s := range ol.template.Sections {
		line := prompts.PlaceSection{Number: i + 1, Title: s.Title, Instruction: s.Instruction}
		for _, p := range s.Subsections {
			line.Parts = append(line.Parts, p.Title)
		}
		data.Sections = append(data.Sections, line)
	}
	size, failed := len(open), false
	for ordinal, at := 0, 0; at < len(open); ordinal++ {
		shown := open[at:min(len(open), at+size)]
		answer, err := ol.askPlaces(ctx, data, ordinal, shown)
		switch {
		case ctx.Err() != nil:
			return err
		case errors.Is(err, llm.ErrContextLength) && size > 1:
			size = (size + 1) / 2 // too many claims for the context window
			continue
		case err != nil:
			failed = true
		}
		ol.takePlaces(places, shown, answer)
		at += len(shown)
	}
	if failed {
		ol.fellBack("place")
	}
	return nil
}

// placedBefore returns the section of each claim in the last report; nil if nothing of that report is kept.
func (ol outliner) placedBefore() map[string]int {
	if ol.before == nil {
		return nil
	}
	return ol.before.Places
}

func (ol outliner) askPlaces(ctx context.Context, data prompts.PlaceData, ordinal int, claims []claim) (answer prompts.PlaceAnswer, err error) {
	data.Claims = nil
	for i, c := range claims {
		data.Claims = append(data.Claims, prompts.PlaceClaim{Number: i + 1, Text: c.statement()})
	}
	p := prompts.Place(ol.run.Options.Language, data)
	answer, err = llm.Ask[prompts.PlaceAnswer](ctx, ol.Model, llm.Request{Position: ol.position(p.Name, ordinal, 0), Role: llm.Writer, Prompt: p})
	return answer, ended(ctx, err)
}

// takePlaces applies a model's placement to these claims and to all claims with the same statement.
func (ol outliner) takePlaces(places map[string]place, claims []claim, answer prompts.PlaceAnswer) {
	taken := map[string]place{}
	for _, s := range answer.Sections {
		for _, n := range s.Claims {
			if s.Section < 1 || s.Section > len(ol.template.Sections) || n < 1 || n > len(claims) {
				continue
			}
			if _, twice := taken[claims[n-1].statement()]; !twice {
				taken[claims[n-1].statement()] = place{s.Section - 1, 0}
			}
		}
	}
	for _, c := range ol.claims {
		if p, ok := taken[c.statement()]; ok {
			places[c.ID] = p
		}
	}
}

// titles returns the titles of the sections.
func (p reportPlan) titles() []string {
	titles := make([]string, len(p.sections))
	for i, s := range p.sections {
		titles[i] = s.title
	}
	return titles
}

// outline returns the plan as a stored outline: each section with its blocks and claims.
func (p reportPlan) outline() Outline {
	o := Outline{Title: p.title, Introduction: p.introduction, Conclusion: p.conclusion}
	for _, s := range p.sections {
		section := OutlineSection{
			Title: s.title, Instruction: s.instruction, BlockIDs: []string{}, Subsections: slices.Clone(s.parts),
		}
		if section.Subsections == nil {
			section.Subsections = []OutlineSubsection{}
		}
		for _, c := range s.claims {
			if !c.shared && !slices.Contains(section.BlockIDs, c.block) {
				section.BlockIDs = append(section.BlockIDs, c.block)
			}
			ids := &section.ClaimIDs
			switch {
			case c.shared:
				ids = &section.Shared
			case c.part > 0:
				ids = &section.Subsections[c.part-1].ClaimIDs
			}
			*ids = append(*ids, c.ID)
		}
		slices.SortFunc(section.BlockIDs, func(a, b string) int {
			return cmp.Compare(topicqueue.BlockNumber(a), topicqueue.BlockNumber(b))
		})
		o.Sections = append(o.Sections, section)
	}
	return o
}
