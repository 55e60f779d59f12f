package reporting

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// blockEvidence is a block that has claims.
type blockEvidence struct {
	id, title, overview string
	block               topicqueue.Block
}

// claim is a claim together with the source that it stands in.
type claim struct {
	topicqueue.Claim
	source  topicqueue.Source
	block   string // id, or backgroundID
	support int    // sources of separate origin that state it; 0: not known
	part    int    // subsection of its section, counted from 1; 0: none
	shared  bool   // in a section that needs it too: it stands in another one
}

// quote returns the words to show when no model writes: the verbatim ones.
func (c claim) quote() string {
	if q := text.Line(c.Quote); q != "" {
		return q
	}
	return text.Line(c.Text)
}

// statement returns what the claim says: its text, else its quote.
func (c claim) statement() string {
	if t := text.Line(c.Text); t != "" {
		return t
	}
	return text.Line(c.Quote)
}

// verbatim reports whether nobody has put the claim into words of its own: a row of a table tells little without its
// head.
func (c claim) verbatim() bool { return c.statement() == text.Line(c.Quote) }

// offset returns where in the document the claim stands.
func (c claim) offset() int { return c.source.Offset + c.Start }

// document returns what identifies the document or page that the claim comes from.
func (c claim) document() string {
	return cmp.Or(c.source.URL, c.source.Document, c.source.Title, c.source.ID)
}

// backgroundID stands for the evidence of planning, which belongs to no block.
const backgroundID = "planning"

// gather returns the blocks that found something with all their claims, by block and in the order of their traces,
// and names the other blocks. Evidence of planning counts only when nothing else was found.
func gather(in Input, texts *prompts.Texts) (blocks []blockEvidence, claims []claim, gaps []Gap) {
	for _, b := range in.Blocks {
		found := claimsOf(b.Traces, b.Block.ID)
		if gap, missing := gapOf(b.Block, len(found), texts); missing {
			gaps = append(gaps, gap)
		}
		if len(found) > 0 {
			blocks = append(blocks, blockEvidence{id: b.Block.ID, title: blockTitle(b.Block), overview: text.Line(b.Block.Overview), block: b.Block})
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

// citeOnce gives a passage that several blocks have found the citation of the first: a reader finds it under one
// number. It returns the citations that traces have lost that way, each with what stands for it.
func citeOnce(claims []claim, traces []topicqueue.ToolTrace) map[string]string {
	type passage struct {
		source string
		asOf   topicqueue.AsOf // what a source said once is not what it says
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

// claimsOf returns the claims of these traces that can be cited.
func claimsOf(traces []topicqueue.ToolTrace, block string) []claim {
	var claims []claim
	for _, t := range traces {
		id, ok := citation.ParseID(t.CitationID)
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

// distinct returns claims without those that say of the same passage what another one of them says.
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

func because(texts *prompts.Texts, what prompts.Text, reason string) string {
	if reason == "" {
		return what.String()
	}
	return texts.Because.With(prompts.V{"What": what.String(), "Reason": strings.TrimRight(reason, ".。")})
}

// gapOf says what is missing of a block; false when nothing is.
func gapOf(b topicqueue.Block, claims int, texts *prompts.Texts) (Gap, bool) {
	gap := Gap{BlockID: b.ID, Title: blockTitle(b)}
	reason := text.Line(b.Reason)
	switch {
	case b.Status == topicqueue.BlockFailed && claims == 0:
		gap.Reason = because(texts, texts.Failed, reason)
	case claims == 0 && b.Status == topicqueue.BlockCompleted:
		gap.Reason = because(texts, texts.Nothing, reason)
	case claims == 0:
		gap.Reason = because(texts, texts.NotDone, reason)
	case b.Status != topicqueue.BlockCompleted:
		gap.Reason = because(texts, texts.Unfinished, reason)
	default:
		return gap, false
	}
	return gap, true
}

// blockTitle returns a block's title as a heading; a block without a usable one is called by its id's number.
func blockTitle(b topicqueue.Block) string {
	if title := CleanTitle(b.Title); title != "" {
		return title
	}
	return strings.ReplaceAll(b.ID, "_", " ")
}

// citations returns the citation ids of claims, each once, in order of appearance.
func citations(claims []claim) []string {
	var ids []string
	for _, c := range claims {
		if !slices.Contains(ids, c.CitationID) {
			ids = append(ids, c.CitationID)
		}
	}
	return ids
}

// words returns what tells what a claim is about.
func (c claim) words() string {
	return c.statement() + "\n" + c.quote() + "\n" + strings.Join(c.source.Section, " ")
}
