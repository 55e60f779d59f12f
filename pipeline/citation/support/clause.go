package support

import (
	"slices"

	"nightdesk/pipeline/quantity"
)

// clause returns the content words of the part of the sentence around a quantity, up to commas, "and", "while".
func (s *statement) clause(q quantity.Quantity) map[string]bool {
	found := clauseTerms(s.text, s.words, q.Start, 0, len(s.text))
	for _, w := range s.words {
		if w.start >= q.Start && w.end <= q.End || s.inQuantity(w) {
			delete(found, w.term())
		}
	}
	return found
}

var clauseWords = set(`and but while whereas although though which who whose und aber während obwohl`)

// clauseTerms returns the content words around byte at within text[from:to], up to the next ends of the clause.
func clauseTerms(s string, words []word, at, from, to int) map[string]bool {
	start, end := from, to
	for i := at - 1; i > from; i-- {
		if clauseMark(s, i) {
			start = i + 1
			break
		}
	}
	for i := at; i < to; i++ {
		if clauseMark(s, i) {
			end = i
			break
		}
	}
	lo, _ := slices.BinarySearchFunc(words, start, func(w word, p int) int { return w.start - p })
	hi, _ := slices.BinarySearchFunc(words, end, func(w word, p int) int { return w.start - p })
	found := map[string]bool{}
	for _, w := range words[lo:hi] {
		if clauseWords[w.low] {
			if w.start < at {
				found = map[string]bool{}
				continue
			}
			break
		}
		if len(w.terms) > 0 && !w.number() {
			found[w.term()] = true
		}
	}
	return found
}

// clauseMark reports punctuation that ends a clause: not the comma of 1,000.
func clauseMark(s string, i int) bool {
	switch s[i] {
	case ',', ';', ':', '(', ')', '|':
		return i+1 >= len(s) || s[i+1] < '0' || s[i+1] > '9'
	}
	return false
}

func clauseBetween(text string, from, to int) bool {
	for i := from; i < to && i < len(text); i++ {
		if clauseMark(text, i) {
			return true
		}
	}
	return false
}
