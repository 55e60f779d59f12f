package reporting

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/reporting/changed"
	"nightdesk/pipeline/reporting/checking"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// assemble joins the parts, places the figures, and adds gaps, references and the note on how the report was made and
// checked.
func (a *writer) assemble(outline Outline, d draft, v *checking.Verification) Report {
	tree := report.Report{Format: report.Format, Title: outline.Title, Status: a.cautions}
	words := 0
	add := func(role, title string, blocks, figures []report.Block) {
		if len(blocks) > 0 {
			words += report.Words(blocks)
			tree.Sections = append(tree.Sections, report.Section{Role: role, Title: title,
				Blocks: slices.Concat(blocks, figures)})
		}
	}
	if c := a.changes; c != nil {
		add(report.RoleChanges, a.texts.Changes.With(prompts.V{"Date": c.Since}), changed.Section(*c, a.texts), nil)
	}
	add(report.RoleAnswer, "", d.opening.Blocks, nil)
	figures, removed := a.figures(d.sections)
	for i, s := range d.sections {
		add(report.RoleSection, s.title, s.Blocks, figures[i])
		if !d.extractive && !s.Local {
			a.stats.UncitedSentences += uncited(s.Blocks)
		}
	}
	if d.answer {
		a.stats.UncitedSentences += uncited(d.opening.Blocks)
	}
	add(report.RoleConclusion, a.texts.Conclusion.String(), d.conclusion.Blocks, nil)
	if len(a.gaps) > 0 {
		add(report.RoleGaps, a.texts.Gaps.String(),
			report.ParseWhole(report.Escape(a.texts.GapsLead.String())+"\n\n"+a.gapList()), nil)
	}
	for _, p := range d.parts() {
		removed = append(removed, p.Removed...)
	}
	cited := tree.Cited()
	tree.References = References(a.run, a.registry, cited)
	slices.SortFunc(cited, citation.Compare)
	v.Valid = validOf(tree, a.registry)
	v.Number(tree)
	a.stats.Sections = len(d.sections)
	a.stats.Citations = len(cited)
	a.stats.Documents = a.documents(cited)
	if len(a.claims) > 0 {
		tree.Imprint = []string{"*" + report.Escape(strings.Join(a.note(d, v, len(removed)), a.texts.Space)) + "*"}
	}
	return Report{
		Title: outline.Title, Tree: tree, Markdown: tree.Markdown(StyleOf(a.run)), Outline: outline, Cited: cited,
		Removed: removed, Gaps: append([]Gap{}, a.gaps...),
		Words: words, Fallbacks: append([]string{}, a.fallbacks...), Statistics: a.stats, Evidence: a.weighed,
		Verification: v,
	}
}

// maxCautions is the maximum number of documents that a report warns of.
const maxCautions = 3

// cautions tells of the documents whose text gives orders to assistants.
func cautions(traces []topicqueue.ToolTrace, texts *prompts.Texts) (list []string) {
	told := map[string]bool{}
	for _, t := range traces {
		document := documentOf(t.Source)
		if len(t.Orders) > 0 && !told[document] && len(list) < maxCautions {
			told[document] = true
			list = append(list, texts.GivesOrders.With(prompts.V{
				"Title": markdown.Escape(cmp.Or(t.Source.Title, document)), "Text": markdown.Escape(text.Clip(t.Orders[0], 80)),
			}))
		}
	}
	return list
}

// StyleOf returns how the report of a run is shown as Markdown.
func StyleOf(run topicqueue.Run) report.Style {
	t := prompts.TextsIn(run.Options.Language)
	return report.Style{Bundle: bundleOf(run), Marked: t.Unsupported.String(), References: t.References.String()}
}

// bundleOf is the relative path from reports/<run>.md to the run's data, in directories and buckets.
func bundleOf(run topicqueue.Run) string { return "../cache/" + run.ID + "/" }

