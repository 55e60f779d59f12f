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
	passagesBytes = 24_000 // of all passages, 6,000 tokens, but for short sources, which are shown whole
	passageBytes  = 1_000  // of the passages of one sentence, for each source that it cites
	shrinks       = 3      // tries with half the passages, for models with a small window
	smallGap      = 120    // between two passages of a source, that is shown
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
	case support.JudgedSupported, support.JudgedConclusion:
		j.Wrong = ""
		return j, true
	case support.JudgedContradicted, support.JudgedPartly, support.JudgedAbsent:
		return j, true
	}
	return j, false
}

// question puts together what is asked. limit: bytes of the passages of one sentence, for each of its sources.
func (j Judge) question(sentences []Sentence, limit int) prompts.JudgeData {
	var all []support.Span
	for _, s := range sentences {
		most := min(limit*max(1, len(s.Sources)), passagesBytes/len(sentences))
		all = append(all, j.Corpus.Passages(s.Head+" "+s.Text, s.Sources, s.places(), most)...)
	}
	data := prompts.JudgeData{Sources: j.sources(joined(j.Corpus.Filled(support.Merge(all))))}
	numbers := map[string]int{} // of the sources that are shown
	for _, p := range all {
		if numbers[p.Source] == 0 {
			numbers[p.Source] = len(numbers) + 1
		}
	}
	for i, s := range sentences {
		var shown []string
		for _, id := range s.Sources {
			if n := fmt.Sprint(numbers[id]); n != "0" && !slices.Contains(shown, n) {
				shown = append(shown, n)
			}
		}
		computed, missing := j.hints(s.Findings)
		data.Sentences = append(data.Sentences, prompts.JudgeSentence{
			Number: i + 1, Text: s.Text, Head: s.Head, Sources: strings.Join(shown, ", "), Computed: computed,
			Missing: missing,
		})
	}
	return data
}

// joined closes the small gaps between spans: to say that something is left out is hardly shorter.
func joined(spans []support.Span) []support.Span {
	var out []support.Span
	for _, s := range spans {
		if n := len(out) - 1; n >= 0 && out[n].Source == s.Source && s.Start-out[n].End <= smallGap {
			out[n].End = s.End
			continue
		}
		out = append(out, s)
	}
	return out
}

// sources shows spans by source, each with what stands above it there. What is known of a source and stands above
// several of its passages is told once.
func (j Judge) sources(spans []support.Span) []prompts.JudgeSource {
	var out []prompts.JudgeSource
	type known struct{ title, by, date string }
	headed, begun := map[known]int{}, map[string]bool{}
	last, place := "", ""
	for _, span := range spans {
		passage := j.About(span)
		context := j.Corpus.Context(span)
		passage.Place = placeOf(passage, context.Headings)
		passage.Text = above(context) + j.Corpus.Text(span)
		if span.Source != last {
			source := prompts.JudgeSource{Number: len(out) + 1}
			about := known{passage.Title, passage.By, passage.Date}
			if source.Same = headed[about]; source.Same == 0 {
				headed[about] = source.Number
			}
			out = append(out, source)
			place = ""
		}
		if span.Source == last || out[len(out)-1].Same > 0 {
			passage.Title, passage.By, passage.Date = "", "", ""
		}
		if begun[passage.Head] {
			passage.Head = ""
		}
		begun[passage.Head] = true
		if passage.Place == place {
			passage.Place = ""
		} else {
			place = passage.Place
		}
		of := &out[len(out)-1]
		of.Passages = append(of.Passages, passage)
		last = span.Source
	}
	return out
}

// placeOf joins the place of a source in its document and the headings above a passage.
func placeOf(p prompts.Passage, headings []string) string {
	var place []string
	if p.Place != "" {
		place = append(place, p.Place)
	}
	for _, h := range headings {
		if h != p.Title && !strings.HasSuffix(p.Place, h) {
			place = append(place, h)
		}
	}
	return strings.Join(place, " › ")
}

// above returns the lines that introduce a passage, each on a line of its own.
func above(c support.Context) string {
	var lines strings.Builder
	for _, line := range []string{c.Lead, c.Head} {
		if line != "" {
			lines.WriteString(line + "\n")
		}
	}
	if lines.Len() > 0 {
		lines.WriteString("[…]\n")
	}
	return lines.String()
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

// hints names the figures that could be computed from others beside each other, and what was not recognised.
func (j Judge) hints(f support.Findings) (computed, missing string) {
	var sums, absent []string
	for _, g := range f.Figures {
		switch {
		case g.Result == support.Derived && j.Corpus.Near(g, f.Figures):
			sums = append(sums, g.Text+" = "+g.Operation)
		case g.Result == support.Absent:
			absent = append(absent, "“"+g.Text+"”")
		}
	}
	if f.Quotation.Result == support.Absent {
		absent = append(absent, "“"+f.Quotation.Missing+"”")
	}
	return strings.Join(sums, "; "), strings.Join(absent, ", ")
}
