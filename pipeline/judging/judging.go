// Package judging asks a model whether sources support sentences. An answer counts only if package support can prove
// it, see support.Findings.Decide.
//
// The model points to sentences of sources by their numbers; it copies no words. It may point to sources that a
// sentence does not cite, so that the caller can correct the citation. Entry point: Judge.All.
package judging

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/citation/support"
	"nightdesk/pipeline/llm"
	"nightdesk/prompts"
)

// Limits of one call. A report whose sentences and sources fit is judged by one call.
const (
	MostSentences = 120    // their findings take about 5,000 tokens
	CallBytes     = 45_000 // sources and sentences, about 11,000 tokens

	wholeBytes    = 30_000 // sources that are shown whole, however long each is
	passageBytes  = 600    // else passages of a source for one sentence
	leastPassages = 150    // passageBytes is halved down to this for small windows
	fewSentences  = 24     // an unusable answer about more of them is asked for again in two halves
	mostQuotes    = 2      // quotes per sentence to take passages around, besides one per source and the figures
)

// Sentence is a sentence to judge.
type Sentence struct {
	Text     string // without markers; the cells of a table row
	Marked   string // Text with {id} of each source where it is cited; empty: cited at the end
	Head     string // the table's first row, for a table row
	Sources  []string
	Others   []string       // sources that it does not cite and that may support it
	Quotes   []support.Span // quotes of claims that it may be based on, most likely first
	Findings support.Findings
}

// Answer is what the judge says about a sentence.
type Answer struct {
	support.Judged                // not yet proved
	Places         []support.Span // in any source of the call; with End 0 for what is known of a source
	Correction     string         // the sentence as the sources say it, if they contradict it
}

// Judge asks a model about sentences. It is safe for concurrent use.
type Judge struct {
	Model    llm.Model
	Language string                             // BCP 47 tag of the report
	Corpus   *support.Corpus                    // sources
	About    func(support.Span) prompts.Passage // returns a passage without ID and Text
	Brief    map[string]bool                    // ids of sources of which the first line says all, such as computations
}

