package reporting

import (
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

const digestTries = 4 // prompt sizes tried, each half of the last, for small context windows

// carriedShare is the minimum share of a quote's words that a statement must contain to carry the quote.
const carriedShare = 0.7

// claimLine converts a claim for a prompt. It omits a quote that the statement already carries.
func claimLine(c claim) prompts.ClaimLine {
	line := prompts.ClaimLine{CitationID: c.CitationID, Text: c.statement(), Source: sourceLine(c), Support: c.support}
	if q := c.quote(); !carries(line.Text, q) {
		line.Quote = q
	}
	return line
}

// carries reports whether a statement contains the content of a quote: all terms with digits and most of the others.
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

// sourceLine describes a claim's source: title, place, genre and date.
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
	return len(l.CitationID) + len(l.Text) + len(l.Quote) + len(l.Source) + 40 // including the surrounding words
}

// sizeOf returns the size of claims in a prompt, in bytes.
func sizeOf(claims []claim) int {
	sum := 0
	for _, c := range claims {
		sum += size(claimLine(c))
	}
	return sum
}
