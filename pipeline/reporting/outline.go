package reporting

import "slices"

// Outline says what stands where in a report: the content of outline.json.
type Outline struct {
	Title        string           `json:"title"`
	Introduction string           `json:"introduction"` // instruction for its writer
	Sections     []OutlineSection `json:"sections"`
	Conclusion   string           `json:"conclusion"` // instruction for its writer
}

// OutlineSection is one section of an outline.
type OutlineSection struct {
	Title       string              `json:"title"`
	Instruction string              `json:"instruction"`
	BlockIDs    []string            `json:"block_ids"`                  // whose claims it has
	ClaimIDs    []string            `json:"claim_ids,omitempty"`        // that stand in no subsection
	Shared      []string            `json:"shared_claim_ids,omitempty"` // that it needs and another section has
	Subsections []OutlineSubsection `json:"subsections"`
}

// OutlineSubsection is one subsection of an outline.
type OutlineSubsection struct {
	Title       string   `json:"title"`
	Instruction string   `json:"instruction"`
	ClaimIDs    []string `json:"claim_ids,omitempty"`
}

// AllClaimIDs returns the ids of the section's claims with those of its subsections.
func (s OutlineSection) AllClaimIDs() []string {
	ids := slices.Clone(s.ClaimIDs)
	for _, sub := range s.Subsections {
		ids = append(ids, sub.ClaimIDs...)
	}
	return ids
}
