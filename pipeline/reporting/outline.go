package reporting

import (
	"slices"
	"strings"

	"nightdesk/pipeline/reporting/prose"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// Outline lists the sections of a report with their claims: the content of outline.json.
type Outline struct {
	Title        string           `json:"title"`
	Introduction string           `json:"introduction"` // instruction for the writer
	Sections     []OutlineSection `json:"sections"`
	Conclusion   string           `json:"conclusion"` // instruction for the writer
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
	// maxSubsections prevents the model from cutting a section into headings with a sentence each.
	maxSubsections = 6
	// maxSections is the maximum number of sections, which the prompt also states.
	maxSections = 6
)

// repaired makes a model's outline usable: titles are clean and unique, sections have claims, and every block belongs
// to one section unless its claims are placed by number. If nothing in the outline is usable, each block becomes a
// section.
func (ol outliner) repaired(a prompts.OutlineAnswer) Outline {
	out := Outline{Title: prose.CleanTitle(a.Title),
		Introduction: text.Line(a.Introduction), Conclusion: text.Line(a.Conclusion)}
	if !prose.ReportTitle(out.Title) {
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
		section := OutlineSection{Title: prose.CleanTitle(s.Title), Instruction: text.Line(s.Instruction)}
		var subs []OutlineSubsection
		for _, sub := range s.Subsections {
			claims := numbers(sub.Claims)
			subs = append(subs, OutlineSubsection{Title: sub.Title, Instruction: sub.Instruction, ClaimIDs: claims})
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
		if section.Title == "" || prompts.FrameOf(section.Title) != prompts.NoFrame {
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
	i := slices.IndexFunc(sections, func(o OutlineSection) bool { return prose.SameTitle(o.Title, s.Title) })
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
		sub.Title, sub.Instruction = prose.CleanTitle(sub.Title), text.Line(sub.Instruction)
		same := func(o OutlineSubsection) bool { return prose.SameTitle(o.Title, sub.Title) }
		unusable := prose.TitleKey(sub.Title) == "" || prose.SameTitle(sub.Title, s.Title)
		if unusable || slices.ContainsFunc(s.Subsections, same) || len(s.Subsections) == maxSubsections {
			s.ClaimIDs = append(s.ClaimIDs, sub.ClaimIDs...)
			continue
		}
		s.Subsections = append(s.Subsections, sub)
	}
}
