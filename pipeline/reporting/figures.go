package reporting

import (
	"regexp"
	"slices"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// figureName matches the path of a figure in a bundle. Such a path cannot break Markdown.
var figureName = regexp.MustCompile(`^figures/[0-9a-f]{64}\.(?:svg|png)$`)

// figures returns the figures of cited sources by section, in the order of their citations, with captions that cite
// them. Each figure is shown once, in the first section that cites it. Titles are written by models, so citations and
// addresses unknown to the run are removed from them.
func (a *writer) figures(sections []part) (placed [][]report.Block, removed []citation.Removal) {
	placed, removed = make([][]report.Block, len(sections)), []citation.Removal{}
	shown := map[string]bool{}
	for i, s := range sections {
		for _, id := range report.Cited(s.Blocks) {
			trace, _ := a.registry.Lookup(id)
			for _, f := range trace.Source.Figures {
				if shown[f.Path] || !figureName.MatchString(f.Path) || !beside(f, id, s.claims) {
					continue
				}
				shown[f.Path] = true
				a.stats.Figures++
				title, gone, _ := a.registry.Resolve(text.Line(f.Title))
				title, removed = text.Line(title), append(removed, gone...)
				caption := a.texts.Figure.With(prompts.V{"N": a.stats.Figures, "Title": title})
				placed[i] = append(placed[i], report.Block{Kind: report.KindFigure, Picture: f.Path, Title: title,
					Citation: id, Sentences: []report.Sentence{{Text: report.Escape(caption)}}})
			}
		}
	}
	return placed, removed
}

// beside reports whether a figure of source id belongs to a section with these claims. A picture of a web page belongs
// only to claims from the same section of that page.
func beside(f topicqueue.Figure, id string, claims []claim) bool {
	return f.End == 0 || slices.ContainsFunc(claims, func(c claim) bool {
		return c.CitationID == id && f.BesideClaim(c.Claim)
	})
}

// figuresOf returns the figures for the writer of a section, from 0: those of cited sources. Each figure goes to the
// first section with claims beside it.
func (p reportPlan) figuresOf(section int, cited []string) (lines []prompts.FigureLine) {
	given := map[string]bool{}
	for i, s := range p.sections[:section+1] {
		for _, c := range s.claims {
			for _, f := range c.Source.Figures {
				if given[f.Path] || !figureName.MatchString(f.Path) || !f.BesideClaim(c.Claim) {
					continue
				}
				given[f.Path] = true
				if i == section && slices.Contains(cited, c.CitationID) {
					lines = append(lines, prompts.FigureLine{CitationID: c.CitationID, Title: text.Line(f.Title)})
				}
			}
		}
	}
	return lines
}