// All judges sentences in as many calls as they take, at most so many at a time. It returns an answer for each sentence
// and the errors of calls without answers. at: position of the calls, which get their step and ordinal.
func (j Judge) All(ctx context.Context, at llm.Position, sentences []Sentence, parallel int) ([]Answer, []error) {
	calls := j.Calls(sentences)
	answers, errs := make([]Answer, len(sentences)), make([]error, len(calls))
	var g errgroup.Group
	g.SetLimit(parallel)
	for n, call := range calls {
		g.Go(func() error {
			asked := make([]Sentence, len(call))
			for i, of := range call {
				asked[i] = sentences[of]
			}
			place := at
			place.Ordinal = n
			said, err := j.Ask(ctx, place, asked)
			for i, of := range call {
				answers[of] = said[i]
			}
			errs[n] = err
			return nil
		})
	}
	_ = g.Wait() // no function returns an error
	return answers, slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// Calls divides sentences among calls. It returns the indexes of each call, in order. Sentences that share sources
// share a call, so that a source is shown once.
func (j Judge) Calls(sentences []Sentence) (calls [][]int) {
	open := make([]int, len(sentences))
	for i := range open {
		open[i] = i
	}
	limit := j.limit(sentences)
	for len(open) > 0 {
		var call []int
		shown, size := map[string]bool{}, 0
		for len(open) > 0 && len(call) < MostSentences {
			best, least := 0, math.MaxInt
			for n, i := range open {
				if more := j.size(sentences[i], shown, limit); more < least {
					best, least = n, more
				}
			}
			if size += least; len(call) > 0 && size > CallBytes {
				break
			}
			for _, id := range sentences[open[best]].sources() {
				shown[id] = true
			}
			call = append(call, open[best])
			open = slices.Delete(open, best, best+1)
		}
		slices.Sort(call)
		calls = append(calls, call)
	}
	return calls
}

// limit returns how many bytes of a source are shown for a sentence: all if the sources of these sentences are short.
func (j Judge) limit(sentences []Sentence) int {
	size, seen := 0, map[string]bool{}
	for _, s := range sentences {
		for _, id := range s.sources() {
			if !seen[id] {
				size += j.Corpus.Size(id)
			}
			seen[id] = true
		}
	}
	if size <= wholeBytes {
		return wholeBytes
	}
	return passageBytes
}

// size returns how many bytes a sentence adds to a call that shows these sources.
func (j Judge) size(s Sentence, shown map[string]bool, limit int) int {
	size := len(s.Text) + len(s.Head)
	for _, id := range s.sources() {
		if whole := j.Corpus.Size(id); whole > limit*support.WholeLimits {
			size += limit
		} else if !shown[id] {
			size += whole
		}
	}
	return size
}

// sources returns the ids of all sources that may support a sentence.
func (s Sentence) sources() []string { return slices.Concat(s.Sources, s.Others) }

// Ask judges the sentences of one call. It returns an answer for each sentence in order; Missing says that there is
// none. at: position of the call; Ask sets its step. Sentences that are too many for the window or for the model are
// judged in halves. The error is that of the first call without an answer.
func (j Judge) Ask(ctx context.Context, at llm.Position, sentences []Sentence) ([]Answer, error) {
	return j.ask(ctx, at, sentences, j.limit(sentences))
}

func (j Judge) ask(ctx context.Context, at llm.Position, sentences []Sentence, limit int) ([]Answer, error) {
	shown := j.question(sentences, limit)
	prompt := prompts.Judge(j.Language, shown.data)
	at.Step = prompt.Name
	answer, err := llm.Ask[prompts.JudgeAnswer](ctx, j.Model, llm.Request{Position: at, Role: llm.Judge, Prompt: prompt})
	tooLong := errors.Is(err, llm.ErrContextLength)
	switch half := len(sentences) / 2; {
	case half > 0 && tooLong, half > fewSentences/2 && errors.Is(err, llm.ErrAnswer):
		at.Iteration = 2*at.Iteration + 1
		first, err := j.ask(ctx, at, sentences[:half], limit)
		at.Iteration++
		second, errSecond := j.ask(ctx, at, sentences[half:], limit)
		if err == nil {
			err = errSecond
		}
		return append(first, second...), err
	case tooLong && limit > leastPassages:
		at.Iteration = 2*at.Iteration + 1
		return j.ask(ctx, at, sentences, min(limit, 2*passageBytes)/2)
	case err != nil:
		err = fmt.Errorf("judge %d sentences: %w", len(sentences), err)
	}
	out := make([]Answer, len(sentences))
	for i := range out {
		out[i].Missing = support.NoAnswer
	}
	for _, f := range answer.Findings {
		if i := f.Sentence - 1; i >= 0 && i < len(sentences) && out[i].Missing != "" {
			if said, ok := shown.answer(f); ok {
				said.Words = j.words(said.Places)
				out[i] = said
			}
		}
	}
	return out, err
}

// sourceMark matches the number of a source behind the words that cite it.
var sourceMark = regexp.MustCompile(` ?\{\d+\}`)

// placeNumber matches the number of a place, as in 2.13 or [2.13].
var placeNumber = regexp.MustCompile(`\d+\.\d+`)

// answer converts a finding; ok is false if its verdict is invalid.
func (q question) answer(f prompts.JudgeFinding) (a Answer, ok bool) {
	line := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	a.Judgement = support.Judgement(strings.ToLower(strings.TrimSpace(f.Verdict)))
	a.Sum, a.Wrong = line(f.Sum), line(f.Wrong)
	for _, number := range placeNumber.FindAllString(strings.Join(f.Places, " "), -1) {
		if span, known := q.places[number]; known && !slices.Contains(a.Places, span) {
			a.Places = append(a.Places, span)
		}
	}
	switch a.Judgement {
	case support.JudgedSupported, support.JudgedConclusion:
		a.Wrong = ""
	case support.JudgedContradicted:
		a.Correction = line(sourceMark.ReplaceAllString(f.Text, ""))
	case support.JudgedPartly, support.JudgedAbsent:
	default:
		return a, false
	}
	return a, true
}

// words returns the texts of places, joined as Judged.Words.
func (j Judge) words(places []support.Span) string {
	var words []string
	for _, span := range places {
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
