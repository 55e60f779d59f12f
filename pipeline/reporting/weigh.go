package reporting

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/quoted"
	"nightdesk/pipeline/sources"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// weigh compares all claims of the run and finds support and contradictions among them.
func (w *writer) weigh(ctx context.Context, in Input) error {
	claims := evidence.Collect(in.Traces(), "")
	sketches, err := w.sketches(ctx, evidence.Sources(claims))
	if err != nil {
		return ended(ctx, err)
	}
	w.weighed = evidence.Weigh(claims, sketches, w.review.Contradictions, reviewed(in))
	support := w.weighed.Support()
	for i := range w.claims {
		w.claims[i].Support = support[w.claims[i].ID]
	}
	w.stats.Contradictions = len(w.weighed.Contradictions)
	said := map[string]string{}
	for i, words := range evidence.Statements(w.claims) {
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

// reviewed returns the ids of the claims that the review covered. It excludes claims of later blocks and, if the run
// only has an earlier run's review, new claims.
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

// matters returns the ids of the claims behind the report: those whose citation is used in their section.
func (w *writer) matters(sections []part) map[string]bool {
	ids := map[string]bool{}
	for _, s := range sections {
		for _, c := range w.citedOf(s) {
			ids[c.ID] = true
		}
	}
	return ids
}

// sketches returns sketches of the sources' texts by source id and keeps the texts. Copies of a lost text are detected
// only by hash and address.
func (w *writer) sketches(ctx context.Context, list []topicqueue.Source) (map[string]sources.Sketch, error) {
	texts, err := w.readSources(ctx, list)
	found := make(map[string]sources.Sketch, len(list))
	for i, s := range list {
		found[s.ID], w.read[s.ID] = sources.NewSketch(texts[i]), texts[i]
	}
	return found, err
}

// maxDisagreements is the maximum number of disagreements per report.
const maxDisagreements = 12

// disagreements returns the contradictions to report, those with the most support.
func (w *writer) disagreements() []evidence.Contradiction {
	all := w.weighed.Contradictions
	all = slices.DeleteFunc(slices.Clone(all), func(c evidence.Contradiction) bool {
		return w.claimOf(c.A) < 0 || w.claimOf(c.B) < 0
	})
	return all[:min(len(all), maxDisagreements)]
}

// disagreementLines converts contradictions for a prompt, which names claims by their index in w.claims.
func (w *writer) disagreementLines(list []evidence.Contradiction, name func(int) string) []prompts.Disagreement {
	var lines []prompts.Disagreement
	for _, c := range list {
		line := prompts.Disagreement{A: name(w.claimOf(c.A)), B: name(w.claimOf(c.B)), Why: c.Why}
		if c.Why == "" {
			line.A, line.B = line.A+" "+c.A.Statement, line.B+" "+c.B.Statement
		}
		lines = append(lines, line)
	}
	return lines
}

// claimOf returns the index of the claim of a side that prompts list: the first with its statement.
func (w *writer) claimOf(s evidence.Side) int {
	return slices.IndexFunc(w.claims, func(c claim) bool { return slices.Contains(s.Claims, c.ID) })
}

// tells reports whether a block of the sections presents both sides of a contradiction: it cites both, or other
// passages of their two documents.
func (w *writer) tells(sections []part, c evidence.Contradiction) bool {
	named := func(ids []string) map[string]bool {
		names := map[string]bool{}
		for _, id := range ids {
			source, _ := w.source(id)
			names[id], names[documentOf(source)] = true, true
		}
		return names
	}
	common := func(a, b map[string]bool) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(a)), func(name string) bool { return b[name] })
	}
	a, b := named(c.A.Citations), named(c.B.Citations)
	for _, s := range sections {
		for i := range s.Blocks {
			if cited := named(report.Cited(s.Blocks[i : i+1])); common(a, cited) && common(b, cited) {
				return true
			}
		}
	}
	return false
}

// documentOf identifies the document that a source belongs to.
func documentOf(s topicqueue.Source) string { return cmp.Or(s.Document, s.URL, s.ID) }

// disagreementSection lists the contradictions that the written sections do not present, the other side below the
// first, and returns the citations used. Both are empty if nothing is left. Without a model the sides are verbatim
// quotes.
func (w *writer) disagreementSection(written []part) (s part, cited []string) {
	list := report.Block{Kind: report.KindList}
	s = localPart(w.texts.Disagree.String(), "")
	side := func(of evidence.Side) []report.Block {
		i := w.claimOf(of)
		cited = append(cited, w.claims[i].CitationID)
		if w.Model != nil {
			return report.ParseWhole(markdown.Escape(of.Statement) + " [" + w.claims[i].CitationID + "]")
		}
		e := quoted.New(w.claims[i])
		s.excerpts = append(s.excerpts, e)
		return e.Shown()
	}
	for _, c := range w.disagreements() {
		if c.A.Quote == "" || c.B.Quote == "" || w.tells(written, c) {
			continue
		}
		if a, b := side(c.A), side(c.B); len(a) > 0 && len(b) > 0 {
			below := report.Block{Kind: report.KindList, Items: [][]report.Block{b}}
			list.Items = append(list.Items, append(a, below))
		}
	}
	if len(list.Items) > 0 {
		s.Blocks = []report.Block{list}
	}
	return s, cited
}
