package extractive

import (
	"slices"
	"strings"
)

// Similarity compares two texts by their content words: 0 nothing in common, 1 the same words. Symmetric.
//
// The order of words, repetitions and stop words do not count, so a statement and its rearrangement score 1; two texts
// without content words score 0. Source: Dice coefficient on sets (Dice 1945, Sørensen 1948).
func Similarity(a, b string) float64 {
	st := stemmer{}
	return dice(termSet(a, st), termSet(b, st))
}

// Same reports that one of two sentences repeats the other: nearly the same content words, exactly the same numbers,
// and both or neither negated. "Version 15 supports it" and "version 14 supports it" are not the same.
func Same(a, b string) bool {
	st := stemmer{}
	return newStatement(a, st).same(newStatement(b, st))
}

// Thresholds of Same. A sentence repeats another when their Dice coefficient is sameDice or more, or when sameInside
// of the shorter one's words stand in the longer one and it is not much longer.
const (
	sameDice   = 0.75
	sameInside = 0.9
	sameLength = 0.6 // shorter to longer, in distinct terms
)

// termSet returns the distinct terms of text, sorted.
func termSet(text string, st stemmer) []string {
	ts := st.all(text)
	slices.Sort(ts)
	return slices.Compact(ts)
}

// shared counts the terms that two sorted sets share.
func shared(a, b []string) int {
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			n++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return n
}

func dice(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	return 2 * float64(shared(a, b)) / float64(len(a)+len(b))
}

// statement is what Same compares.
type statement struct {
	terms   []string // sorted, distinct
	numbers string   // the terms that are numbers, joined
	negated bool
}

func newStatement(text string, st stemmer) statement {
	s := statement{terms: termSet(text, st)}
	var numbers []string
	for _, t := range s.terms {
		if digit(t[0]) {
			numbers = append(numbers, t)
		}
	}
	s.numbers = strings.Join(numbers, " ")
	negations := 0
	for _, w := range words(text) {
		if negation[w.low] || strings.HasSuffix(w.low, "n't") || strings.HasSuffix(w.low, "n’t") {
			negations++
		}
	}
	negations += strings.Count(text, "不") + strings.Count(text, "没") + strings.Count(text, "ない") + strings.Count(text, "ません")
	s.negated = negations%2 == 1
	return s
}

var negation = set(`not no never neither nor without cannot nicht kein keine keinen keiner nie ohne pas jamais sans nunca sin`)

func (s statement) same(o statement) bool {
	short, long := len(s.terms), len(o.terms)
	if short > long {
		short, long = long, short
	}
	if short == 0 || s.numbers != o.numbers || s.negated != o.negated {
		return false
	}
	n := float64(shared(s.terms, o.terms))
	if 2*n >= sameDice*float64(short+long) {
		return true
	}
	return short >= 4 && n >= sameInside*float64(short) && float64(short) >= sameLength*float64(long)
}
