package reporting

import (
	"slices"
	"strings"

	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/template"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Outline lists the sections of a report with their claims: the content of outline.json.
type Outline struct {
	Title        string           `json:"title"`
	Introduction string           `json:"introduction"` // instruction for the writer
	Sections     []OutlineSection `json:"sections"`
	Conclusion   string           `json:"conclusion"` // instruction for the writer

	Form string   `json:"form,omitempty"`          // one of prompts.Forms; empty: unknown
	Key  []string `json:"key_claim_ids,omitempty"` // claims that every section may cite
	// computations over claims of several blocks; the report cites them as sources
	Computed []topicqueue.ToolTrace `json:"computed,omitempty"`
}

// OutlineSection is one section of an outline.
type OutlineSection struct {
	Title       string              `json:"title"`
	Instruction string              `json:"instruction"`
	BlockIDs    []string            `json:"block_ids"`                  // blocks whose claims the section has
	ClaimIDs    []string            `json:"claim_ids,omitempty"`        // claims that belong to no subsection
	Shared      []string            `json:"shared_claim_ids,omitempty"` // claims of another section, also needed here
	Subsections []OutlineSubsection `json:"subsections"`
}

// OutlineSubsection is one subsection of an outline.
type OutlineSubsection struct {
	Title       string   `json:"title"`
	Instruction string   `json:"instruction"`
	ClaimIDs    []string `json:"claim_ids,omitempty"`
}

// AllClaimIDs returns the ids of the section's own claims and those of its subsections.
func (s OutlineSection) AllClaimIDs() []string {
	ids := slices.Clone(s.ClaimIDs)
	for _, sub := range s.Subsections {
		ids = append(ids, sub.ClaimIDs...)
	}
	return ids
}

// everyClaim returns the ids of all claims of a section, including shared ones.
func (s OutlineSection) everyClaim() []string { return append(s.AllClaimIDs(), s.Shared...) }

const (
	// maxSections is the maximum number of sections, which the prompt also states.
	maxSections = 6
	// maxKey is the maximum number of key claims.
	maxKey = 15
)

// repaired makes a model's outline usable: titles are clean and unique, and sections have claims or blocks. A block of
// which the outline names nothing becomes a section.
func (ol *writer) repaired(a prompts.OutlineAnswer) Outline {
	out := Outline{Title: report.CleanTitle(a.Title),
		Introduction: text.Line(a.Introduction), Conclusion: text.Line(a.Conclusion)}
	if !report.ReportTitle(out.Title) {
		out.Title = ol.title
	}
	if slices.Contains(prompts.Forms, a.Form) {
		out.Form = a.Form
	}
	placed, blocks := map[string]bool{}, map[string]bool{}
	for _, s := range a.Sections {
		section := OutlineSection{Title: report.CleanTitle(s.Title), Instruction: text.Line(s.Instruction)}
		var subs []OutlineSubsection
		for _, sub := range s.Subsections {
			subs = append(subs, OutlineSubsection{Title: sub.Title, Instruction: sub.Instruction,
				ClaimIDs: section.placing(ol.numbered(sub.Claims), placed)})
		}
		section.ClaimIDs = section.placing(ol.numbered(s.Claims), placed)
		section.setSubsections(subs)
		for _, id := range s.BlockIDs {
			if id = strings.TrimSpace(id); !blocks[id] && ol.block(id) != nil {
				blocks[id] = true
				section.BlockIDs = append(section.BlockIDs, id)
			}
		}
		if len(section.BlockIDs)+len(section.everyClaim()) == 0 {
			continue
		}
		if section.Title == "" || prompts.FrameOf(section.Title) != prompts.NoFrame {
			section.Title = ol.titleFor(section)
		}
		out.Sections = ol.withSection(out.Sections, section)
	}
	for _, c := range ol.claims {
		blocks[c.Block] = blocks[c.Block] || placed[c.ID]
	}
	for _, b := range ol.blocks {
		if !blocks[b.id] {
			out.Sections = ol.withSection(out.Sections, OutlineSection{
				Title: b.title, BlockIDs: []string{b.id}, Subsections: []OutlineSubsection{}})
		}
	}
	for _, c := range ol.numbered(a.KeyClaims) {
		if len(out.Key) < maxKey {
			out.Key = append(out.Key, c.ID)
		}
	}
	return out
}

// numbered returns the claims with these numbers, which count from 1.
func (ol *writer) numbered(numbers []int) (claims []claim) {
	for _, n := range numbers {
		if n > 0 && n <= len(ol.claims) {
			claims = append(claims, ol.claims[n-1])
		}
	}
	return claims
}

// placing returns the ids of the claims that are not placed yet, and places them. The section shares the others: a
// claim belongs to the first section that names it.
func (s *OutlineSection) placing(claims []claim, placed map[string]bool) (ids []string) {
	for _, c := range claims {
		if placed[c.ID] {
			s.Shared = append(s.Shared, c.ID)
			continue
		}
		placed[c.ID] = true
		ids = append(ids, c.ID)
	}
	return ids
}

// withSection appends a section. It merges the section into one of the same title, or into the last one at maxSections.
func (ol *writer) withSection(sections []OutlineSection, s OutlineSection) []OutlineSection {
	i := slices.IndexFunc(sections, func(o OutlineSection) bool { return report.SameTitle(o.Title, s.Title) })
	if i < 0 && len(sections) == maxSections && ol.template == nil {
		i = maxSections - 1
	}
	if i < 0 {
		return append(sections, s)
	}
	into := &sections[i]
	into.BlockIDs = append(into.BlockIDs, s.BlockIDs...)
	into.ClaimIDs, into.Shared = append(into.ClaimIDs, s.ClaimIDs...), append(into.Shared, s.Shared...)
	into.Instruction = text.Line(into.Instruction + " " + s.Instruction)
	into.setSubsections(append(into.Subsections, s.Subsections...))
	return sections
}

// setSubsections sets the subsections of s. It omits those with an empty or repeated title, those with the title of the
// section, and those beyond the maximum; their claims move to the section itself.
func (s *OutlineSection) setSubsections(subs []OutlineSubsection) {
	s.Subsections = []OutlineSubsection{}
	for _, sub := range subs {
		sub.Title, sub.Instruction = report.CleanTitle(sub.Title), text.Line(sub.Instruction)
		same := func(o OutlineSubsection) bool { return report.SameTitle(o.Title, sub.Title) }
		unusable := report.TitleKey(sub.Title) == "" || report.SameTitle(sub.Title, s.Title)
		if unusable || slices.ContainsFunc(s.Subsections, same) || len(s.Subsections) == template.MaxSubsections {
			s.ClaimIDs = append(s.ClaimIDs, sub.ClaimIDs...)
			continue
		}
		s.Subsections = append(s.Subsections, sub)
	}
}
