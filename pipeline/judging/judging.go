// Package judging asks a model whether cited sources support sentences. An answer counts only if package support can
// prove it, see support.Findings.Decide.
//
// Entry point: Judge.Ask, one call per section.
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
	MostSentences = 40     // sentences per call
	passagesBytes = 24_000 // all passages, about 6,000 tokens; short sources are always shown whole
	passageBytes  = 1_000  // passages of one sentence, per cited source
	shrinks       = 3      // attempts, each with half the passages, for small windows
	smallGap      = 120    // gap between two passages of a source that is shown too
	mostQuotes    = 2      // quotes per sentence to take passages around, besides one per source and the figures
)

// Sentence is a sentence to judge.
type Sentence struct {
	Text     string // without markers; the cells of a table row
	Head     string // the table's first row, for a table row
	Sources  []string
	Quotes   []support.Span // quotes of claims that it may be based on, most likely first
	Findings support.Findings
}

// Judge asks a model about sentences. It is safe for concurrent use.
type Judge struct {
	Model    llm.Model
	Language string                             // BCP 47 tag of the report
	Corpus   *support.Corpus                    // sources
	About    func(support.Span) prompts.Passage // returns a passage without ID and Text
}

// Ask judges the sentences of a section in one call. It returns the judgement of each sentence in order, or why there
// is none: the call has no room for it, or the answer omits it. at: position of the call; Ask sets its step. After an
// error, no sentence has a judgement.
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

// judged converts a finding; ok is false if its verdict is invalid.
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

// question builds the prompt data. limit: bytes of passages per sentence and source.
func (j Judge) question(sentences []Sentence, limit int) prompts.JudgeData {
	var all []support.Span
	for _, s := range sentences {
		most := min(limit*max(1, len(s.Sources)), passagesBytes/len(sentences))
		all = append(all, j.Corpus.Passages(s.Head+" "+s.Text, s.Sources, s.places(), most)...)
	}
	data := prompts.JudgeData{Sources: j.sources(joined(j.Corpus.Filled(support.Merge(all))))}
	numbers := map[string]int{} // numbers of the shown sources
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
		data.Sentences = append(data.Sentences, prompts.JudgeSentence{
			Number: i + 1, Text: s.Text, Head: s.Head, Sources: strings.Join(shown, ", "), Missing: missing(s.Findings),
		})
	}
	return data
}

// joined closes small gaps between spans, because an ellipsis is hardly shorter.
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

// sources groups spans by source, with the context above each. Metadata and context that several passages share are
// shown once.
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

// above returns the lines that introduce a passage.
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

// places returns the spans relevant to the sentence: the first quotes, the first quote of each source, and the
// positions of its figures.
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

// missing returns the figures and the quotation of a sentence that were not found.
func missing(f support.Findings) string {
	var absent []string
	for _, g := range f.Figures {
		if g.Result == support.Absent {
			absent = append(absent, "“"+g.Text+"”")
		}
	}
	if f.Quotation.Result == support.Absent {
		absent = append(absent, "“"+f.Quotation.Missing+"”")
	}
	return strings.Join(absent, ", ")
}
