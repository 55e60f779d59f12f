package reporting

import (
	"slices"
	"strings"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/prompts"
)

// claimLines lists distinct claims for the prompt.
func claimLines(claims []claim) []prompts.ClaimLine {
	var lines []prompts.ClaimLine
	for _, c := range distinct(claims) {
		lines = append(lines, claimLine(c))
	}
	return lines
}

// inParts splits claims, in order, into groups of at most budget bytes. A larger claim is a group of its own.
func inParts(claims []claim, budget int) [][]claim {
	parts := [][]claim{nil}
	left := budget
	for _, c := range claims {
		cost := size(claimLine(c))
		if last := len(parts) - 1; cost > left && len(parts[last]) > 0 {
			parts, left = append(parts, nil), budget
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], c)
		left -= cost
	}
	return parts
}

// localSection assembles a section from its claims, for when the model failed.
func (w sectionWriter) localSection(s sectionPlan) string {
	said := map[string]bool{}
	list := func(ids []string) string {
		var lines []string
		for _, c := range distinct(s.claims) {
			if key := report.Key(c.statement()); slices.Contains(ids, c.ID) && !said[key] {
				said[key] = true
				lines = append(lines, "- "+markdown.Escape(c.statement())+" ["+c.CitationID+"]")
			}
		}
		return strings.Join(lines, "\n")
	}
	var parts []string
	if lines := list(append(slices.Clone(s.ClaimIDs), s.Shared...)); lines != "" {
		parts = append(parts, lines)
	}
	for _, p := range s.Subsections {
		if lines := list(p.ClaimIDs); lines != "" {
			parts = append(parts, "### "+markdown.Escape(p.Title), lines)
		}
	}
	return strings.Join(parts, "\n\n")
}
