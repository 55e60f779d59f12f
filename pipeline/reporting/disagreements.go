package reporting

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/evidence"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Maximum number of disagreements per report, and of citations per side. More would hide the others.
const maxDisagreements, maxSideCitations = 12, 3

// disagreements returns the contradictions to report, those with the most support.
func (m *material) disagreements() []evidence.Contradiction {
	all := m.weighed.Contradictions
	return all[:min(len(all), maxDisagreements)]
}

// placeDisagreements assigns each disagreement to the first section that has a claim of either side.
func (w sectionWriter) placeDisagreements(plan reportPlan) {
	for _, c := range w.disagreements() {
		side := func(k claim) bool { return slices.Contains(c.A.Claims, k.ID) || slices.Contains(c.B.Claims, k.ID) }
		has := func(s sectionPlan) bool { return slices.ContainsFunc(s.claims, side) }
		if i := slices.IndexFunc(plan.sections, has); i >= 0 {
			plan.sections[i].disagreements = append(plan.sections[i].disagreements, c)
		}
	}
}

// disagreementLines converts contradictions for a prompt.
func disagreementLines(list []evidence.Contradiction) []prompts.Disagreement {
	var lines []prompts.Disagreement
	for _, c := range list {
		lines = append(lines, prompts.Disagreement{A: disagreementSide(c.A), B: disagreementSide(c.B), Why: c.Why})
	}
	return lines
}

func disagreementSide(s evidence.Side) prompts.DisagreementSide {
	return prompts.DisagreementSide{Text: s.Statement, CitationIDs: sideCitations(s), Support: s.Support}
}

func sideCitations(s evidence.Side) []string {
	var ids []string
	for _, raw := range s.Citations {
		if id, ok := markup.ParseID(raw); ok && len(ids) < maxSideCitations {
			ids = append(ids, id.String())
		}
	}
	return ids
}

// withSides adds the citations of contradictions to the ids that a section may cite.
func withSides(ids []string, list []evidence.Contradiction) []string {
	ids = slices.Clone(ids)
	for _, c := range list {
		for _, side := range []evidence.Side{c.A, c.B} {
			for _, id := range sideCitations(side) {
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}

// tells reports whether a paragraph of the sections presents both sides of a contradiction. It either cites both sides,
// or it has both values and cites their documents at other passages.
func (w *writer) tells(sections []part, c evidence.Contradiction) bool {
	for _, s := range sections {
		for _, p := range paragraphs(s.Body) {
			if citesOne(p.text, sideCitations(c.A)) && citesOne(p.text, sideCitations(c.B)) {
				return true
			}
			values := hasValue(p.text, c.A.Value) && hasValue(p.text, c.B.Value)
			if values && citesOne(p.text, w.beside(c.A)) && citesOne(p.text, w.beside(c.B)) {
				return true
			}
		}
	}
	return false
}

// hasValue reports whether a text contains a value as written, and not as part of a longer number.
func hasValue(text, value string) bool {
	for at := 0; value != ""; at++ {
		i := strings.Index(text[at:], value)
		if i < 0 {
			return false
		}
		at += i
		before, after := text[:at], text[at+len(value):]
		if !partOfNumber.MatchString(before) && !goesOn.MatchString(after) {
			return true
		}
	}
	return false
}

var partOfNumber, goesOn = regexp.MustCompile(`\d[.,]?$`), regexp.MustCompile(`^[.,]?\d`)

func citesOne(text string, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(text, "["+id+"]") })
}

// beside returns the citations of all claims from the documents of a side.
func (w *writer) beside(s evidence.Side) []string {
	documents := map[string]bool{}
	for _, id := range sideCitations(s) {
		if source, ok := w.source(id); ok {
			documents[documentOf(source)] = true
		}
	}
	var ids []string
	for _, c := range w.claims {
		if documents[documentOf(c.source)] && !slices.Contains(ids, c.CitationID) {
			ids = append(ids, c.CitationID)
		}
	}
	return ids
}

// documentOf identifies the document that a source belongs to.
func documentOf(s topicqueue.Source) string { return cmp.Or(s.Document, s.URL, s.ID) }

// disagreementSection lists the contradictions that the written sections do not present, one line per side, and returns
// the citations used. Both are empty if nothing is left. Without a model the lines are verbatim quotes.
func (w *writer) disagreementSection(written []part) (s part, cited []string) {
	var lines []string
	side := func(indent string, s evidence.Side) {
		if ids := sideCitations(s); len(ids) > 0 { // only the first one's text is shown
			said := s.Quote
			if w.Model != nil {
				said = s.Statement
			}
			lines = append(lines, indent+"- "+markup.Escape(said)+" ["+ids[0]+"]")
			cited = append(cited, ids[0])
		}
	}
	for _, c := range w.disagreements() {
		if c.A.Quote != "" && c.B.Quote != "" && !w.tells(written, c) {
			side("", c.A)
			side("  ", c.B)
		}
	}
	return localPart(w.texts.Disagree.String(), strings.Join(lines, "\n")), cited
}
