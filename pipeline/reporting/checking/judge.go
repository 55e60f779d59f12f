package checking

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/judging"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// likely is the number of claims that may support a sentence that its sources do not cover.
const likely = 3

// askJudge asks the model to judge those statements that are not verbatim, in one call if they and their sources fit.
// The only error is the end of ctx.
func (c *pass) askJudge(ctx context.Context, all []*decision) error {
	var open []*decision
	var asked []judging.Sentence
	for _, d := range all {
		switch {
		case d.findings.Quotation.Result == support.Verbatim:
		case d.findings.NoText && len(d.ids) > 0:
			d.judged.Missing = support.NoSource
		case c.Model == nil:
			d.judged.Missing = support.NoJudge
		default:
			open, asked = append(open, d), append(asked, c.question(d))
		}
	}
	judge := judging.Judge{Model: c.Model, Language: c.Run.Options.Language, Corpus: c.corpus, About: c.describe,
		Brief: map[string]bool{}}
	for _, t := range c.Computed {
		judge.Brief[t.Source.ID] = true
	}
	answers, errs := judge.All(ctx, llm.Position{RunID: c.Run.ID, Stage: "reporting"}, asked, c.Parallel)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if c.v.Counts.JudgeFailed = len(errs); len(errs) > 0 {
		c.silent = errs[0]
	}
	for i, d := range open {
		d.answer = answers[i]
		c.cite(d)
	}
	return nil
}

// question returns what the judge is asked about a statement. If its sources lack something, the claims most similar to
// it show where else it may be.
func (c *pass) question(d *decision) judging.Sentence {
	s := judging.Sentence{Text: d.text, Head: d.Head, Sources: c.sourcesOf(d.ids), Findings: d.findings,
		Marked: d.Marked(func(id string) string { return "{" + c.sourcesOf([]string{id})[0] + "}" })}
	others := likely
	if len(d.ids) > 0 && !d.findings.Has(support.Absent) {
		others = 0
	}
	for _, from := range c.byLikeness(d.text) {
		quote := support.Span{Source: from.Source.ID, Start: from.Start, End: from.End}
		switch cited := slices.Contains(d.ids, from.CitationID); {
		case !cited && others == 0:
			continue
		case !cited:
			others--
			s.Others = append(s.Others, quote.Source)
		}
		s.Quotes = append(s.Quotes, quote)
	}
	return s
}

// cite takes over what the judge says about a statement, and corrects the citation: sources that have what the
// statement says are added; if none of those that it cites has any of it, they are replaced.
func (c *pass) cite(d *decision) {
	d.judged = d.answer.Judged
	concluded := d.judged.Judgement == support.JudgedConclusion // it is not confirmed without what it follows from
	said := d.judged.Judgement == support.JudgedSupported || concluded || len(d.ids) == 0
	if ids, kept := c.citationsAt(d); said && !d.linked && len(ids) > 0 {
		d.action = ActionCited
		if !kept && d.judged.Judgement == support.JudgedSupported {
			d.wrong, d.ids = d.ids, nil
		}
		d.ids = append(slices.Clone(d.ids), ids...)
		d.findings = c.corpus.Check(d.text, d.Head, c.sourcesOf(d.ids))
	}
	d.judged = c.corpus.Prove(d.judged, c.sourcesOf(d.ids))
}

// citationsAt returns the citations of the places that decide about a statement, without those that it has. kept
// reports whether some place is in a source that it cites.
func (c *pass) citationsAt(d *decision) (ids []string, kept bool) {
	cited := c.sourcesOf(d.ids)
	for _, place := range d.answer.Places {
		if slices.Contains(cited, place.Source) {
			kept = true
			continue
		}
		best, most := "", -1
		for _, from := range c.Claims {
			common := min(from.End, place.End) - max(from.Start, place.Start)
			if from.Source.ID == place.Source && (best == "" || common > most) {
				best, most = from.CitationID, common
			}
		}
		if best != "" && !slices.Contains(ids, best) {
			ids = append(ids, best)
		}
	}
	return ids, kept
}

// describe returns the metadata of a passage's source for the judge, because a report may mention publisher and date.
func (c *pass) describe(at support.Span) prompts.Passage {
	s := c.sources[at.Source]
	s.Text = c.corpus.Beginning(at.Source)
	return prompts.Passage{
		Title: s.Title, By: s.By(), Date: s.Date, Head: s.HeadAt(at.Start),
		Place: s.Place(),
	}
}

// byLikeness returns the claims sorted by likeness to a statement (BM25), the most alike first.
func (c *pass) byLikeness(words string) []evidence.Claim {
	if c.index == nil {
		docs := make([]text.Document, len(c.Claims))
		for i, from := range c.Claims {
			docs[i].Text = from.Statement()
		}
		c.index = text.NewIndex(docs)
	}
	scores, order := c.index.BM25(words), make([]int, len(c.Claims))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	sorted := make([]evidence.Claim, len(order))
	for n, i := range order {
		sorted[n] = c.Claims[i]
	}
	return sorted
}

