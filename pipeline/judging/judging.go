// Package judging asks a model whether cited sources support sentences. An answer counts only if package support can
// prove it, see support.Findings.Decide.
//
// The model points to sentences by their numbers; it copies no words. Entry points: Calls divides the sentences of a
// report, Judge.Ask makes a call.
package judging

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
)

// Limits of one call. Small models lose track of more sentences and sources than these.
const (
	MostSentences = 20
	MostSources   = 14     // that the sentences of a call cite, unless one of them cites more
	passagesBytes = 12_000 // all passages, about 3,000 tokens; short sources are always shown whole
	passageBytes  = 1_000  // passages of one sentence, per cited source
	shrinks       = 3      // attempts, each with half the passages, for small windows
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

// Calls divides sentences among calls of at most MostSentences sentences and MostSources sources. It returns the
// indexes of each call, in order. Sentences that cite the same sources share a call, so that a source is shown once.
func Calls(sentences []Sentence) [][]int {
	open := make([]int, len(sentences))
	for i := range open {
		open[i] = i
	}
	var calls [][]int
	for len(open) > 0 {
		var call []int
		cited := map[string]bool{}
		for len(open) > 0 && len(call) < MostSentences {
			best, fewest := 0, math.MaxInt
			for n, i := range open {
				if more := added(cited, sentences[i].Sources); more < fewest {
					best, fewest = n, more
				}
			}
			if len(call) > 0 && fewest > 0 && len(cited)+fewest > MostSources {
				break
			}
			for _, id := range sentences[open[best]].Sources {
				cited[id] = true
			}
			call = append(call, open[best])
			open = slices.Delete(open, best, best+1)
		}
		slices.Sort(call)
		calls = append(calls, call)
	}
	return calls
}

// added counts the distinct ids that are not in known.
func added(known map[string]bool, ids []string) int {
	n := 0
	for i, id := range ids {
		if !known[id] && !slices.Contains(ids[:i], id) {
			n++
		}
	}
	return n
}

// Judge asks a model about sentences. It is safe for concurrent use.
type Judge struct {
	Model    llm.Model
	Language string                             // BCP 47 tag of the report
	Corpus   *support.Corpus                    // sources
	About    func(support.Span) prompts.Passage // returns a passage without ID and Text
}

// Ask judges the sentences of one call. It returns the judgement of each sentence in order, or says that the answer
// omits it. at: position of the call; Ask sets its step. After an error, no sentence has a judgement.
func (j Judge) Ask(ctx context.Context, at llm.Position, sentences []Sentence) ([]support.Judged, error) {
	out := make([]support.Judged, len(sentences))
	for i := range out {
		out[i].Missing = support.NoAnswer
	}
	var answer prompts.JudgeAnswer
	var shown question
	var err error
	limit := passageBytes
	for range shrinks {
		shown = j.question(sentences, limit)
		prompt := prompts.Judge(j.Language, shown.data)
		at.Step = prompt.Name
		call := llm.Request{Position: at, Role: llm.Judge, Prompt: prompt}
		answer, err = llm.Ask[prompts.JudgeAnswer](ctx, j.Model, call)
		if !errors.Is(err, llm.ErrContextLength) {
			break
		}
		at.Iteration++
		limit /= 2
	}
	if err != nil {
		return out, fmt.Errorf("judge %d sentences: %w", len(sentences), err)
	}
	for _, f := range answer.Findings {
		if i := f.Sentence - 1; i >= 0 && i < len(sentences) && out[i].Missing != "" {
			if said, ok := judged(f); ok {
				said.Words = j.words(shown, f.Places, sentences[i].Sources)
				out[i] = j.Corpus.Prove(said, sentences[i].Sources)
			}
		}
	}
	return out, nil
}

// judged converts a finding, without its places; ok is false if its verdict is invalid.
func judged(f prompts.JudgeFinding) (j support.Judged, ok bool) {
	j = support.Judged{
		Judgement: support.Judgement(strings.ToLower(strings.TrimSpace(f.Verdict))),
		Sum:       strings.Join(strings.Fields(f.Sum), " "), Wrong: strings.Join(strings.Fields(f.Wrong), " "),
	}
	good := j.Judgement == support.JudgedSupported || j.Judgement == support.JudgedConclusion
	if good {
		j.Wrong = ""
	}
	bad := []support.Judgement{support.JudgedContradicted, support.JudgedPartly, support.JudgedAbsent}
	return j, good || slices.Contains(bad, j.Judgement)
}

// placeNumber matches the number of a place, as in 2.13 or [2.13].
var placeNumber = regexp.MustCompile(`\d+\.\d+`)

// words returns the texts of the places that are in these sources, joined as Judged.Words.
func (j Judge) words(shown question, places, sources []string) string {
	var words []string
	for _, number := range placeNumber.FindAllString(strings.Join(places, " "), -1) {
		span, ok := shown.places[number]
		if !ok || !slices.Contains(sources, span.Source) {
			continue
		}
		text := j.Corpus.Text(span)
		if span.End == 0 {
			text = j.Corpus.About(span.Source)
		}
		if !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ... ")
}