// References returns the references of a report that cites these ids, in order of appearance.
func References(run topicqueue.Run, registry *citation.Registry, cited []string) []report.Reference {
	t := prompts.TextsIn(run.Options.Language)
	return registry.References(cited, citation.Options{Style: run.Options.CitationStyle, Bundle: bundleOf(run),
		Genres: t.Genres, AsOf: func(then topicqueue.AsOf) string {
			words := t.AsOf.With(prompts.V{"Date": then.Date})
			if then.Gone {
				words += " · " + t.Gone.String()
			}
			return words
		}})
}

// validOf lists the entries of the references with their sources.
func validOf(tree report.Report, registry *citation.Registry) []verification.Valid {
	list := []verification.Valid{}
	for _, ref := range tree.References {
		for _, e := range ref.Entries {
			source, _ := registry.Source(e.IDs[0])
			v := verification.Valid{Number: len(list) + 1, Line: "[" + e.Label + "] " + e.Text, Match: citation.MatchKey}
			if source.URL != "" {
				v.URL, v.Match = &source.URL, citation.MatchExact
			}
			if source.Key != "" {
				v.CitationKey = &source.Key
			}
			if e.Label == e.IDs[0] {
				v.ID, v.Match = e.Label, citation.MatchID
			}
			list = append(list, v)
		}
	}
	return list
}

// uncited counts the sentences of paragraphs without a citation.
func uncited(blocks []report.Block) (n int) {
	for _, b := range blocks {
		if b.Kind == report.KindParagraph {
			for _, s := range b.Sentences {
				if len(s.Cites) == 0 {
					n++
				}
			}
		}
	}
	return n
}

// note returns the sentences on how a report was made and checked. removed: number of removed markers and links.
func (a *writer) note(d draft, v *checking.Verification, removed int) []string {
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

func (a *writer) checkNote(v *checking.Verification) string {
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

func (a *writer) gapList() string {
	lines := make([]string, len(a.gaps))
	for i, g := range a.gaps {
		lines[i] = "- **" + markdown.Escape(g.Title) + "**: " + markdown.Escape(g.Reason)
	}
	return strings.Join(lines, "\n")
}

// AddRun adds what is known once the run has ended: below the answer the result of the check and why the run is
// partial, and at the end topic, date, run, batch and list entry.
func (r *Report) AddRun(run topicqueue.Run) {
	t := prompts.TextsIn(run.Options.Language)
	cautions := r.Tree.Status
	r.Tree.Status = nil
	if v := r.Verification; v != nil && v.Verified() && v.Counts.Sentences > 0 && !v.QuotesOnly() {
		c := v.Counts
		r.Tree.Status = append(r.Tree.Status, t.Confirmed.With(prompts.V{
			"Sentences": c.Sentences, "Unsupported": c.Unsupported, "Unverified": c.Unverified - c.Conclusions,
			"FactsUncited": c.FactsUncited,
		}))
	}
	place := []string{t.Run.With(prompts.V{"Date": run.Date(run.EndedAt), "Run": run.ID})}
	if topic := text.Line(run.Topic); topicqueue.TopicKey(topic) != topicqueue.TopicKey(r.Title) {
		place = slices.Insert(place, 0, t.Topic.With(prompts.V{"Topic": markdown.Escape(topic)}))
	}
	if run.Batch != "" {
		place = append(place, t.Batch.With(prompts.V{"Batch": markdown.Escape(run.Batch)}))
	}
	if run.Ref != "" {
		place = append(place, t.Entry.With(prompts.V{"ID": markdown.Escape(text.Line(run.Ref))}))
	}
	if run.State == topicqueue.RunCompleted {
		place = append(place, t.Completed.String())
	} else {
		reason := cmp.Or(strings.TrimRight(text.Line(run.Reason), "."), string(run.State)) + "."
		r.Tree.Status = append(r.Tree.Status, t.Partial.With(prompts.V{"Reason": markdown.Escape(reason)}))
	}
	r.Tree.Status = append(r.Tree.Status, cautions...)
	r.Tree.Imprint = append(r.Tree.Imprint, strings.Join(place, " · "))
	r.Markdown = r.Tree.Markdown(StyleOf(run))
}
