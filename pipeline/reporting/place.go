package reporting

import (
	"slices"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// place is the position of a claim: section from 0, subsection from 1 (0: none).
type place struct{ section, part int }

// places returns the place of each claim in an outline. A claim goes where the outline names it, or else to the section
// of its block. If there is none, or if the outline is that of the last report, it goes to the section that shares most
// of its words, or else to the first section.
func (ol outliner) places(o Outline) map[string]place {
	places, blocks := map[string]place{}, map[string]int{}
	for i, s := range o.Sections {
		for _, id := range s.ClaimIDs {
			places[id] = place{i, 0}
		}
		for n, sub := range s.Subsections {
			for _, id := range sub.ClaimIDs {
				places[id] = place{i, n + 1}
			}
		}
		for _, id := range s.BlockIDs {
			blocks[id] = i
		}
	}
	ol.placeByWords(o, places, blocks)
	together := map[string]place{} // by statement: the first named place of a duplicate, else that of its first block
	said := statementKeys(ol.claims)
	for i, c := range ol.claims {
		if p, named := places[c.ID]; named {
			if _, known := together[said[i]]; !known {
				together[said[i]] = p
			}
		}
	}
	for i, c := range ol.claims {
		if _, known := together[said[i]]; !known {
			together[said[i]] = place{blocks[c.block], 0}
		}
		places[c.ID] = together[said[i]]
		if ids := operands([]topicqueue.Claim{c.Claim}); c.isComputed() && len(ids) > 0 { // computed claims come last
			of := slices.IndexFunc(ol.claims, func(o claim) bool { return o.CitationID == ids[0] })
			places[c.ID] = place{section: places[ol.claims[max(0, of)].ID].section}
		}
	}
	return places
}

// statementKeys returns a statement for each claim, so that duplicates are equal. Claims that several blocks found with
// the same quote of one source get the statement of one of them, preferably one that is not verbatim.
func statementKeys(claims []claim) []string {
	type passage struct{ source, quote string }
	best := map[passage]int{}
	for i, c := range claims {
		at := passage{c.source.ID, c.Quote}
		if first, known := best[at]; !known || claims[first].verbatim() && !c.verbatim() {
			best[at] = i
		}
	}
	said := make([]string, len(claims))
	for i, c := range claims {
		said[i] = c.statement()
		if one := claims[best[passage{c.source.ID, c.Quote}]]; c.Quote != "" && one.block != c.block {
			said[i] = one.statement()
		}
	}
	return said
}

// placeByWords places the claims that the outline does not name. Each goes to the section that shares most of its words
// (BM25), else to the one that shares most words with all claims of its block. If sections have its block, only these
// count, and only in the outline of a last report, because in a new one the block decides.
func (ol outliner) placeByWords(o Outline, places map[string]place, blocks map[string]int) {
	docs := make([]text.Document, len(o.Sections))
	for i, s := range o.Sections {
		docs[i] = text.Document{Heading: s.Title, Text: s.Instruction}
		for _, p := range s.Subsections {
			docs[i].Heading += "\n" + p.Title
			docs[i].Text += "\n" + p.Instruction
		}
	}
	for _, c := range ol.claims {
		if p, named := places[c.ID]; named {
			docs[p.section].Text += "\n" + c.statement()
		}
	}
	put := func(c claim, scores []float64) bool {
		best := slices.Index(scores, slices.Max(append(scores, 0)))
		if best < 0 || scores[best] == 0 {
			return false
		}
		places[c.ID] = place{best, 0}
		return true
	}
	index, sums := text.NewIndex(docs), map[string][]float64{}
	var lost []claim
	for _, c := range ol.claims {
		_, planned := blocks[c.block]
		if planned && ol.before == nil {
			continue
		}
		scores := index.BM25(c.words() + "\n" + ol.block(c.block).title)
		if sums[c.block] == nil {
			sums[c.block] = make([]float64, len(docs))
		}
		for i, s := range o.Sections {
			if planned && !slices.Contains(s.BlockIDs, c.block) {
				scores[i] = 0
			}
			sums[c.block][i] += scores[i]
		}
		if _, named := places[c.ID]; !named && !put(c, scores) {
			lost = append(lost, c)
		}
	}
	for _, c := range lost {
		put(c, sums[c.block])
	}
}