// Reasons why a correction is rejected.
const (
	RefusedMissing = "The model gave no correction."
	RefusedEmpty   = "The correction has no text that could stand in the report."
	RefusedFigure  = "Neither a figure of the correction nor the words that show it stand in the source: "
	RefusedDropped = "The correction leaves out what stands in the cited claims: "
	RefusedUncited = "The correction states a fact without a citation: "
	RefusedUnsaid  = "The sources do not say it either: "
)

// contradicted reports whether a statement is unsupported because sources say otherwise. What they only lack cannot be
// put right by other words.
func (d *decision) contradicted() bool {
	misstated := func(g support.Figure) bool { return g.Instead != "" }
	otherwise := d.judged.Judgement == support.JudgedContradicted || d.findings.Quotation.Result == support.Absent ||
		slices.ContainsFunc(d.findings.Figures, misstated)
	return otherwise && d.verdict == support.Unsupported
}

// correct replaces a contradicted sentence with the judge's correction. If the correction fails the checks, the reason
// is recorded and the sentence stays. Table rows are not corrected.
func (c *pass) correct(d *decision) {
	if c.Model == nil || d.linked || d.IsRow() || !d.contradicted() {
		return
	}
	if d.proposed = prompts.Unmarked(d.answer.Correction); d.proposed == "" {
		d.refused = RefusedMissing
		return
	}
	ids, _ := c.citationsAt(d)
	ids = append(slices.Clone(d.ids), ids...)
	if dropped := c.dropped(d, ids); len(dropped) > 0 {
		d.refused = RefusedDropped + strings.Join(dropped, ", ")
		return
	}
	var corrected []report.Sentence
	report.EachSentence(c.Accept(d.proposed, ids), func(s *report.Sentence) { corrected = append(corrected, *s) })
	if len(corrected) == 0 {
		d.refused = RefusedEmpty
		return
	}
	blocks := []report.Block{{Kind: report.KindParagraph, Sentences: corrected}}
	if all := report.Statements(blocks); len(report.Cited(blocks)) == 0 {
		all[len(all)-1].Cite(ids...)
	}
	checked, refused := c.corrected(d, blocks)
	if refused != "" {
		d.refused = refused
		return
	}
	for i := range checked {
		checked[i].Original = d.text
	}
	d.action, d.checked = ActionRepaired, checked
	d.part.edits.Replace(d.Statement, corrected...)
}

// dropped returns the names, figures and dates of a sentence that its sources' claims have and the correction does not.
func (c *pass) dropped(d *decision, ids []string) (missing []string) {
	var said strings.Builder
	for _, from := range c.Claims {
		if slices.Contains(ids, from.CitationID) {
			said.WriteString(from.Statement() + "\n" + from.Passage() + "\n")
		}
	}
	named := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }
	for i, word := range strings.Fields(d.text) {
		word = strings.TrimFunc(word, func(r rune) bool { return !text.LetterOrDigit(r) })
		if i > 0 && strings.ContainsFunc(word, named) && strings.Contains(said.String(), word) &&
			!strings.Contains(d.proposed, word) {
			missing = append(missing, word)
		}
	}
	return missing
}

// corrected checks the statements of a correction, marks them, and returns why it is rejected, or "". The rules are
// those of the draft: if the judge's places support the correction, a missing figure leaves it unverified.
func (c *pass) corrected(of *decision, correction []report.Block) (checked []Sentence, refused string) {
	for _, s := range report.Statements(correction) {
		s.State = report.StateCorrected
		d := &decision{Statement: s, part: of.part, text: text.Line(s.Text()), ids: s.IDs(), action: ActionRepaired}
		if len(d.ids) == 0 {
			if support.Factual(d.text) {
				return nil, RefusedUncited + d.text
			}
			continue
		}
		d.findings = c.corpus.Check(d.text, d.Head, c.sourcesOf(d.ids))
		said := support.Judged{Judgement: support.JudgedSupported, Words: of.answer.Words, By: support.ByRepair}
		d.judged = c.corpus.Prove(said, c.sourcesOf(d.ids))
		d.verdict = d.findings.Decide(d.judged)
		if d.verdict == support.Unsupported {
			return nil, RefusedUnsaid + d.text
		}
		if d.judged.Span == nil && d.findings.Has(support.Absent) {
			return nil, RefusedFigure + d.text
		}
		s.Verdict = string(d.verdict)
		checked = append(checked, c.entry(d))
	}
	if len(checked) == 0 {
		return nil, RefusedEmpty
	}
	return checked, ""
}
