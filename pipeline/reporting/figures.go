package reporting

import (
	"regexp"
	"slices"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// figureName is the place of a figure in a bundle: nothing in it can turn into other Markdown.
var figureName = regexp.MustCompile(`^figures/[0-9a-f]{64}\.(?:svg|png)$`)

// figure is a picture of a cited source, to be shown.
type figure struct {
	path       string
	title      string // one line of plain text
	citationID string
}

// figures gives every section the figures of the sources that it cites, in the order of their citations. What several
// cite is shown once, in the first of them; in the short answer, which stands before all, only what no other cites.
// A title is the model's, so it names no citations and addresses that the run does not have: they are removed.
func (a assembler) figures(sections []section) (placed [][]figure, removed []citation.Removal) {
	placed = make([][]figure, len(sections))
	shown := map[string]bool{}
	place := func(i int) {
		for _, id := range a.registry.Render(sections[i].body, citation.Options{}).Cited {
			trace, _ := a.registry.Lookup(id)
			for _, f := range trace.Source.Figures {
				if shown[f.Path] || !figureName.MatchString(f.Path) || !beside(f, id, sections[i].claims) {
					continue
				}
				shown[f.Path] = true
				title, gone := a.registry.Resolve(text.Line(f.Title))
				placed[i] = append(placed[i], figure{f.Path, text.Line(title), id})
				removed = append(removed, gone...)
			}
		}
	}
	for i := range sections {
		place(i)
	}
	return placed, removed
}

// beside reports whether a figure of this source belongs to a section with these claims: a picture of a page stands
// beside claims of its own section there.
func beside(f topicqueue.Figure, id string, claims []claim) bool {
	return f.End == 0 || slices.ContainsFunc(claims, func(c claim) bool {
		return c.CitationID == id && f.BesideClaim(c.Claim)
	})
}

// plannedFigures gives every section the figures of its claims' sources. What several have is given to the first.
func (w sectionWriter) plannedFigures(plan reportPlan) [][]figure {
	planned := make([][]figure, len(plan.sections))
	given := map[string]bool{}
	for i, s := range plan.sections {
		for _, c := range s.claims {
			for _, f := range c.source.Figures {
				if !given[f.Path] && figureName.MatchString(f.Path) && f.BesideClaim(c.Claim) {
					given[f.Path] = true
					planned[i] = append(planned[i], figure{f.Path, text.Line(f.Title), c.CitationID})
				}
			}
		}
	}
	return planned
}

// figureLines shows a model the figures of these claims' sources.
func figureLines(claims []claim, figures []figure) (lines []prompts.FigureLine) {
	ids := citations(claims)
	for _, f := range figures {
		if slices.Contains(ids, f.citationID) {
			lines = append(lines, prompts.FigureLine{CitationID: f.citationID, Title: f.title})
		}
	}
	return lines
}

// show writes the n-th figure of a report: the picture, then its caption with the marker of its source.
func (a assembler) show(n int, f figure) string {
	return "![" + citation.Escape(f.title) + "](" + a.bundle() + f.path + ")\n\n" +
		"*" + citation.Escape(a.texts.Figure.With(prompts.V{"N": n, "Title": f.title})) + "* [" + f.citationID + "]"
}
