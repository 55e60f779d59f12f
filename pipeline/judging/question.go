package judging

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/support"
	"nightdesk/prompts"
)

// question is what a call shows.
type question struct {
	data    prompts.JudgeData
	places  map[string]support.Span // by number; with End 0 for what is above the passages of a source
	numbers map[string]int          // by source
}

// question builds the prompt data. limit: bytes of passages per sentence and long source.
func (j Judge) question(sentences []Sentence, limit int) question {
	var all []support.Span
	for _, s := range sentences {
		all = append(all, j.Corpus.Passages(s.Head+" "+s.Text, s.sources(), s.places(), limit)...)
	}
	q := question{places: map[string]support.Span{}, numbers: map[string]int{}}
	j.show(&q, j.Corpus.Filled(support.Merge(all)))
	for i, s := range sentences {
		marked := cmp.Or(s.Marked, s.Text)
		for _, id := range s.Sources {
			number := fmt.Sprintf("{%d}", q.numbers[id])
			if marked = strings.ReplaceAll(marked, "{"+id+"}", number); !strings.Contains(marked, number) {
				marked += " " + number
			}
		}
		q.data.Sentences = append(q.data.Sentences, prompts.JudgeSentence{
			Number: i + 1, Text: marked, Head: s.Head, Missing: strings.Join(s.Findings.Missing(), ", "),
		})
	}
	return q
}

// show adds spans to the question, grouped by source and with the context above each, and numbers the sources.
// Metadata and context that several passages share are shown once.
func (j Judge) show(q *question, spans []support.Span) {
	headed := map[prompts.Passage]int{} // by what is known of the document
	place, line := "", 0
	for _, span := range spans {
		var passage prompts.Passage
		var context support.Context
		if j.Brief[span.Source] {
			line, _, _ := strings.Cut(j.Corpus.Text(span), "\n")
			span.End = span.Start + len(line)
		} else {
			passage, context = j.About(span), j.Corpus.Context(span)
			passage.Place = placeOf(passage, context.Headings)
		}
		again := q.numbers[span.Source] > 0
		if !again {
			number := len(q.numbers) + 1
			q.numbers[span.Source] = number
			q.places[fmt.Sprint(number, ".0")] = support.Span{Source: span.Source}
			source := prompts.JudgeSource{Number: number}
			about := prompts.Passage{Title: passage.Title, By: passage.By, Date: passage.Date, Head: passage.Head}
			if source.Same = headed[about]; source.Same == 0 && about != (prompts.Passage{}) {
				headed[about] = number
			}
			q.data.Sources = append(q.data.Sources, source)
			place, line = "", 0
		}
		of := &q.data.Sources[len(q.data.Sources)-1]
		if again || of.Same > 0 {
			passage.Title, passage.By, passage.Date, passage.Head = "", "", "", ""
		}
		if passage.Place == place {
			passage.Place = ""
		} else {
			place = passage.Place
		}
		passage.Text = context.Above + j.Corpus.Numbered(span, func(sentence support.Span) string {
			line++
			number := fmt.Sprintf("%d.%d", of.Number, line)
			q.places[number] = sentence
			return "[" + number + "] "
		})
		of.Passages = append(of.Passages, passage)
	}
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
