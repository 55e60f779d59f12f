package reporting

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/sources"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// weighTime bounds the reading of texts for the comparison of sources: without a text, its source is known as a copy by
// hash and address alone, and the report must not wait for that.
const weighTime = 15 * time.Second

// readAtOnce is how many texts are read side by side.
const readAtOnce = 8

// weigh compares all claims of the run: what supports what, and what contradicts what.
func (w *writer) weigh(ctx context.Context, in Input) error {
	claims := evidence.Collect(in.Traces())
	sketches := w.sketches(ctx, in.Run.ID, evidence.Sources(claims))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.weighed = evidence.Weigh(claims, sketches, w.review.Contradictions, reviewed(in))
	support := w.weighed.Support()
	for i := range w.claims {
		w.claims[i].support = support[w.claims[i].ID]
	}
	w.stats.Contradictions = len(w.weighed.Contradictions)
	said := map[string]string{}
	for i, words := range statementKeys(w.claims) {
		said[w.claims[i].ID] = words
	}
	for i := range w.weighed.Contradictions {
		c := &w.weighed.Contradictions[i]
		for _, side := range []*evidence.Side{&c.A, &c.B} {
			side.Citations = citedAs(side.Citations, w.cited)
			side.Statement = cmp.Or(said[side.Claims[0]], side.Statement)
		}
	}
	return nil
}

// reviewed returns the claims that the review has seen, by id: not those of blocks that came later, nor, in a run
// that has only the review of an earlier one, what is new.
func reviewed(in Input) map[string]bool {
	ids := map[string]bool{}
	for _, b := range in.Blocks {
		for _, t := range b.Traces {
			if in.Review.Earlier && t.Since == "" || !slices.Contains(in.Review.Blocks, b.Block.ID) {
				continue
			}
			for _, c := range t.Claims {
				ids[c.ID] = true
			}
		}
	}
	return ids
}

// matters returns the claims that a report rests on: their source is cited in the section that they stand in.
func (w *writer) matters(sections []section) map[string]bool {
	ids := map[string]bool{}
	for _, s := range sections {
		for _, c := range w.citedOf(s) {
			ids[c.ID] = true
		}
	}
	return ids
}

// sketches reads the texts of the sources, as far as they can be had in time.
func (w *writer) sketches(ctx context.Context, runID string, list []topicqueue.Source) map[string]sources.Sketch {
	ctx, cancel := context.WithTimeout(ctx, weighTime)
	defer cancel()
	read, texts := make([]sources.Sketch, len(list)), make([]string, len(list))
	var g errgroup.Group
	g.SetLimit(readAtOnce)
	for i, s := range list {
		g.Go(func() error {
			text := s.Text
			if text == "" && w.Page != nil && ctx.Err() == nil {
				text, _ = w.Page(ctx, runID, s.Hash) // what cannot be read is compared by hash and address
			}
			read[i], texts[i] = sources.NewSketch(text), text
			return nil
		})
	}
	_ = g.Wait() // no function returns an error
	found := make(map[string]sources.Sketch, len(list))
	for i, s := range list {
		found[s.ID] = read[i]
		w.read[s.ID] = texts[i]
	}
	return found
}

// Disagreements at most shown in one report, and citations on each side of one: more than that hides the others.
const maxDisagreements, maxSideCitations = 12, 3

// placed gives each disagreement to the first section that has a claim of either side.
func (w sectionWriter) placed(plan reportPlan) [][]evidence.Contradiction {
	placed := make([][]evidence.Contradiction, len(plan.sections))
	for _, c := range w.disagreements() {
		side := func(k claim) bool { return slices.Contains(c.A.Claims, k.ID) || slices.Contains(c.B.Claims, k.ID) }
		for i, s := range plan.sections {
			if slices.ContainsFunc(s.claims, side) {
				placed[i] = append(placed[i], c)
				break
			}
		}
	}
	return placed
}

// disagreementLines shows contradictions to a model.
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
		if id, ok := citation.ParseID(raw); ok && len(ids) < maxSideCitations {
			ids = append(ids, id.String())
		}
	}
	return ids
}

// withSides adds the citations of contradictions to those that a section may use.
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

// tells reports that a paragraph of written sections has both sides of a contradiction: it cites what the sides cite,
// or it has the values of both and cites their documents, where these say the same in another place.
func (w *writer) tells(sections []section, c evidence.Contradiction) bool {
	for _, s := range sections {
		for _, p := range paragraphs(s.body) {
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

// hasValue reports that a text has a value as it is written, and not as a part of a longer number.
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

// beside returns the citations of all claims from the documents that a side stands in.
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

// documentOf names the whole of which a source may be a part.
func documentOf(s topicqueue.Source) string { return cmp.Or(s.Document, s.URL, s.ID) }

// disagreementSection shows, a line each, where sources contradict each other and written sections do not tell of it,
// and what it cites; empty when there is nothing left to tell. Without a model the lines are verbatim quotes.
func (w *writer) disagreementSection(written []section) (s section, cited []string) {
	var lines []string
	side := func(indent string, s evidence.Side) {
		if ids := sideCitations(s); len(ids) > 0 { // the quote stands in the first; the others say it in their words
			said := s.Quote
			if w.Model != nil {
				said = s.Statement
			}
			lines = append(lines, indent+"- "+citation.Escape(said)+" ["+ids[0]+"]")
			cited = append(cited, ids[0])
		}
	}
	for _, c := range w.disagreements() {
		if c.A.Quote != "" && c.B.Quote != "" && !w.tells(written, c) {
			side("", c.A)
			side("  ", c.B)
		}
	}
	return section{title: w.texts.Disagree.String(), body: strings.Join(lines, "\n"), local: true}, cited
}
