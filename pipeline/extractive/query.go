package extractive

import (
	"math"
	"slices"
)

// query is what a text is asked for: its terms with weights that do not depend on any text.
type query struct {
	weight map[string]float64
	terms  []string        // distinct, in order
	name   map[string]bool // terms written with a capital, which name the field rather than the question
	pairs  map[[2]string]bool
	broad  bool    // it has several words besides those that ask
	enough float64 // weight that counts as covering the query: long queries need not be covered whole
}

// Weights of a query term, by what its word says about the subject.
const (
	weightName    = 1.2 // names from code, numbers, acronyms
	weightWord    = 1.0
	weightCommon  = 0.5  // words of every subject
	weightGeneric = 0.15 // words that ask: overview, compare, work
	weightPart    = 0.4  // factor for a part of a name that counts whole as well
)

// enoughTerms is the number of terms that a text has to hold to cover a longer query.
const enoughTerms = 7

func newQuery(text string, st stemmer) query {
	q := query{weight: map[string]float64{}, name: map[string]bool{}, pairs: map[[2]string]bool{}}
	count := map[string]int{}
	last := ""
	scan(text, func(t token) {
		for _, term := range st.terms(t) {
			w := background(t, term)
			if _, ok := q.weight[term.text]; !ok {
				q.terms = append(q.terms, term.text)
			}
			q.weight[term.text] = max(q.weight[term.text], w)
			count[term.text]++
			if capital(t.text) && !identifierLike(t.text) {
				q.name[term.text] = true
			}
			if !term.part {
				if last != "" && last != term.text {
					q.pairs[[2]string{last, term.text}] = true
				}
				last = term.text
			}
		}
	})
	weights := make([]float64, 0, len(q.terms))
	for t, n := range count {
		q.weight[t] *= 1 + 0.3*math.Log(float64(n))
		weights = append(weights, q.weight[t])
	}
	special := 0
	for _, w := range weights {
		if w >= weightCommon {
			special++
		}
	}
	q.broad = special >= 3
	slices.Sort(weights)
	slices.Reverse(weights)
	for i, w := range weights {
		if i < enoughTerms {
			q.enough += w
		}
	}
	return q
}

// Weight returns how much a term, one of Terms, says about the subject of a question by what is known of words in
// general: 1 for a special word, less for words of every subject, little for words that ask.
func Weight(term string) float64 {
	switch {
	case generic[term]:
		return weightGeneric
	case common[term]:
		return weightCommon
	}
	return weightWord
}

// background is the weight of a term by what is known of words in general.
func background(t token, term term) float64 {
	w := weightWord
	switch {
	case generic[term.text]:
		w = weightGeneric
	case common[term.text]:
		w = weightCommon
	case !term.part && (identifierLike(t.text) || digit(t.text[0]) && len(t.text) > 1):
		w = weightName
	}
	if term.part {
		w *= weightPart
	}
	return w
}

// covered returns the share of the query's weight that a set of terms holds, 0 to 1.
func (q query) covered(has map[string]bool) float64 {
	if q.enough == 0 {
		return 0
	}
	sum := 0.0
	for _, t := range q.terms {
		if has[t] {
			sum += q.weight[t]
		}
	}
	return min(1, sum/q.enough)
}

// Relevance returns how much of what query asks for is spoken of in text: 0 nothing, 1 all of it, or seven of its
// weightiest words when it has more. Words of every subject weigh less than names and special words.
//
// A passage on another subject scores below 0.2 as a rule, one on the subject above 0.35.
func Relevance(text, query string) float64 {
	st := stemmer{}
	q := newQuery(query, st)
	q.expand(text, st)
	return q.covered(q.found(text, st))
}

// found returns the terms of the query that occur in text.
func (q query) found(text string, st stemmer) map[string]bool {
	has := map[string]bool{}
	scan(text, func(t token) {
		for _, term := range st.terms(t) {
			if q.weight[term.text] > 0 {
				has[term.text] = true
			}
		}
	})
	return has
}
