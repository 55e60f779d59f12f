package support

import (
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// wordsOf leaves out the anchors that are numbers and no years.
func wordsOf(anchors map[string]bool) map[string]bool {
	maps.DeleteFunc(anchors, func(a string, _ bool) bool { return a[0] >= '0' && a[0] <= '9' && !yearIn.MatchString(a) })
	return anchors
}

// anchorsIn returns the anchors of the words between two bytes, without those of the values.
func anchorsIn(text string, words []word, from, to int, vs []quantity.Quantity) map[string]bool {
	out := map[string]bool{}
	lo, _ := slices.BinarySearchFunc(words, from, func(w word, b int) int { return w.start - b })
	for ; lo < len(words) && words[lo].start < to; lo++ {
		w := words[lo]
		if within(w, vs) || powers[w.low] || lo > 0 && words[lo-1].number() && measures[w.low] {
			continue
		}
		if w.number() && (lo > 0 && words[lo-1].number() && words[lo-1].end+1 == w.start && text[w.start-1] != ' ' || lo+1 < len(words) && words[lo+1].number() && w.end+1 == words[lo+1].start && text[w.end] != ' ') {
			continue // groups of digits
		}
		if lo+1 < len(words) && w.capital() && w.term() != "" && !calendar[w.low] && words[lo+1].number() && len(words[lo+1].raw) <= 3 && words[lo+1].start-w.end == 1 && !within(words[lo+1], vs) {
			out[w.term()+" "+words[lo+1].low] = true
		}
		if lo+1 < len(words) && w.term() != "" && letter(words[lo+1]) && words[lo+1].start-w.end == 1 { // Line A
			out[w.term()+" "+words[lo+1].low] = true
		}
		addAnchor(out, w)
	}
	return out
}

// powers are words that only raise a number.
var powers = set(`hundred thousand million millions billion billions trillion tausend mio mrd millionen milliarde milliarden`)

// measures are units behind a number, of what has been measured they say nothing.
var measures = set(`tonne tonnes ton tons tonnen kilogram kilograms kg gram grams metre metres meter meters metern kilometre kilometres kilometer kilometers kilometern km mile miles feet
	litre litres liter liters litern degrees grad percent prozent euro euros dollar dollars pound pounds kroner francs franken yen yuan`)

// within reports a word that is part of a value.
func within(w word, vs []quantity.Quantity) bool {
	return slices.ContainsFunc(vs, func(v quantity.Quantity) bool { return w.start < v.End && w.end > v.Start })
}

// letter reports a word of a single capital.
func letter(w word) bool {
	return len(w.raw) == 1 && w.raw[0] >= 'A' && w.raw[0] <= 'Z' && w.raw != "I"
}

// without returns the elements of a that b does not have.
func without(a, b map[string]bool) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		if !b[k] {
			out[k] = true
		}
	}
	return out
}

// addAnchor takes in a word by its stem, a number as it is written.
func addAnchor(to map[string]bool, w word) {
	if w.number() {
		to[strings.Trim(w.low, ".,")] = true
	} else if term := w.term(); term != "" && !spans[w.low] {
		to[term] = true
	}
}

// plainAnchors leaves out the anchors that are numbers, pairs and the shortest words.
func plainAnchors(anchors map[string]bool) map[string]bool {
	for a := range anchors {
		if len(a) <= 3 || strings.Contains(a, " ") || a[0] >= '0' && a[0] <= '9' {
			delete(anchors, a)
		}
	}
	return anchors
}
