package reporting

import (
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
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
	if len(d.opening.claims) > 0 {
		w.stats.UncitedSentences += uncited(d.opening.body)
	}
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
		parts = append(parts, "## "+w.texts.Conclusion.String(), d.conclusion.body)
		removed = append(removed, d.conclusion.removed...)
	}
	if len(w.gaps) > 0 {
		parts = append(parts, "## "+w.texts.Gaps.String(), w.texts.GapsLead.String(), w.gapList())
	}
	rendered := w.registry.Render(strings.Join(parts, "\n\n"), citation.Options{
		Style: w.run.Options.CitationStyle, Bundle: w.bundle(), Genres: w.texts.Genres, AsOf: w.asOf,
	})
	w.stats.Sections = len(d.sections)
	w.stats.Figures = len(shown)
	w.stats.Citations = len(rendered.Cited)
	w.stats.Documents = w.citedDocuments(rendered.Cited)
	markdown := rendered.Body
	if rendered.References != "" {
		markdown += "\n\n## " + w.texts.References.String() + "\n\n" + rendered.References
	}
	if len(w.claims) > 0 {
		markdown += "\n\n*" + citation.Escape(strings.Join(w.note(d, v, written, len(removed)), w.texts.Space)) + "*"
	}
	markdown += "\n"
	return Report{
		Title: outline.Title, Markdown: markdown, Outline: outline, Cited: rendered.Cited, Numbers: rendered.Numbers,
		Removed: removed, Words: countWords(strings.Join(parts, "\n\n")) - countWords(strings.Join(shown, "\n\n")), Gaps: append([]Gap{}, w.gaps...),
		Fallbacks: append([]string{}, w.fallbacks...), Statistics: w.stats, Evidence: w.weighed,
		Verification: v,
	}
}

// note says how a report was made and checked. written: a part of it by a model; removed: markers and links that
// nothing stands behind.
func (w *writer) note(d draft, v *Verification, written bool, removed int) []string {
	of := prompts.V{"Claims": w.stats.Claims, "Citations": w.stats.Citations, "Documents": w.stats.Documents, "Local": w.fallbacks,
		"Quotes": d.quotes, "LeftOut": w.stats.ClaimsLeftOut, "Language": w.run.Options.Language}
	made := w.texts.MadeLocally
	switch {
	case d.extractive:
		made = w.texts.MadeQuoted
	case written:
		made = w.texts.MadeWritten
	}
	note := []string{made.With(of)}
	if w.review.NotDone != "" {
		note = append(note, w.texts.NotReviewed.String())
	}
	if !d.extractive { // quotations are what they are
		note = append(note, w.checkNote(v))
		if removed > 0 {
			note = append(note, w.texts.MarkersRemoved.With(prompts.V{"N": removed}))
		}
	}
	if !w.texts.Speaks(w.run.Options.Language) {
		note = append(note, w.texts.OtherLanguage.With(of))
	}
	return note
}

func (w *writer) checkNote(v *Verification) string {
	c := v.Counts
	switch {
	case v.Status != citation.StatusVerified:
		return w.texts.NotChecked.With(prompts.V{"Reason": text.Line(v.Reason)})
	case c.Sentences == 0:
		return w.texts.NothingCited.String()
	}
	return w.texts.Checked.With(prompts.V{"Sentences": c.Sentences, "Supported": c.Supported, "Judged": c.Judged,
		"Repaired": c.Repaired, "Removed": c.Removed, "Unsupported": c.Unsupported, "Unverified": c.Unverified,
		"FactsUncited": c.FactsUncited, "SourcesUnread": c.SourcesUnread, "Refused": c.Refused})
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

// asOf says of which day an earlier text of a source is, and that there is none any more.
func (w *writer) asOf(then topicqueue.AsOf) string {
	words := w.texts.AsOf.With(prompts.V{"Date": then.Date})
	if then.Gone {
		words += " · " + w.texts.Gone.String()
	}
	return words
}
