package reporting

import (
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

const digestTries = 4 // of which each shows half of the one before, for models with a small window

// carriedShare is the share of a quote's words from which a statement says what the quote says.
const carriedShare = 0.7

// claimLine shows a claim to a model. The quote is left out where it would say the same once more: no digits and few
// words that the statement lacks.
func claimLine(c claim) prompts.ClaimLine {
	line := prompts.ClaimLine{CitationID: c.CitationID, Text: c.statement(), Source: sourceLine(c), Support: c.support}
	if q := c.quote(); !carries(line.Text, q) {
		line.Quote = q
	}
	return line
}

// carries reports whether a statement says what a quote says.
func carries(statement, quote string) bool {
	if statement == quote {
		return true
	}
	has := map[string]bool{}
	for _, term := range text.Terms(statement) {
		has[term] = true
	}
	asked, carried := 0, 0
	for _, term := range text.Terms(quote) {
		asked++
		if has[term] {
			carried++
		} else if strings.ContainsFunc(term, unicode.IsDigit) {
			return false
		}
	}
	return asked > 0 && float64(carried) >= carriedShare*float64(asked)
}

// sourceLine names a claim's source: title, place, genre and date.
func sourceLine(c claim) string {
	s := c.source
	title, line := text.Line(s.Title), s.Place()
	if title != "" && !strings.HasPrefix(line, title) {
		line = strings.Trim(title+", "+line, ", ")
	}
	if label := s.Label(); label != "" {
		line += " (" + label + ")"
	}
	return line
}

func size(l prompts.ClaimLine) int {
	return len(l.CitationID) + len(l.Text) + len(l.Quote) + len(l.Source) + 40 // with the words around them
}

// sizeOf is what claims take of a budget.
func sizeOf(claims []claim) int {
	sum := 0
	for _, c := range claims {
		sum += size(claimLine(c))
	}
	return sum
}
