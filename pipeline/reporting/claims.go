package reporting

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation/markup"
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

// claim is a claim with its source.
type claim struct {
	topicqueue.Claim
	source  topicqueue.Source
	block   string // block id, or backgroundID
	support int    // number of independent sources that state the claim; 0: unknown
}

// quote returns the text shown when no model writes: the verbatim quote, or the claim's text if there is no quote.
func (c claim) quote() string {
	if q := text.Line(c.Quote); q != "" {
		return q
	}
	return text.Line(c.Text)
}

// statement returns the claim's text, or its quote if there is no text.
func (c claim) statement() string {
	if t := text.Line(c.Text); t != "" {
		return t
	}
	return text.Line(c.Quote)
}

// verbatim reports whether the statement is only the quote. A table row, for example, says little without its header.
func (c claim) verbatim() bool { return c.statement() == text.Line(c.Quote) }

// offset returns the byte position of the claim in the document.
func (c claim) offset() int { return c.source.Offset + c.Start }

// document identifies the document or page of the claim.
func (c claim) document() string {
	return cmp.Or(c.source.URL, c.source.Document, c.source.Title, c.source.ID)
}

// backgroundID marks evidence of planning, which belongs to no block.
const backgroundID = "planning"

// gather returns the blocks with evidence and all their claims, by block in the order of their traces, and the gaps of
// the run. Evidence of planning is used only if there is no other.
func gather(in Input, texts *prompts.Texts) (blocks []blockEvidence, claims []claim, gaps []Gap) {
	for _, b := range in.Blocks {
		found := claimsOf(b.Traces, b.Block.ID)
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
		if claims = claimsOf(in.Plan.Traces, backgroundID); len(claims) > 0 {
			blocks = append(blocks, blockEvidence{id: backgroundID, title: texts.Background.String()})
		}
	}
	return blocks, claims, gaps
}

// citeOnce gives a passage that several blocks found one citation, that of the first block, so that readers see it
// under one number. It returns the replaced citations with their replacements.
func citeOnce(claims []claim, traces []topicqueue.ToolTrace) map[string]string {
	type passage struct {
		source string
		asOf   topicqueue.AsOf // an archived version of a source differs from the current one
	}
	of := func(s topicqueue.Source) passage {
		p := passage{source: s.ID}
		if s.AsOf != nil {
			p.asOf = *s.AsOf
		}
		return p
	}
	first := map[passage]string{}
	for _, c := range claims {
		first[of(c.source)] = cmp.Or(first[of(c.source)], c.CitationID)
	}
	now := map[string]string{}
	for _, t := range traces {
		if t.Source.ID == "" {
			continue
		}
		id := cmp.Or(first[of(t.Source)], t.CitationID)
		first[of(t.Source)] = id
		if id != t.CitationID {
			now[t.CitationID] = id
		}
	}
	for i, c := range claims {
		claims[i].CitationID = cmp.Or(now[c.CitationID], c.CitationID)
	}
	return now
}

// claimsOf returns the citable claims of traces.
func claimsOf(traces []topicqueue.ToolTrace, block string) []claim {
	var claims []claim
	for _, t := range traces {
		id, ok := markup.ParseID(t.CitationID)
		if !ok {
			continue
		}
		for _, c := range t.Claims {
			c.CitationID = id.String()
			found := claim{Claim: c, source: t.Source, block: block}
			if found.statement() != "" {
				claims = append(claims, found)
			}
		}
	}
	return claims
}

// distinct removes claims that repeat another claim about the same passage.
func distinct(claims []claim) (list []claim) {
	said, listed := statementKeys(claims), map[[2]string]int{}
	for i, c := range claims {
		key := [2]string{c.CitationID, said[i]}
		at, known := listed[key]
		switch {
		case !known:
			listed[key] = len(list)
			list = append(list, c)
		case list[at].statement() != said[i] && c.statement() == said[i]:
			list[at] = c
		}
	}
	return list
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

// citations returns the distinct citation ids of claims in order of appearance.
func citations(claims []claim) []string {
	var ids []string
	for _, c := range claims {
		if !slices.Contains(ids, c.CitationID) {
			ids = append(ids, c.CitationID)
		}
	}
	return ids
}

// words returns the text that describes the subject of a claim: statement, quote and section headings.
func (c claim) words() string {
	return c.statement() + "\n" + c.quote() + "\n" + strings.Join(c.source.Section, " ")
}

const digestTries = 4 // prompt sizes tried, each half of the last, for small context windows

// carriedShare is the minimum share of a quote's words that a statement must contain to carry the quote.
const carriedShare = 0.7

// claimLine converts a claim for a prompt. It omits a quote that the statement already carries.
func claimLine(c claim) prompts.ClaimLine {
	line := prompts.ClaimLine{CitationID: c.CitationID, Text: c.statement(), Source: sourceLine(c), Support: c.support}
	if c.isComputed() { // its text says it all
		line.Source = ""
		return line
	}
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
