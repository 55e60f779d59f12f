package reporting

import (
	"slices"
	"strings"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/prompts"
)

// claimLines lists distinct claims for the prompt.
func claimLines(claims []claim) []prompts.ClaimLine {
	var lines []prompts.ClaimLine
	for _, c := range evidence.Distinct(claims) {
		lines = append(lines, claimLine(c))
	}
	return lines
}

// localSection assembles a section from its claims, for when the model failed.
func (w sectionWriter) localSection(s sectionPlan) string {
	said := map[string]bool{}
	list := func(ids []string) string {
		var lines []string
		for _, c := range evidence.Distinct(s.claims) {
			if key := report.Key(c.Statement()); slices.Contains(ids, c.ID) && !said[key] {
				said[key] = true
				lines = append(lines, "- "+markdown.Escape(c.Statement())+" ["+c.CitationID+"]")
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
