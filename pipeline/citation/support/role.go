package support

import "slices"

// prepositions tell the role of a name.
var prepositions = set(`by of in at on from to into for with against under behind after before near over than as like between durch von in im aus an am bei zu zum zur nach für mit gegen unter hinter vor`)

// roleOf returns the preposition that a name stands under, "" when it stands under none.
func roleOf(text string, words []word, from int, r run) string {
	for i := r.first - 1; i >= from && i >= r.first-4; i-- {
		if clauseBetween(text, words[i].end, words[i+1].start) || auxiliary[words[i].low] || clauseWords[words[i].low] {
			return ""
		}
		if prepositions[words[i].low] {
			return words[i].low
		}
		if i < r.first-2 && words[i].term() != "" {
			return ""
		}
	}
	return ""
}

// agents are the prepositions of who does it.
func agent(role string) bool { return role == "by" || role == "durch" || role == "von" }

// sameRole reports that y stands in a part of a source as x does in the sentence: under the same preposition, or on the same
// side of the same word, or on the other side of it as "by" turns it.
func (s *statement) sameRole(t *text, x, y run, g part, theirs map[string]bool) bool {
	mine, their := roleOf(s.text, s.words, 0, x), roleOf(t.Text, t.words, g.from, y)
	if mine != their && !(mine == "" && agent(their)) && !(their == "" && agent(mine)) {
		return false
	}
	pivot, distance := -1, 0 // the word of the part that is closest to y and that the sentence has too
	for i := g.from; i < g.to; i++ {
		w := t.words[i]
		if i >= y.first && i <= y.last || w.term() == "" || !theirs[w.term()] || w.capital() {
			continue
		}
		if d := max(y.first-i, i-y.last); pivot < 0 || d < distance {
			pivot, distance = i, d
		}
	}
	if pivot < 0 {
		return false
	}
	at := slices.IndexFunc(s.words, func(w word) bool { return w.term() == t.words[pivot].term() })
	if at < 0 {
		return false
	}
	sameSide := (at < x.first) == (pivot < y.first)
	switch {
	case mine != their:
		return !sameSide
	case mine != "":
		return sameSide
	}
	return sameSide && passive(s.words, at) == passive(t.words, pivot)
}

var being = set(`is are was were be been being wurde wurden wird werden`)

// passive reports a form of "be" shortly before a word that is no noun.
func passive(words []word, at int) bool {
	for i := at - 1; i >= 0 && i >= at-3 && !beforeNoun[words[i].low]; i-- {
		if being[words[i].low] {
			return true
		}
	}
	return false
}
