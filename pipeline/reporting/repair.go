package reporting

import (
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// Reasons why a correction is rejected.
const (
	refusedMissing = "The model gave no correction."
	refusedEmpty   = "The correction has no text that could stand in the report."
	refusedFigure  = "Neither a figure of the correction nor the words that show it stand in the source: "
	refusedDropped = "The correction leaves out what stands in the cited claims: "
	refusedUncited = "The correction states a fact without a citation: "
	refusedUnsaid  = "The sources do not say it either: "
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
func (c *checker) correct(d *decision) {
	if c.m.Model == nil || d.linked || d.IsRow() || !d.contradicted() {
		return
	}
	if d.proposed = prompts.Unmarked(d.answer.Correction); d.proposed == "" {
		d.refused = refusedMissing
		return
	}
	ids, _ := c.citationsAt(d)
	ids = append(slices.Clone(d.ids), ids...)
	if dropped := c.dropped(d, ids); len(dropped) > 0 {
		d.refused = refusedDropped + strings.Join(dropped, ", ")
		return
	}
	written, _ := c.m.accept(d.proposed, "", ids)
	var corrected []report.Sentence
	report.EachSentence(written.Blocks, func(s *report.Sentence) { corrected = append(corrected, *s) })
	if len(corrected) == 0 {
		d.refused = refusedEmpty
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
func (c *checker) dropped(d *decision, ids []string) (missing []string) {
	var said strings.Builder
	for _, from := range c.m.claims {
		if slices.Contains(ids, from.CitationID) {
			said.WriteString(from.Statement() + "\n" + from.Passage() + "\n")
		}
	}
	named := func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }
	for i, word := range strings.Fields(d.text) {
		word = strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if i > 0 && strings.ContainsFunc(word, named) && strings.Contains(said.String(), word) &&
			!strings.Contains(d.proposed, word) {
			missing = append(missing, word)
		}
	}
	return missing
}

// corrected checks the statements of a correction, marks them, and returns why it is rejected, or "". The rules are
// those of the draft: if the judge's places support the correction, a missing figure leaves it unverified.
func (c *checker) corrected(of *decision, correction []report.Block) (checked []CheckedSentence, refused string) {
	for _, s := range report.Statements(correction) {
		s.State = report.StateCorrected
		d := &decision{Statement: s, part: of.part, text: text.Line(s.Text()), ids: s.IDs(), action: ActionRepaired}
		if len(d.ids) == 0 {
			if support.Factual(d.text) {
				return nil, refusedUncited + d.text
			}
			continue
		}
		d.findings = c.corpus.Check(d.text, d.Head, c.sourcesOf(d.ids))
		said := support.Judged{Judgement: support.JudgedSupported, Words: of.answer.Words, By: support.ByRepair}
		d.judged = c.corpus.Prove(said, c.sourcesOf(d.ids))
		d.verdict = d.findings.Decide(d.judged)
		if d.verdict == support.Unsupported {
			return nil, refusedUnsaid + d.text
		}
		if d.judged.Span == nil && d.findings.Has(support.Absent) {
			return nil, refusedFigure + d.text
		}
		s.Verdict = string(d.verdict)
		checked = append(checked, c.entry(d))
	}
	if len(checked) == 0 {
		return nil, refusedEmpty
	}
	return checked, ""
}
