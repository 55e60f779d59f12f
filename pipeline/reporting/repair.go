package reporting

import (
	"context"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// Limits of one repair prompt.
const (
	repairSentences = 20
	repairClaims    = 3 // most similar claims shown: per citation of a sentence, and again of those that it does not cite
	passageBytes    = 600
)

// citeAll adds to each statement that the judge finds only partly or not in its sources the citation of the first claim
// of the report that has every figure, date and name missing there, and has it judged again with that source as well.
// The citation stays unless the statement is still unsupported. The only error is the end of ctx.
func (c *checker) citeAll(ctx context.Context) error {
	others := make([]string, len(c.claims))
	for i, from := range c.claims {
		s := from.Source
		others[i] = strings.Join([]string{from.Statement(), from.Passage(), s.Title, s.By(), s.Date, s.Head}, "\n")
	}
	var cited, before []*decision
	for _, p := range c.parts {
		for _, d := range p.decisions {
			was := *d
			if c.citeMissing(d, others) {
				cited, before = append(cited, d), append(before, &was)
			}
		}
	}
	if len(cited) == 0 {
		return nil
	}
	if err := c.askJudge(ctx, cited, 1); err != nil {
		return err
	}
	for i, d := range cited {
		if d.verdict = d.findings.Decide(d.judged); d.verdict == support.Unsupported {
			*d = *before[i]
		}
	}
	return nil
}

// citeMissing adds the citation of a claim to a statement, if that claim's source makes up for what its own lack.
func (c *checker) citeMissing(d *decision, others []string) bool {
	lacking := d.judged.Judgement == support.JudgedPartly || d.judged.Judgement == support.JudgedAbsent
	if !lacking || d.linked {
		return false
	}
	_, holders := c.corpus.Lacking(d.text, d.Head, c.sourcesOf(d.ids), others)
	for _, h := range holders {
		ids := append(slices.Clone(d.ids), c.claims[h].CitationID)
		sources := c.sourcesOf(ids)
		if missing, _ := c.corpus.Lacking(d.text, d.Head, sources, others); len(missing) == 0 {
			d.ids, d.action, d.findings = ids, ActionCited, c.corpus.Check(d.text, d.Head, sources)
			d.judged = support.Judged{}
			return true
		}
	}
	return false
}

// contradicted reports whether a statement is unsupported because its sources say otherwise. What they only lack cannot
// be put right by other words.
func (d *decision) contradicted() bool {
	misstated := func(g support.Figure) bool { return g.Instead != "" }
	otherwise := d.judged.Judgement == support.JudgedContradicted || d.findings.Quotation.Result == support.Absent ||
		slices.ContainsFunc(d.findings.Figures, misstated)
	return otherwise && d.verdict == support.Unsupported
}

// repairAll asks the model to correct the contradicted sentences of the report. Table rows are not sent. Sentences that
// the model does not correct stay unchanged. The only error is the end of ctx.
func (c *checker) repairAll(ctx context.Context) error {
	var wrong []*decision
	for _, p := range c.parts {
		for _, d := range p.decisions {
			if c.m.Model != nil && d.contradicted() && !d.linked && !d.IsRow() {
				wrong = append(wrong, d)
			}
		}
	}
	ordinal := 0
	for asked := range slices.Chunk(wrong, repairSentences) {
		prompt := prompts.RepairSection(c.m.run.Options.Language, c.repairData(asked))
		answer, err := llm.Ask[prompts.RepairSectionAnswer](ctx, c.m.Model, llm.Request{
			Position: c.m.position(prompt.Name, ordinal, 0), Role: llm.Writer, Prompt: prompt,
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			c.v.Counts.RepairsFailed++
		}
		for _, d := range asked {
			d.refused = refusedMissing
		}
		for _, r := range answer.Repairs {
			if n := r.Sentence - 1; n >= 0 && n < len(asked) && asked[n].refused == refusedMissing {
				asked[n].refused = ""
				c.repair(asked[n], prompts.Unmarked(r.Text), r.Span)
			}
		}
		ordinal++
	}
	return nil
}

// repairData builds the prompt data of a call: its contradicted sentences and the claims that they cite. It adds
// similar claims of the report, because a true sentence may have the wrong citation.
func (c *checker) repairData(wrong []*decision) prompts.RepairSectionData {
	var data prompts.RepairSectionData
	shown := map[string]bool{} // ids of claims, and passages
	for n, d := range wrong {
		taken := map[string]int{} // by citation; "": those that the sentence does not cite
		for _, from := range byLikeness(d.text, c.claims) {
			of := ""
			if slices.Contains(d.ids, from.CitationID) {
				of = from.CitationID
			}
			if taken[of]++; taken[of] <= repairClaims {
				shown[from.ID] = true
			}
		}
		line := prompts.UnsupportedLine{
			Number: n + 1, Text: d.Written(), Passage: c.passage(d),
			Problem: c.problem(d.findings, d.judged),
		}
		if shown[line.Passage] { // already shown
			line.Passage = ""
		}
		shown[line.Passage] = true
		data.Sentences = append(data.Sentences, line)
	}
	for _, claim := range c.claims {
		if shown[claim.ID] {
			data.Claims = append(data.Claims, claimLine(claim))
		}
	}
	return data
}

// passage returns the source text around the evidence for the verdict on a sentence.
func (c *checker) passage(d *decision) string {
	quotes := c.quotesFor(d)
	if d.judged.Span != nil {
		quotes = []support.Span{*d.judged.Span}
	}
	var texts []string
	for _, s := range support.Merge(c.corpus.Passages(d.text, c.sourcesOf(d.ids), quotes, passageBytes)) {
		texts = append(texts, text.Line(c.corpus.Text(s)))
	}
	return text.Clip(strings.Join(texts, " […] "), passageBytes)
}

// Reasons why a correction is rejected.
const (
	refusedMissing = "The model gave no correction."
	refusedEmpty   = "The correction has no text that could stand in the report."
	refusedFigure  = "Neither a figure of the correction nor the words that show it stand in the source: "
	refusedDropped = "The correction leaves out what stands in the cited claims: "
	refusedUncited = "The correction states a fact without a citation: "
)

// repair replaces an unsupported sentence with the model's correction. If the correction fails the checks, the reason
// is recorded and the sentence stays. An empty correction removes it. words: source text that supports the correction.
func (c *checker) repair(d *decision, answer, words string) {
	if answer = text.Line(answer); answer == "" {
		d.action = ActionRemoved
		d.part.edits.Replace(d.Statement)
		d.checked = []CheckedSentence{c.entry(d)}
		return
	}
	d.proposed = answer
	if dropped := c.dropped(d, answer); len(dropped) > 0 {
		d.refused = refusedDropped + strings.Join(dropped, ", ")
		return
	}
	written, _ := c.m.accept(answer, "", evidence.Citations(c.claims))
	var corrected []report.Sentence
	report.EachSentence(written.Blocks, func(s *report.Sentence) { corrected = append(corrected, *s) })
	if len(corrected) == 0 {
		d.refused = refusedEmpty
		return
	}
	if len(report.Cited(written.Blocks)) == 0 {
		report.CiteLast(corrected, d.ids)
	}
	checked, refused := c.repaired(d.part, []report.Block{{Kind: report.KindParagraph, Sentences: corrected}}, words)
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

// dropped returns the figures, dates and names of a sentence that the claims have which it cites, and a correction not.
func (c *checker) dropped(d *decision, correction string) []string {
	var said []string
	for _, from := range c.citedBy(d) {
		said = append(said, from.Statement(), from.Passage())
	}
	claims := strings.Join(said, "\n")
	both := support.New([]support.Source{{ID: "correction", Text: correction}, {ID: "claims", Text: claims}})
	missing, _ := both.Lacking(d.text, d.Head, []string{"correction"}, []string{claims})
	absent := both.Check(d.text, d.Head, []string{"claims"}).Figures
	return slices.DeleteFunc(missing, func(m string) bool {
		return slices.ContainsFunc(absent, func(g support.Figure) bool { return g.Text == m && g.Result == support.Absent })
	})
}

// repaired checks the statements of a correction, marks them, and returns why it is rejected, or "". The rules are
// those of the draft: if words support the correction, a missing figure leaves it unverified.
func (c *checker) repaired(p *checkedPart, correction []report.Block, words string) (
	checked []CheckedSentence, refused string,
) {
	for _, s := range report.Statements(correction) {
		s.State = report.StateCorrected
		d := &decision{Statement: s, part: p, text: s.Text(), ids: s.IDs(), action: ActionRepaired}
		if len(d.ids) == 0 {
			if support.Factual(d.text) {
				return nil, refusedUncited + d.text
			}
			continue
		}
		d.findings = c.corpus.Check(d.text, d.Head, c.sourcesOf(d.ids))
		said := support.Judged{Judgement: support.JudgedSupported, Words: words, By: support.ByRepair}
		d.judged = c.corpus.Prove(said, c.sourcesOf(d.ids))
		d.verdict = d.findings.Decide(d.judged)
		if d.verdict == support.Unsupported {
			return nil, c.problem(d.findings, d.judged)
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
