package support

import (
	"slices"

	"nightdesk/pipeline/quantity"
)

// misranked returns the word with which the sentence, without figures of its own, calls one thing more than another, where a source
// gives figures of both that say the contrary: Denmark has more pairs than Norway, for 1,840 in Norway, 960 in Denmark.
func (s *statement) misranked(texts []*text) string {
	if slices.ContainsFunc(s.quantities, func(q quantity.Quantity) bool { return q.Kind != quantity.Date }) || len(s.negations) > 0 {
		return ""
	}
	at, side, than := -1, 0, -1
	for i, w := range s.words {
		switch {
		case w.low == "than" || w.low == "als":
			if at < 0 || than >= 0 || i-at > thanWithin {
				return ""
			}
			than = i
		default:
			if n, ok := amount(w); ok && than < 0 {
				if at >= 0 {
					return ""
				}
				at, side = i, n
			}
		}
	}
	if than < 0 {
		return ""
	}
	first, second := termsOf(s.words[:than]), termsOf(s.words[than+1:])
	for term := range shared(first, second) {
		delete(first, term)
		delete(second, term)
	}
	right, wrong := false, false
	for _, t := range texts {
		for u := range t.postingsOf(second) {
			if t.near(s, u) < sameMatter {
				continue
			}
			a, b, ok := t.valuesOf(u, first, second)
			right = right || ok && (a-b)*float64(side) > 0
			wrong = wrong || ok && (a-b)*float64(side) < 0
		}
	}
	if wrong && !right {
		return s.words[at].raw
	}
	return ""
}

// thanWithin is how far behind the word that compares "than" may stand.
const thanWithin = 8

// termsOf returns the content words among words.
func termsOf(words []word) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		if w.term() != "" && !w.number() {
			out[w.term()] = true
		}
	}
	return out
}

// postingsOf returns the units that have one of these words.
func (t *text) postingsOf(terms map[string]bool) map[int]bool {
	out := map[int]bool{}
	for term := range terms {
		for _, u := range t.postings[term] {
			out[u] = true
		}
	}
	return out
}

// valuesOf returns the values of one kind that a unit has of two things, when it has one of each; first and second are the words
// for them.
func (t *text) valuesOf(unit int, first, second map[string]bool) (a, b float64, ok bool) {
	u := t.units[unit]
	words := t.words[u.from:u.to]
	all := t.inUnit(unit)
	if len(words) > maxPartWords {
		return 0, 0, false
	}
	for k, q := range all {
		if q.Kind == quantity.Date || q.Kind == quantity.Label || q.Kind == quantity.Ordinal || slices.ContainsFunc(all[:k], func(o quantity.Quantity) bool { return alikeKind(o, q) }) {
			continue
		}
		vs := values(q, all)
		found := [2][]float64{}
		for i, v := range vs {
			anchors := segment(t.Text, words, vs, i, u.start, u.end)
			one, other := len(shared(anchors, first)) > 0, len(shared(anchors, second)) > 0
			switch {
			case v.Low != v.High:
			case other:
				found[1] = append(found[1], v.Low)
			case one:
				found[0] = append(found[0], v.Low)
			}
		}
		if len(found[0]) == 1 && len(found[1]) == 1 {
			if ok {
				return 0, 0, false // figures of two kinds: which one is compared cannot be told
			}
			a, b, ok = found[0][0], found[1][0], true
		}
	}
	return a, b, ok
}
