package reporting

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// blockEvidence is a block with claims.
type blockEvidence struct {
	id, title, overview string
	block               topicqueue.Block
}

type claim = evidence.Claim

// backgroundID marks evidence of planning, which belongs to no block.
const backgroundID = "planning"

// gather returns the blocks with evidence and all their claims, by block in the order of their traces, and the gaps of
// the run. Evidence of planning is used only if there is no other.
func gather(in Input, texts *prompts.Texts) (blocks []blockEvidence, claims []claim, gaps []Gap) {
	for _, b := range in.Blocks {
		found := citable(b.Traces, b.Block.ID)
		if gap, missing := gapOf(b.Block, len(found), texts); missing {
			gaps = append(gaps, gap)
		}
		if len(found) > 0 {
			blocks = append(blocks, blockEvidence{
				id: b.Block.ID, title: blockTitle(b.Block), overview: text.Line(b.Block.Overview), block: b.Block,
			})
			claims = append(claims, found...)
		}
	}
	if len(blocks) == 0 {
		if claims = citable(in.Plan.Traces, backgroundID); len(claims) > 0 {
			blocks = append(blocks, blockEvidence{id: backgroundID, title: texts.Background.String()})
		}
	}
	return blocks, claims, gaps
}

// citable returns the claims of traces that a report can cite.
func citable(traces []topicqueue.ToolTrace, block string) (claims []claim) {
	for _, c := range evidence.Collect(traces, block) {
		if id, ok := citation.ParseID(c.CitationID); ok && c.Statement() != "" {
			c.CitationID = id.String()
			claims = append(claims, c)
		}
	}
	return claims
}

// gapOf describes what is missing of a block; false if nothing is.
func gapOf(b topicqueue.Block, claims int, texts *prompts.Texts) (Gap, bool) {
	what := texts.NotDone
	switch {
	case claims > 0 && b.Status == topicqueue.BlockCompleted:
		return Gap{}, false
	case claims > 0:
		what = texts.Unfinished
	case b.Status == topicqueue.BlockFailed:
		what = texts.Failed
	case b.Status == topicqueue.BlockCompleted:
		what = texts.Nothing
	}
	gap := Gap{BlockID: b.ID, Title: blockTitle(b), Reason: what.String()}
	if reason := strings.TrimRight(text.Line(b.Reason), ".。"); reason != "" {
		gap.Reason = texts.Because.With(prompts.V{"What": gap.Reason, "Reason": reason})
	}
	return gap, true
}

// blockTitle returns a block's title as a heading, or its id with spaces if there is no usable title.
func blockTitle(b topicqueue.Block) string {
	if title := report.CleanTitle(b.Title); title != "" {
		return title
	}
	return strings.ReplaceAll(b.ID, "_", " ")
}

const digestTries = 4 // prompt sizes tried, each half of the last, for small context windows

// carriedShare is the minimum share of a quote's words that a statement must contain to carry the quote.
const carriedShare = 0.7

// claimLine converts a claim for a prompt. It omits a quote that the statement already carries.
func claimLine(c claim) prompts.ClaimLine {
	line := prompts.ClaimLine{CitationID: c.CitationID, Text: c.Statement(), Source: sourceLine(c), Support: c.Support}
	if isComputed(c) { // its text says it all
		line.Source = ""
		return line
	}
	if q := c.Passage(); !carries(line.Text, q) {
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
	s := c.Source
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

// claimWords returns the text that describes the subject of a claim: statement, quote and section headings.
func claimWords(c claim) string {
	return c.Statement() + "\n" + c.Passage() + "\n" + strings.Join(c.Source.Section, " ")
}

// claimLines lists distinct claims for the prompt, those of a source together.
func claimLines(claims []claim) []prompts.ClaimLine {
	var lines []prompts.ClaimLine
	first := map[string]int{}
	for i, c := range evidence.Distinct(claims) {
		lines = append(lines, claimLine(c))
		if _, known := first[lines[i].Source]; !known {
			first[lines[i].Source] = i
		}
	}
	slices.SortStableFunc(lines, func(a, b prompts.ClaimLine) int {
		return cmp.Or(first[a.Source]-first[b.Source], cmp.Compare(a.CitationID, b.CitationID))
	})
	return lines
}
