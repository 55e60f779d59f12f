package reporting

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// How much evidence goes into one prompt, in bytes of claim text. About four bytes make a token of English and three
// one of Chinese; with instructions and answer these fit windows of 16,000 tokens, the smallest that local models are
// commonly run with.
const (
	sectionBytes       = 28_000 // about 7,000 to 9,000 tokens
	outlineDigestBytes = 10_000 // all blocks together: what a block is about shows in a part of its claims
	frameDigestBytes   = 6_000  // all sections together: an introduction has room for a few dozen statements at most
	digestTries        = 3      // of which each has half the claims of the one before
)

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
	title, line := fold(c.source.Title), citation.Place(c.source)
	if title != "" && !strings.HasPrefix(line, title) {
		line = strings.Trim(title+", "+line, ", ")
	}
	if label := c.source.Label(); label != "" {
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

// pack returns the claims that fit into budget bytes, taking from each block in turn so that none is crowded out, and
// how many did not fit. Repetitions of one statement from one source are left out first. The result is in the order of
// the claims.
func pack(claims []claim, budget int) (packed []claim, left int) {
	type place struct{ turn, index int }
	turns := map[string]int{}
	var order []place
	seen := map[string]bool{}
	for i, c := range claims {
		key := c.source.ID + "\x00" + c.statement()
		if seen[key] {
			left++
			continue
		}
		seen[key] = true
		turn := turns[c.block]
		order = append(order, place{turn, i})
		turns[c.block]++
	}
	slices.SortStableFunc(order, func(a, b place) int { return cmp.Compare(a.turn, b.turn) })
	var kept []int
	for _, p := range order {
		cost := size(claimLine(claims[p.index]))
		if cost > budget && len(kept) > 0 {
			left++
			continue
		}
		budget -= cost
		kept = append(kept, p.index)
	}
	slices.Sort(kept)
	for _, i := range kept {
		packed = append(packed, claims[i])
	}
	return packed, left
}

// digests shows the subjects to the one who merges and outlines them: statements without quotes, within budget bytes.
// What fits is halved shrink times.
func digests(subjects []subject, budget, shrink int) []prompts.BlockDigest {
	blocks := make([]prompts.BlockDigest, len(subjects))
	for i, s := range subjects {
		blocks[i] = prompts.BlockDigest{ID: s.id, Title: s.title, Overview: s.overview, Claims: statements(s.claims, budget/len(subjects), shrink)}
	}
	return blocks
}

// statements returns what the claims say, without quotes and sources, as far as it fits; of that, half when shrink is
// 1, a quarter when it is 2, at least one.
func statements(claims []claim, budget, shrink int) []prompts.ClaimLine {
	bare := make([]claim, len(claims))
	for i, c := range claims {
		bare[i] = claim{Claim: c.Claim, block: c.block}
		bare[i].Text, bare[i].Quote = c.statement(), ""
		bare[i].source.ID = c.source.ID
	}
	packed, _ := pack(bare, budget)
	if shrink > 0 {
		packed, _ = pack(packed, sizeOf(packed)>>shrink)
	}
	lines := make([]prompts.ClaimLine, len(packed))
	for i, c := range packed {
		lines[i] = prompts.ClaimLine{CitationID: c.CitationID, Text: c.statement()}
	}
	return lines
}

// localSection is a section put together from its claims: what a reader gets where the model failed.
func localSection(subjects []subject) string {
	var parts []string
	said := map[string]bool{}
	for _, s := range subjects {
		if len(subjects) > 1 {
			parts = append(parts, "### "+citation.Escape(s.title))
		}
		var lines []string
		for _, c := range s.claims {
			if key := sentenceKey(c.statement()); !said[key] {
				said[key] = true
				lines = append(lines, "- "+citation.Escape(c.statement())+" ["+c.CitationID+"]")
			}
		}
		parts = append(parts, strings.Join(lines, "\n"))
	}
	return tidy(strings.Join(parts, "\n\n"))
}
