package reporting

import (
	"context"
	"errors"
	"slices"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// place is the position of a claim: section from 0, subsection from 1 (0: none).
type place struct{ section, part int }

// places returns the place of each claim in an outline. A claim goes where the outline names it. With a template or a
// last report, an unnamed claim goes to the section that shares most of its words. Otherwise it goes to the section of
// its block, or else to the first section.
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
	for id, section := range ol.placedBefore() {
		if section >= 0 && section < len(o.Sections) {
			places[id] = place{section, 0}
		}
	}
	if ol.template != nil || ol.before != nil {
		ol.placeByWords(o, places)
	}
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

// placedBefore returns the template section of each claim in the last report; nil if nothing of that report is kept.
func (ol outliner) placedBefore() map[string]int {
	if ol.before == nil || ol.template == nil {
		return nil
	}
	return ol.before.Places
}

// placeByWords places the claims that the outline does not name. Each goes to the section that shares most of its words
// (BM25), else to the one that shares most words with all claims of its block. With an outline of the last report, only
// sections of its block count.
func (ol outliner) placeByWords(o Outline, places map[string]place) {
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
		best := highest(scores)
		if best < 0 || scores[best] == 0 {
			return false
		}
		places[c.ID] = place{best, 0}
		return true
	}
	index, sums := text.NewIndex(docs), map[string][]float64{}
	var lost []claim
	for _, c := range ol.claims {
		scores := index.BM25(c.words())
		if sums[c.block] == nil {
			sums[c.block] = make([]float64, len(docs))
		}
		for i, s := range o.Sections {
			if ol.template == nil && !slices.Contains(s.BlockIDs, c.block) {
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

// placeByModel asks the model to place the claims of a templated report that the last report does not have. Claims that
// the model does not place stay where they are. The only error is the end of ctx.
func (ol outliner) placeByModel(ctx context.Context, places map[string]place) error {
	var open []claim
	before, said := ol.placedBefore(), map[string]bool{}
	for _, c := range ol.claims {
		if _, known := before[c.ID]; !known && !said[c.statement()] {
			open, said[c.statement()] = append(open, c), true
		}
	}
	data := prompts.PlaceData{Topic: ol.topic}
	for i, s := range ol.template.Sections {
		line := prompts.PlaceSection{Number: i + 1, Title: s.Title, Instruction: s.Instruction}
		for _, p := range s.Subsections {
			line.Parts = append(line.Parts, p.Title)
		}
		data.Sections = append(data.Sections, line)
	}
	size, failed := len(open), false
	for ordinal, at := 0, 0; at < len(open); ordinal++ {
		shown := open[at:min(len(open), at+size)]
		data.Claims = nil
		for i, c := range shown {
			data.Claims = append(data.Claims, prompts.PlaceClaim{Number: i + 1, Text: c.statement()})
		}
		p := prompts.Place(ol.run.Options.Language, data)
		answer, err := llm.Ask[prompts.PlaceAnswer](ctx, ol.Model, llm.Request{
			Position: ol.position(p.Name, ordinal, 0), Role: llm.Writer, Prompt: p,
		})
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, llm.ErrContextLength) && size > 1:
			size = (size + 1) / 2 // too many claims for the context window
			continue
		case err != nil:
			failed = true
		}
		ol.takePlaces(places, shown, answer)
		at += len(shown)
	}
	if failed {
		ol.fellBack("place")
	}
	return nil
}

// takePlaces applies a model's placement to these claims and to all claims with the same statement.
func (ol outliner) takePlaces(places map[string]place, claims []claim, answer prompts.PlaceAnswer) {
	taken := map[string]place{}
	for _, s := range answer.Sections {
		for _, n := range s.Claims {
			if s.Section < 1 || s.Section > len(ol.template.Sections) || n < 1 || n > len(claims) {
				continue
			}
			if _, twice := taken[claims[n-1].statement()]; !twice {
				taken[claims[n-1].statement()] = place{s.Section - 1, 0}
			}
		}
	}
	for _, c := range ol.claims {
		if p, ok := taken[c.statement()]; ok {
			places[c.ID] = p
		}
	}
}
