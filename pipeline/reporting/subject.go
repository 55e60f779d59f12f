package reporting

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/topicqueue"
)

// subject is what one part of the report is about: a block, or several that say the same, with their evidence.
type subject struct {
	id       string // of the first block
	blocks   []topicqueue.Block
	title    string
	overview string
	claims   []claim // by block, then in the order of their traces
}

// claim is a claim together with the source that it stands in.
type claim struct {
	topicqueue.Claim
	source  topicqueue.Source
	block   string
	support int // independent sources that state it; 0: not known
}

// quote returns the words to show when no model writes: the verbatim ones.
func (c claim) quote() string {
	if q := fold(c.Quote); q != "" {
		return q
	}
	return fold(c.Text)
}

// statement returns what the claim says: its text, else its quote.
func (c claim) statement() string {
	if t := fold(c.Text); t != "" {
		return t
	}
	return fold(c.Quote)
}

// offset returns where in the document the claim stands.
func (c claim) offset() int { return c.source.Offset + c.Start }

// document returns what identifies the document or page that the claim comes from.
func (c claim) document() string {
	return cmp.Or(c.source.URL, c.source.Document, c.source.Title, c.source.ID)
}

// backgroundID stands for the evidence of planning, which belongs to no block.
const backgroundID = "planning"

// gather sorts the run's evidence into subjects, one for each block that found something, and names the other blocks.
// Evidence of planning is a subject of its own only when nothing else was found.
func gather(in Input, words wordSet) (subjects []subject, gaps []Gap) {
	for _, b := range in.Blocks {
		claims := claimsOf(b.Traces, b.Block.ID)
		if gap, missing := gapOf(b.Block, len(claims), words); missing {
			gaps = append(gaps, gap)
		}
		if len(claims) > 0 {
			subjects = append(subjects, subject{
				id: b.Block.ID, blocks: []topicqueue.Block{b.Block}, claims: claims,
				title: blockTitle(b.Block), overview: fold(b.Block.Overview),
			})
		}
	}
	if len(subjects) == 0 {
		if claims := claimsOf(in.Plan.Traces, backgroundID); len(claims) > 0 {
			subjects = append(subjects, subject{id: backgroundID, title: words.background, claims: claims})
		}
	}
	return subjects, gaps
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

// gapOf says what is missing of a block; false when nothing is.
func gapOf(b topicqueue.Block, claims int, words wordSet) (Gap, bool) {
	gap := Gap{BlockID: b.ID, Title: blockTitle(b)}
	reason := fold(b.Reason)
	switch {
	case b.Status == topicqueue.BlockFailed && claims == 0:
		gap.Reason = words.because(words.failed, reason)
	case claims == 0 && b.Status == topicqueue.BlockCompleted:
		gap.Reason = words.because(words.nothing, reason)
	case claims == 0:
		gap.Reason = words.because(words.notDone, reason)
	case b.Status != topicqueue.BlockCompleted:
		gap.Reason = words.because(words.unfinished, reason)
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

// blockIDs returns the ids of a subject's blocks.
func (s subject) blockIDs() []string {
	if len(s.blocks) == 0 {
		return []string{s.id}
	}
	ids := make([]string, len(s.blocks))
	for i, b := range s.blocks {
		ids[i] = b.ID
	}
	return ids
}

func subjectIDs(subjects []subject) []string {
	ids := make([]string, len(subjects))
	for i, s := range subjects {
		ids[i] = s.id
	}
	return ids
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

// fold makes one line of text: white space becomes single spaces.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
