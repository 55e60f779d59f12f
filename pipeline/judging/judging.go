// Package judging asks a model whether the sources that sentences cite say what the sentences say. Its answers
// count only as far as package support proves them: see support.Findings.Decide.
//
// Entry point: Judge.Ask, one call for a section.
package judging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
)

// Limits of one call.
const (
	MostSentences = 40     // that one answer has room for
	PassagesBytes = 24_000 // of all passages, 6,000 tokens, but for short sources, which are shown whole
	passageBytes  = 700    // of the passages of one sentence, for each source that it cites
	shrinks       = 3      // tries with half the passages, for models with a small window
	mostQuotes    = 2      // of a sentence's claims, that passages are taken around, beyond one of each source and its figures
)

// Sentence is a sentence to be judged.
type Sentence struct {
	Text     string // without markers; of a row of a table, its cells
	Head     string // of a row: the table's first row
	Sources  []string
	Quotes   []support.Span // of the claims that it may rest on, the most likely first
	Findings support.Findings
}

// Judge asks a model about sentences. Safe for concurrent use.
type Judge struct {
	Model    llm.Model
	Language string                             // BCP 47 tag of the report
	Corpus   *support.Corpus                    // of the sources
	About    func(support.Span) prompts.Passage // a passage without ID and Text
}

// Ask asks one question about the sentences of a section and returns what was said of each, in their order, or why
// nothing was: the call has no room for a sentence, or the answer leaves it out. at: of the call; its step is
// filled in. The error says why there is no answer; then all sentences are without judgement.
func (j Judge) Ask(ctx context.Context, at llm.Position, sentences []Sentence) ([]support.Judged, error) {
	out := make([]support.Judged, len(sentences))
	for i := range out {
		out[i].Missing = support.NoRoom
	}
	asked := sentences[:min(len(sentences), MostSentences)]
	var answer prompts.JudgeAnswer
	var err error
	limit := passageBytes
	for range shrinks {
		prompt := prompts.Judge(j.Language, j.question(asked, limit))
		at.Step = prompt.Name
		call := llm.Request{Position: at, Role: llm.Judge, Prompt: prompt}
		answer, err = llm.Ask[prompts.JudgeAnswer](ctx, j.Model, call)
		if !errors.Is(err, llm.ErrContextLength) {
			break
		}
		at.Iteration++
		limit /= 2
	}
	for i := range asked {
		out[i].Missing = support.NoAnswer
	}
	if err != nil {
		return out, fmt.Errorf("judge %d sentences: %w", len(asked), err)
	}
	for _, f := range answer.Findings {
		if i := f.Sentence - 1; i >= 0 && i < len(asked) && out[i].Missing != "" {
			if said, ok := judged(f); ok {
				out[i] = j.Corpus.Prove(said, asked[i].Sources)
			}
		}
	}
	return out, nil
}

// judged reads a finding; ok is false when its verdict is none.
func judged(f prompts.JudgeFinding) (j support.Judged, ok bool) {
	j = support.Judged{
		Judgement: support.Judgement(strings.ToLower(strings.TrimSpace(f.Verdict))),
		Words:     strings.TrimSpace(f.Span), Wrong: strings.Join(strings.Fields(f.Wrong), " "),
	}
	switch j.Judgement {
	case support.JudgedSupported:
		j.Wrong = ""
		return j, true
	case support.JudgedContradicted, support.JudgedPartly, support.JudgedAbsent:
		return j, true
	}
	return j, false
}

// question puts together what is asked. limit: bytes of the passages of one sentence, for each of its sources.
func (j Judge) question(sentences []Sentence, limit int) prompts.JudgeData {
	var all []support.Span // of all sentences, without overlaps
	spans := make([][]support.Span, len(sentences))
	for i, s := range sentences {
		most := min(limit*max(1, len(s.Sources)), PassagesBytes/len(sentences))
		spans[i] = j.Corpus.Passages(s.Head+" "+s.Text, s.Sources, s.places(), most)
		all = append(all, spans[i]...)
	}
	all = support.Merge(all)
	data := prompts.JudgeData{}
	shown := map[string]bool{}
	for i, p := range all {
		passage := j.About(p)
		passage.ID, passage.Text = fmt.Sprint(i+1), j.Corpus.Text(p)
		if shown[p.Source] { // how the document begins is told once
			passage.Head = ""
		}
		shown[p.Source] = true
		data.Passages = append(data.Passages, passage)
	}
	for i, s := range sentences {
		var ids []string
		for n, p := range all {
			if slices.ContainsFunc(spans[i], func(o support.Span) bool { return overlap(p, o) }) {
				ids = append(ids, fmt.Sprint(n+1))
			}
		}
		computed, missing := hints(s.Findings)
		data.Sentences = append(data.Sentences, prompts.JudgeSentence{
			Number: i + 1, Text: s.Text, Head: s.Head, Passages: strings.Join(ids, ", "), Computed: computed,
			Missing: missing,
		})
	}
	return data
}

// places returns where words are that bear on the sentence: the first quotes, the first of each source, and its
// figures.
func (s Sentence) places() []support.Span {
	var out []support.Span
	for i, q := range s.Quotes {
		other := func(o support.Span) bool { return o.Source == q.Source }
		if i < mostQuotes || !slices.ContainsFunc(out, other) {
			out = append(out, q)
		}
	}
	for _, f := range s.Findings.Figures {
		out = append(out, f.Spans...)
	}
	return out
}

// hints says what the program has found of figures and quotations.
func hints(f support.Findings) (computed, missing string) {
	var sums, absent []string
	for _, g := range f.Figures {
		switch g.Result {
		case support.Derived:
			sums = append(sums, g.Text+" = "+g.Operation)
		case support.Absent:
			absent = append(absent, "“"+g.Text+"”")
		}
	}
	if f.Quotation.Result == support.Absent {
		absent = append(absent, "“"+f.Quotation.Missing+"”")
	}
	return strings.Join(sums, "; "), strings.Join(absent, ", ")
}

func overlap(a, b support.Span) bool {
	return a.Source == b.Source && a.Start < b.End && b.Start < a.End
}
