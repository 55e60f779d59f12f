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
	repairSentence = 20
	repairClaims   = 3 // of each citation of a sentence, the most alike; and so many that it could have cited
	passageBytes   = 600
)

// repairAll asks once for each part that has unsupported sentences, several parts at a time, for sentences that the
// sources do say. Rows of tables are not asked for. What the model does not repair stays as it was. The error is
// the end of ctx.
func (c *checker) repairAll(ctx context.Context, parts []part, decisions [][]decision) error {
	if c.m.Model == nil {
		return nil
	}
	answers, asked := make([]map[int]prompts.SentenceRepair, len(parts)), make([][]int, len(parts))
	failed := make([]bool, len(parts))
	var g errgroup.Group
	g.SetLimit(parallel(c.m.Parallel))
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
		asked[i] = wrong
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
		for _, j := range asked[i] {
			if r, ok := answers[i][j]; ok {
				c.repair(p, &decisions[i][j], prompts.Unmarked(r.Text), r.Span)
			} else {
				decisions[i][j].refused = refusedMissing
			}
		}
	}
	return nil
}

// repairData is the question about a part: its unsupported sentences, the claims of the sources that they cite, and
// others of the part that are like them, for a true sentence may have the wrong citation.
func (c *checker) repairData(p part, all []decision, wrong []int) prompts.RepairSectionData {
	data := prompts.RepairSectionData{Title: p.title}
	shown := map[string]bool{} // claims by id, and passages
	for n, j := range wrong {
		d := all[j]
		taken := map[string]int{}
		for _, from := range citedBy(d.statement, p.claims) {
			if taken[from.CitationID]++; taken[from.CitationID] <= repairClaims {
				shown[from.ID] = true
			}
		}
		var others []claim
		for _, from := range p.claims {
			if !slices.Contains(d.statement.ids, from.CitationID) {
				others = append(others, from)
			}
		}
		for _, from := range byLikeness(d.statement, others)[:min(repairClaims, len(others))] {
			shown[from.ID] = true
		}
		line := prompts.UnsupportedLine{
			Number: n + 1, Text: d.raw(*p.body), Passage: c.passage(p, d),
			Problem: c.m.problem(d.findings, d.judged),
		}
		if shown[line.Passage] { // above
			line.Passage = ""
		}
		shown[line.Passage] = true
		data.Sentences = append(data.Sentences, line)
	}
	for _, claim := range p.claims {
		if shown[claim.ID] {
			line := claimLine(claim)
			if c.corpus.Text(support.Span{Source: claim.source.ID, Start: claim.Start, End: claim.End}) != "" {
				line.Quote = "" // the passage has it
			}
			data.Claims = append(data.Claims, line)
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
	prompt := prompts.RepairSection(c.m.run.Options.Language, data)
	answer, err := llm.Ask[prompts.RepairSectionAnswer](ctx, c.m.Model, llm.Request{
		Position: c.m.position(prompt.Name, ordinal, 0), Role: llm.Writer, Prompt: prompt,
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

// Why the correction of a sentence is not taken.
const (
	refusedMissing = "The model gave no correction."
	refusedEmpty   = "The correction has no text that could stand in the report."
	refusedFigure  = "Neither a figure of the correction nor the words that show it stand in the source: "
	refusedUncited = "The correction states a fact without a citation: "
)

// repair puts an answer in the place of an unsupported sentence, unless a program finds fault with that too, which is
// then noted; an empty one takes the sentence out. words: of a source, that show it.
func (c *checker) repair(p part, d *decision, answer, words string) {
	if answer = text.Line(answer); answer == "" {
		d.action, d.changed, d.text = ActionRemoved, true, ""
		d.checked = []CheckedSentence{c.entry(p, *d)}
		return
	}
	d.proposed = answer
	written, _ := c.m.accept(answer, "", citations(p.claims))
	body := text.Line(written.body)
	if body == "" {
		d.refused = refusedEmpty
		return
	}
	if len(c.m.registry.Render(body, citation.Options{}).Cited) == 0 {
		body = withMarkers(body, d.ids)
	}
	checked, refused := c.repaired(p, statementsOf(body, false), words)
	if refused != "" {
		d.refused = refused
		return
	}
	for i := range checked {
		checked[i].Original = d.statement.text
	}
	d.action, d.changed, d.text, d.checked = ActionRepaired, true, body, checked
}

// repaired checks the statements of a correction, and says why it is not taken. It is taken as a sentence of the draft
// would be kept: with the words that show it, an absent figure leaves it unverified.
func (c *checker) repaired(p part, statements []statement, words string) (checked []CheckedSentence, refused string) {
	for _, s := range statements {
		if len(s.ids) == 0 {
			if support.Factual(s.text) {
				return nil, refusedUncited + s.text
			}
			continue
		}
		d := decision{statement: s, findings: c.look(p, s), action: ActionRepaired}
		said := support.Judged{Judgement: support.JudgedSupported, Words: words, By: support.ByRepair}
		d.judged = c.corpus.Prove(said, c.sourcesOf(s.ids))
		d.verdict = d.findings.Decide(d.judged)
		if d.verdict == support.Unsupported {
			return nil, c.m.problem(d.findings, d.judged)
		}
		if d.judged.Span == nil && d.findings.Has(support.Absent) {
			return nil, refusedFigure + s.text
		}
		checked = append(checked, c.entry(p, d))
	}
	if len(checked) == 0 {
		return nil, refusedEmpty
	}
	return checked, ""
}

func clipRunes(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n]) + "…"
}
