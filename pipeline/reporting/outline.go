package reporting

import "slices"

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
