package reporting

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
)

// Limits of one question for repairs.
const (
	repairBytes    = 12_000 // of claims
	repairSentence = 20
	passageBytes   = 600
)

// repairAll asks once for each part that has unsupported sentences, several parts at a time, for sentences that the
// sources do say. Rows of tables are not asked for. What the model does not repair stays as it was. The error is
// the end of ctx.
func (c *checker) repairAll(ctx context.Context, parts []part, decisions [][]decision) error {
	if c.w.Model == nil {
		return nil
	}
	answers := make([]map[int]prompts.SentenceRepair, len(parts))
	failed := make([]bool, len(parts))
	var g errgroup.Group
	g.SetLimit(parallel(c.w.Parallel))
	for i, p := range parts {
		var wrong []int
		for j, d := range decisions[i] {
			if d.verdict == support.Unsupported && !d.linked && !d.row && len(wrong) < repairSentence {
				wrong = append(wrong, j)
			}
		}
		if len(wrong) == 0 {
			continue
		}
		data := c.repairData(p, decisions[i], wrong)
		g.Go(func() error {
			answers[i], failed[i] = c.askRepair(ctx, i, data, wrong)
			return nil
		})
	}
	_ = g.Wait() // none returns an error
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i, p := range parts {
		if failed[i] {
			c.v.Counts.RepairsFailed++
		}
		for j := range decisions[i] {
			if r, ok := answers[i][j]; ok {
				c.repair(p, &decisions[i][j], prompts.Unmarked(r.Text), r.Span)
			}
		}
	}
	return nil
}

// repairData is the question about a part: its unsupported sentences and the claims of the sources that they cite.
func (c *checker) repairData(p part, all []decision, wrong []int) prompts.RepairSectionData {
	data := prompts.RepairSectionData{Title: p.title}
	var ids []string
	for n, j := range wrong {
		d := all[j]
		ids = append(ids, d.ids...)
		data.Sentences = append(data.Sentences, prompts.UnsupportedLine{
			Number: n + 1, Text: d.raw(*p.body), Passage: c.passage(p, d),
			Problem: c.w.problem(d.findings, d.judged),
		})
	}
	left := repairBytes
	for _, claim := range p.claims {
		if line := claimLine(claim); slices.Contains(ids, claim.CitationID) && size(line) <= left {
			data.Claims = append(data.Claims, line)
			left -= size(line)
		}
	}
	return data
}

// passage returns the words of the sources around what decided about a sentence.
func (c *checker) passage(p part, d decision) string {
	quotes := quotesFor(d.statement, p.claims)
	if d.judged.Span != nil {
		quotes = []support.Span{*d.judged.Span}
	}
	var texts []string
	for _, s := range support.Merge(c.corpus.Passages(d.statement.text, c.sourcesOf(d.ids), quotes, passageBytes)) {
		texts = append(texts, text.Line(c.corpus.Text(s)))
	}
	return clipRunes(strings.Join(texts, " […] "), passageBytes)
}

// askRepair returns the answers by decision, and whether there was none.
func (c *checker) askRepair(ctx context.Context, ordinal int, data prompts.RepairSectionData, wrong []int) (
	repairs map[int]prompts.SentenceRepair, failed bool,
) {
	prompt := prompts.RepairSection(c.w.run.Options.Language, data)
	answer, err := llm.Ask[prompts.RepairSectionAnswer](ctx, c.w.Model, llm.Request{
		Position: c.w.position(prompt.Name, ordinal, 0), Role: llm.Writer, Prompt: prompt,
	})
	if err != nil {
		return nil, true
	}
	repairs = map[int]prompts.SentenceRepair{}
	for _, r := range answer.Repairs {
		if r.Sentence >= 1 && r.Sentence <= len(wrong) {
			repairs[wrong[r.Sentence-1]] = r
		}
	}
	return repairs, false
}

// repair puts an answer in the place of an unsupported sentence, unless a program finds fault with that too; an
// empty one takes the sentence out. words: of a source, that show it.
func (c *checker) repair(p part, d *decision, answer, words string) {
	if answer = text.Line(answer); answer == "" {
		d.action, d.changed, d.text = ActionRemoved, true, ""
		d.checked = []CheckedSentence{c.entry(p, *d)}
		return
	}
	written, _ := c.w.accept(answer, "", citations(p.claims))
	body := text.Line(written.body)
	if body == "" {
		return
	}
	if len(c.w.registry.Render(body, citation.Options{}).Cited) == 0 {
		body = withMarkers(body, d.ids)
	}
	var checked []CheckedSentence
	for _, s := range statementsOf(body, false) {
		if len(s.ids) == 0 {
			if support.Factual(s.text) {
				return // it would say something without evidence
			}
			continue
		}
		repaired := decision{statement: s, findings: c.look(p, s), action: ActionRepaired}
		said := support.Judged{Judgement: support.JudgedSupported, Words: words, By: support.ByRepair}
		repaired.judged = c.corpus.Prove(said, c.sourcesOf(s.ids))
		repaired.verdict = repaired.findings.Decide(repaired.judged)
		if repaired.verdict == support.Unsupported || repaired.findings.Has(support.Absent) {
			return
		}
		e := c.entry(p, repaired)
		e.Original = d.statement.text
		checked = append(checked, e)
	}
	if len(checked) > 0 {
		d.action, d.changed, d.text, d.checked = ActionRepaired, true, body, checked
	}
}

func clipRunes(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
