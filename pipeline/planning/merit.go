package planning

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/knowledge"
)

const (
	maxWeighed  = 12   // words of the topic whose weight is looked up
	minShare    = 0.35 // of the best section's merit, below which a section is not about the topic
	minCovered  = 0.25 // weight of the topic's words that a section must have
	partMerit   = 0.6  // of a section whose own heading says nothing, such as "Examples"
	framingPart = 0.2  // of the weight of a word that frames a question
)

// section is a part of the corpus that could become a sub-topic.
type section struct {
	hit   knowledge.SectionHit
	title string  // as a heading of the report
	merit float64 // how well it answers the topic, 1 for the best
}

// weights says how much each content word of a topic tells about it, in sum 1. Its keys are of extractive.Terms.
type weights map[string]float64

// weigh asks the knowledge base for each word of the topic alone. What it scores best is the higher the rarer the
// word is there: in a manual of PostgreSQL, "replication" tells much and "PostgreSQL" next to nothing. A word that
// the corpus does not have at all weighs as much as the rarest: nothing there is about it.
func (d *draft) weigh(ctx context.Context, topic string) (weights, error) {
	w := weights{}
	for word := range strings.FieldsSeq(topic) {
		for _, term := range extractive.Terms(word) {
			if _, known := w[term]; known || len(w) == maxWeighed {
				continue
			}
			w[term] = 1
			if d.Sections == nil {
				continue
			}
			hits, err := d.Sections.Sections(ctx, term, 1)
			if err != nil {
				return nil, fmt.Errorf("look up %q in the knowledge base: %w", term, err)
			}
			w[term] = 0
			if len(hits) > 0 {
				w[term] = hits[0].Score * hits[0].Score
			}
		}
	}
	rarest, total := 0.0, 0.0
	for _, weight := range w {
		rarest = max(rarest, weight)
	}
	for term := range w {
		if w[term] == 0 {
			w[term] = rarest
		}
		if framing[term] {
			w[term] *= framingPart
		}
		total += w[term]
	}
	for term := range w {
		if total > 0 {
			w[term] /= total
		}
	}
	return w, nil
}

// enough is the weight of the topic's words that some section must have for the corpus to be about the topic: half of
// a short topic, less of a long one, which no section covers alone.
func (w weights) enough() float64 {
	words := 0
	for term := range w {
		if !framing[term] {
			words++
		}
	}
	return max(minCovered, min(0.5, 1.5/float64(max(1, words))))
}

// framing are words by which people ask, which say little about what they ask for.
var framing = terms(`advantages approaches best choose compare comparison current differ differences effects explain good
	impact latest methods options overview practice practices role should strategies strategy techniques tips types
	understand used uses using ways work works`)

func terms(words string) map[string]bool {
	set := map[string]bool{}
	for _, t := range extractive.Terms(words) {
		set[t] = true
	}
	return set
}

// covered is the weight of the words that a text has, 0 to 1.
func (w weights) covered(text string) float64 {
	sum := 0.0
	seen := map[string]bool{}
	for _, term := range extractive.Terms(text) {
		if !seen[term] {
			seen[term] = true
			sum += w[term]
		}
	}
	return sum
}

// judge turns hits into candidates, best first: those with a heading that says something and a text about the topic.
func (w weights) judge(hits []knowledge.SectionHit) []section {
	var out []section
	top, best, mostCovered := 0.0, 0.0, 0.0
	for _, h := range hits {
		top = max(top, h.Score)
	}
	for _, h := range hits {
		title := w.heading(h)
		if title == "" || top <= 0 {
			continue
		}
		path := h.Title + ". " + strings.Join(h.Section, ". ")
		inPath, anywhere := w.covered(path), w.covered(path+". "+h.Lead)
		if anywhere < minCovered {
			continue
		}
		merit := h.Score / top * (0.2 + 0.4*inPath + 0.4*anywhere)
		if n := len(h.Section); n > 0 && sayNothing[folded(extractive.Title(h.Section[n-1]))] == part {
			merit *= partMerit
		}
		best, mostCovered = max(best, merit), max(mostCovered, anywhere)
		out = append(out, section{hit: h, title: title, merit: merit})
	}
	if mostCovered < w.enough() {
		return nil
	}
	out = slices.DeleteFunc(out, func(s section) bool { return s.merit < minShare*best })
	for i := range out {
		out[i].merit /= best
	}
	slices.SortStableFunc(out, func(a, b section) int { return cmp.Compare(b.merit, a.merit) })
	return out
}
