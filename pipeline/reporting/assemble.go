package reporting

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/reporting/prose"
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
		a.stats.UncitedSentences += prose.Uncited(d.opening.Body)
	}
	figures, removed := a.figures(d.sections)
	var shown []string
	for i, s := range d.sections {
		parts = append(parts, "## "+markup.Escape(s.title), markup.CloseCode(s.Body))
		if !d.extractive && !s.Local {
			a.stats.UncitedSentences += prose.Uncited(s.Body)
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
	for _, p := range d.parts() {
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
		note := strings.Join(a.note(d, v, len(removed)), a.texts.Space)
		markdown += "\n\n*" + markup.Escape(note) + "*"
	}
	return Report{
		Title: outline.Title, Markdown: markdown + "\n", Outline: outline, Cited: rendered.Cited,
		Numbers: rendered.Numbers, Removed: removed, Gaps: append([]Gap{}, a.gaps...),
		Words:     prose.CountWords(body) - prose.CountWords(strings.Join(shown, "\n\n")),
		Fallbacks: append([]string{}, a.fallbacks...), Statistics: a.stats, Evidence: a.weighed, Verification: v,
	}
}

// note returns the sentences on how a report was made and checked. removed: number of removed markers and links.
func (a assembler) note(d draft, v *Verification, removed int) []string {
	quotes := 0
	for _, s := range d.sections {
		quotes += len(s.excerpts)
	}
	of := prompts.V{
		"Claims": a.stats.Claims, "Citations": a.stats.Citations, "Documents": a.stats.Documents,
		"Local": a.fallbacks, "Quotes": quotes, "LeftOut": a.stats.ClaimsLeftOut, "Language": a.run.Options.Language,
	}
	made := a.texts.MadeWritten
	if d.extractive {
		made = a.texts.MadeQuoted
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

// asOf describes an archived version of a source: its date, and whether the source is gone.
func (a assembler) asOf(then topicqueue.AsOf) string {
	words := a.texts.AsOf.With(prompts.V{"Date": then.Date})
	if then.Gone {
		words += " · " + a.texts.Gone.String()
	}
	return words
}

// AddHead inserts a head below the title: topic, date, run, batch, list entry, final state, and result of the check.
// run must have ended. The head is added later because a report is written before its run ends.
func (r *Report) AddHead(run topicqueue.Run) {
	head := r.head(run)
	title, rest, _ := strings.Cut(r.Markdown, "\n")
	r.Markdown = title + "\n\n" + head + rest
	if r.Verification != nil {
		r.Verification.shift(strings.Count(head, "\n") + 1)
	}
}

// head returns a block quote of several lines.
func (r *Report) head(run topicqueue.Run) string {
	t := prompts.TextsIn(run.Options.Language)
	var lines []string
	if topic := text.Line(run.Topic); topicqueue.TopicKey(topic) != topicqueue.TopicKey(r.Title) {
		lines = append(lines, t.Topic.With(prompts.V{"Topic": markup.Escape(topic)}))
	}
	place := []string{t.Run.With(prompts.V{"Date": run.Date(run.EndedAt), "Run": run.ID})}
	if run.Batch != "" {
		place = append(place, t.Batch.With(prompts.V{"Batch": markup.Escape(run.Batch)}))
	}
	if run.Ref != "" {
		place = append(place, t.Entry.With(prompts.V{"ID": markup.Escape(text.Line(run.Ref))}))
	}
	if run.State == topicqueue.RunCompleted {
		place = append(place, t.Completed.String())
	}
	lines = append(lines, strings.Join(place, " · "))
	if run.State != topicqueue.RunCompleted {
		reason := cmp.Or(strings.TrimRight(text.Line(run.Reason), "."), string(run.State)) + "."
		lines = append(lines, t.Partial.With(prompts.V{"Reason": markup.Escape(reason)}))
	}
	if v := r.Verification; v != nil && v.Verified() && v.Counts.Sentences > 0 && !v.QuotesOnly() {
		c := v.Counts
		lines = append(lines, t.Confirmed.With(prompts.V{
			"Sentences": c.Sentences, "Confirmed": c.Supported, "Repaired": c.Repaired,
			"Unverified": c.Unverified - c.Conclusions, "Conclusions": c.Conclusions,
			"Unsupported": c.Unsupported, "FactsUncited": c.FactsUncited,
		}))
	}
	return "> " + strings.Join(lines, "  \n> ") + "\n"
}

// shift moves the line numbers of the references down.
func (v *Verification) shift(lines int) {
	for i := range v.Valid {
		if v.Valid[i].LineNumber > 0 {
			v.Valid[i].LineNumber += lines
		}
	}
	for i := range v.Removed {
		if v.Removed[i].LineNumber > 0 {
			v.Removed[i].LineNumber += lines
		}
	}
}

// Verified reports whether the check was made.
func (v *Verification) Verified() bool { return v.Status == verification.StatusVerified }

// QuotesOnly reports whether a report has only quotations.
func (v *Verification) QuotesOnly() bool {
	return !slices.ContainsFunc(v.Sentences, func(s CheckedSentence) bool { return !s.Quote })
}
