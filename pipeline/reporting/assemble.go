package reporting

import (
	"strings"
	"unicode"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// assembler builds a report from its checked texts.
type assembler struct{ *material }

// assemble joins the parts, places the figures, renders the citations and adds gaps, references and the note on how the
// report was made and checked.
func (a assembler) assemble(outline Outline, d draft, v *Verification) Report {
	parts := []string{"# " + markup.Escape(outline.Title), d.opening.Body}
	if changed := a.whatChanged(); changed != "" {
		parts = []string{parts[0], changed, "---", parts[1]}
	}
	if d.answer {
		a.stats.UncitedSentences += uncited(d.opening.Body)
	}
	figures, removed := a.figures(d.sections)
	var shown []string
	for i, s := range d.sections {
		parts = append(parts, "## "+markup.Escape(s.title), markup.CloseCode(s.Body))
		if !d.extractive && !s.Local {
			a.stats.UncitedSentences += uncited(s.Body)
		}
		for _, f := range figures[i] {
			shown = append(shown, a.show(len(shown)+1, f))
			parts = append(parts, shown[len(shown)-1])
		}
	}
	if d.conclusion.Body != "" {
		parts = append(parts, "## "+a.texts.Conclusion.String(), d.conclusion.Body)
	}
	if len(a.gaps) > 0 {
		parts = append(parts, "## "+a.texts.Gaps.String(), a.texts.GapsLead.String(), a.gapList())
	}
	body := strings.Join(parts, "\n\n")
	rendered := a.registry.Render(body, citation.Options{
		Style: a.run.Options.CitationStyle, Bundle: a.bundle(), Genres: a.texts.Genres, AsOf: a.asOf,
	})
	written := false
	for _, p := range d.parts() {
		written = written || !p.Local
		removed = append(removed, p.Removed...)
	}
	a.stats.Sections = len(d.sections)
	a.stats.Figures = len(shown)
	a.stats.Citations = len(rendered.Cited)
	a.stats.Documents = a.documents(rendered.Cited)
	markdown := rendered.Body
	if rendered.References != "" {
		markdown += "\n\n## " + a.texts.References.String() + "\n\n" + rendered.References
	}
	if len(a.claims) > 0 {
		note := strings.Join(a.note(d, v, written, len(removed)), a.texts.Space)
		markdown += "\n\n*" + markup.Escape(note) + "*"
	}
	return Report{
		Title: outline.Title, Markdown: markdown + "\n", Outline: outline, Cited: rendered.Cited,
		Numbers: rendered.Numbers, Removed: removed, Gaps: append([]Gap{}, a.gaps...),
		Words:     countWords(body) - countWords(strings.Join(shown, "\n\n")),
		Fallbacks: append([]string{}, a.fallbacks...), Statistics: a.stats, Evidence: a.weighed, Verification: v,
	}
}

// note returns the sentences on how a report was made and checked. written: a model wrote at least one part; removed:
// number of removed markers and links.
func (a assembler) note(d draft, v *Verification, written bool, removed int) []string {
	quotes := 0
	for _, s := range d.sections {
		quotes += len(s.excerpts)
	}
	of := prompts.V{
		"Claims": a.stats.Claims, "Citations": a.stats.Citations, "Documents": a.stats.Documents,
		"Local": a.fallbacks, "Quotes": quotes, "LeftOut": a.stats.ClaimsLeftOut, "Language": a.run.Options.Language,
	}
	made := a.texts.MadeLocally
	switch {
	case d.extractive:
		made = a.texts.MadeQuoted
	case written:
		made = a.texts.MadeWritten
	}
	note := []string{made.With(of)}
	if a.review.NotDone != "" {
		note = append(note, a.texts.NotReviewed.String())
	}
	if !d.extractive { // quotations need no check
		note = append(note, a.checkNote(v))
		if removed > 0 {
			note = append(note, a.texts.MarkersRemoved.With(prompts.V{"N": removed}))
		}
	}
	if !a.texts.Speaks(a.run.Options.Language) {
		note = append(note, a.texts.OtherLanguage.With(of))
	}
	return note
}

func (a assembler) checkNote(v *Verification) string {
	c := v.Counts
	switch {
	case !v.Verified():
		return a.texts.NotChecked.With(prompts.V{"Reason": text.Line(v.Reason)})
	case c.Sentences == 0:
		return a.texts.NothingCited.String()
	}
	return a.texts.Checked.With(prompts.V{"Sentences": c.Sentences, "Supported": c.Supported, "Judged": c.Judged,
		"Repaired": c.Repaired, "Removed": c.Removed, "Unsupported": c.Unsupported,
		"Unverified": c.Unverified - c.Conclusions, "Conclusions": c.Conclusions,
		"FactsUncited": c.FactsUncited, "SourcesUnread": c.SourcesUnread, "Refused": c.Refused})
}

func (a assembler) gapList() string {
	lines := make([]string, len(a.gaps))
	for i, g := range a.gaps {
		lines[i] = "- **" + markup.Escape(g.Title) + "**: " + markup.Escape(g.Reason)
	}
	return strings.Join(lines, "\n")
}

// countWords counts the words of Markdown without markers and markup. A Chinese or Japanese character counts as one
// word.
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

// asOf describes an archived version of a source: its date, and whether the source is gone.
func (a assembler) asOf(then topicqueue.AsOf) string {
	words := a.texts.AsOf.With(prompts.V{"Date": then.Date})
	if then.Gone {
		words += " · " + a.texts.Gone.String()
	}
	return words
}
