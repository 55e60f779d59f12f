package support

import (
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// headOf returns the content word that a value stands behind with nothing but stop words between: the budget of the budget was 31
// million, announced of announced in 2020; "" when there is none.
func headOf(text string, words []word, start int) string {
	i, _ := slices.BinarySearchFunc(words, start, func(w word, b int) int { return w.start - b })
	for i--; i >= 0; i-- {
		if words[i].end > start || strings.ContainsAny(text[words[i].end:start], ",;:()|\n") || words[i].number() || i > 0 && words[i-1].number() || clauseWords[words[i].low] || turnedBy[words[i].low] {
			return ""
		}
		if term := words[i].term(); term != "" {
			return term
		}
	}
	return ""
}

// turnedBy are prepositions before a value that make it no value of what stands before them.
var turnedBy = set(`than from to by up down over under above below about around nearly almost more less against without not no as auf um über unter als bis von`)

// ofAnotherHead reports that the word which the sentence has right before a value stands in the source sentence right before another
// value of the kind, and before this one another word.
func (t *text) ofAnotherHead(s *statement, q quantity.Quantity, p placed) bool {
	head := headOf(s.text, s.words, q.Start)
	if head == "" || s.wide {
		return false
	}
	u := t.units[p.unit]
	words := t.words[u.from:u.to]
	own := headOf(t.Text, words, p.Start)
	if own == "" || own == head || slices.ContainsFunc(s.terms, func(term weighted) bool { return term.text == own }) {
		return false
	}
	return slices.ContainsFunc(t.rivals(s, q, p.unit, p), func(v placed) bool {
		_, also := s.says(v)
		return !also && headOf(t.Text, words, v.Start) == head
	})
}

// measuredElsewhere reports a measure of which the sentence says what it is a measure of, right behind it, and the source says that of
// another measure: 2,150 metres long, where it is 7,840 metres long.
func (t *text) measuredElsewhere(s *statement, q quantity.Quantity, p placed) bool {
	of := nounBehind(s.words, q.End)
	if q.Kind != quantity.Measure || of == "" || nounBehind(t.words, p.End) == of {
		return false
	}
	return slices.ContainsFunc(t.quantities, func(o placed) bool {
		return o.Kind == q.Kind && alikeKind(q, o.Quantity) && nounBehind(t.words, o.End) == of && agree(q, o.Quantity, s.text[q.Start:q.End], o.raw) == apart
	})
}

// ofThem reports a number of some of those before it, "2,150 people, 700 of them in research", where the sentence does not say which.
func (t *text) ofThem(s *statement, p placed) bool {
	if p.Kind != quantity.Number {
		return false
	}
	rest := t.Text[p.End:min(len(t.Text), p.End+60)]
	rest = strings.TrimLeft(rest, " ")
	if i := slices.IndexFunc(themWords, func(w string) bool { return strings.HasPrefix(rest, w) }); i < 0 {
		return false
	}
	u := t.units[p.unit]
	said := false
	for _, w := range t.words[u.from:u.to] {
		if w.start < p.End || w.term() == "" {
			continue
		}
		if clauseBetween(t.Text, p.End, w.start) {
			break
		}
		if slices.ContainsFunc(s.terms, func(term weighted) bool { return term.text == w.term() }) {
			return false
		}
		said = true
	}
	return said
}

var themWords = []string{"of them ", "of whom ", "of which ", "of these ", "davon ", "von ihnen "}
