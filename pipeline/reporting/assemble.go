package reporting

import (
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation"
)

// draft is a report before its citations are rendered. Texts have canonical markers and no headings above ###.
type draft struct {
	opening    passage
	sections   []section
	conclusion passage // empty in an extractive report
	extractive bool
	quotes     int // shown in an extractive report
}

// repeated returns the sentences that were taken out because the report says the same before.
func (d draft) repeated() []string {
	out := slices.Concat(d.opening.repeated, d.conclusion.repeated)
	for _, s := range d.sections {
		out = append(out, s.repeated...)
	}
	return out
}

// assemble joins the parts, shows the figures, renders the citations and adds references, gaps and the note on how the
// report was made and checked.
func (w *writer) assemble(outline Outline, d draft, v *Verification) Report {
	parts := []string{"# " + citation.Escape(outline.Title), d.opening.body}
	if changed := w.whatChanged(); changed != "" {
		parts = []string{parts[0], changed, "---", parts[1]}
	}
	removed := append([]citation.Removal{}, d.opening.removed...)
	written := !d.opening.local || !d.conclusion.local
	figures, gone := w.figures(d.sections)
	removed = append(removed, gone...)
	var shown []string
	for i, s := range d.sections {
		written = written || !s.local
		parts = append(parts, "## "+citation.Escape(s.title), citation.CloseCode(s.body))
		for _, f := range figures[i] {
			shown = append(shown, w.show(len(shown)+1, f))
			parts = append(parts, shown[len(shown)-1])
		}
		removed = append(removed, s.removed...)
		if !d.extractive && !s.local {
			w.stats.UncitedSentences += uncited(s.body)
		}
	}
	if d.conclusion.body != "" {
		parts = append(parts, "## "+w.words.conclusion, d.conclusion.body)
		removed = append(removed, d.conclusion.removed...)
	}
	if len(w.gaps) > 0 {
		parts = append(parts, "## "+w.words.gaps, w.words.gapsLead, w.gapList())
	}
	rendered := w.registry.Render(strings.Join(parts, "\n\n"), citation.Options{
		Style: w.run.Options.CitationStyle, Bundle: w.bundle(), Genres: w.words.genres, AsOf: w.words.changes.asOf,
	})
	w.stats.Sections = len(d.sections)
	w.stats.Figures = len(shown)
	w.stats.Citations = len(rendered.Cited)
	w.stats.Documents = w.citedDocuments(rendered.Cited)
	note := w.words.madeWritten(w.stats, w.fallbacks, !written)
	if d.extractive {
		note = w.words.madeQuoted(w.stats, d.quotes)
	}
	if w.review.NotDone != "" {
		note += w.words.notReviewed
	}
	markdown := rendered.Body
	if rendered.References != "" {
		markdown += "\n\n## " + w.words.references + "\n\n" + rendered.References
	}
	if !d.extractive { // quotations are what they are
		note += w.words.checked(v, len(removed))
	}
	markdown += "\n\n*" + citation.Escape(note) + "*\n"
	return Report{
		Title: outline.Title, Markdown: markdown, Outline: outline, Cited: rendered.Cited, Numbers: rendered.Numbers,
		Removed: removed, Words: countWords(strings.Join(parts, "\n\n")) - countWords(strings.Join(shown, "\n\n")), Gaps: append([]Gap{}, w.gaps...),
		Fallbacks: append([]string{}, w.fallbacks...), Statistics: w.stats, Evidence: w.weighed,
		Verification: v,
	}
}

func (w *writer) gapList() string {
	lines := make([]string, len(w.gaps))
	for i, g := range w.gaps {
		lines[i] = "- **" + citation.Escape(g.Title) + "**: " + citation.Escape(g.Reason)
	}
	return strings.Join(lines, "\n")
}

func (w *writer) citedDocuments(ids []string) int {
	var cited []claim
	for _, id := range ids {
		if t, ok := w.registry.Lookup(id); ok {
			cited = append(cited, claim{source: t.Source})
		}
	}
	return documents(cited)
}

// countWords counts the words of Markdown without markers and markup. A character of a script that is written without
// spaces counts as one word.
func countWords(markdown string) int {
	n, inWord := 0, false
	for _, r := range anyMarker.ReplaceAllString(markdown, "") {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			n++
			inWord = false
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			if !inWord {
				n++
			}
			inWord = true
		case unicode.IsSpace(r) || r == '|' || r == '/':
			inWord = false
		}
	}
	return n
}
