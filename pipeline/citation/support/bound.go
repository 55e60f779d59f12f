package support

import (
	"maps"
	"slices"
)

// misbound is what a source says of another name than the sentence does.
type misbound struct {
	detail  string
	certain bool // the other name stands in the very role
}

// boundElsewhere returns a name of the sentence that the sources have among other things, while what the sentence says of
// it stands in a part that belongs to another name: "Carla Dietz praised it", where Robert Haas praised it and Carla Dietz
// found it too long.
func (s *statement) boundElsewhere(texts []*text) misbound {
	found := misbound{}
	for _, t := range texts {
		parts := partsOf(s.text, s.words, 0, len(s.words), func(i int) bool { return !s.inQuantity(s.words[i]) && isNameAt(s.text, s.words, i, t) })
		if len(s.words) > maxPartWords {
			return found
		}
		for _, p := range parts {
			for _, x := range p.names[:min(len(p.names), maxFacts)] {
				certain, ok := s.boundToOther(t, texts, p, x)
				if ok && (!found.certain || certain) {
					found = misbound{s.text[s.words[x.first].start:s.words[x.last].end], certain}
				}
				if found.certain {
					return found
				}
			}
		}
	}
	return found
}

// mostOfPart is the share of what the sentence says of a name that the part of another name must have.
const mostOfPart = 0.6

// boundToOther reports that a part of a source has what the sentence says of x, and says it of another name. certain:
// that one stands in the role that x has in the sentence.
func (s *statement) boundToOther(t *text, texts []*text, p part, x run) (certain, ok bool) {
	low := s.words[x.last].low
	said := map[string]bool{} // of x
	names := map[string]bool{}
	for _, r := range p.names {
		for _, w := range s.words[r.first : r.last+1] {
			names[w.term()] = true
		}
	}
	for term := range p.terms {
		if !slices.ContainsFunc(s.words[x.first:x.last+1], func(w word) bool { return slices.Contains(w.terms, term) }) {
			said[term] = true
		}
	}
	if len(said) == 0 {
		return false, false
	}
	mine, known, most := map[string]bool{}, false, 0
	for _, o := range texts {
		for _, u := range o.postings[s.words[x.last].term()] {
			for _, g := range o.nameParts(u) {
				if g.holds(o.words, low) {
					known = true
					most = max(most, len(shared(said, g.terms)))
					for term := range g.terms {
						if said[term] {
							mine[term] = true
						}
					}
				}
			}
		}
	}
	if !known {
		return false, false
	}
	if s.shortened(t, p, x, said) {
		return true, true
	}
	count := map[int]int{}
	for term := range said {
		for _, u := range t.postings[term] {
			count[u]++
		}
	}
	for u, n := range count {
		if float64(n) < mostOfPart*float64(len(said)) {
			continue
		}
		for _, g := range t.nameParts(u) {
			theirs := shared(said, g.terms)
			if !g.holds(t.words, low) && 2*most < len(said) && len(theirs) > most && len(without(without(theirs, mine), names)) > 0 && s.rivalIn(t, p, x, g) {
				ok = true
			}
			if len(said) < 2 || g.holds(t.words, low) || !tells(theirs, mine, names) || float64(len(theirs)) < mostOfPart*float64(len(said)) {
				continue
			}
			for _, y := range g.names {
				if !s.rivalName(t, p, x, y) {
					continue
				}
				if (g.pronoun < 0 || g.pronoun > y.last) && s.sameRole(t, x, y, g, theirs) {
					return true, true
				}
				ok = ok || g.pronoun < 0
			}
		}
	}
	return false, ok
}

// rivalIn reports a part that is said of another name.
func (s *statement) rivalIn(t *text, p part, x run, g part) bool {
	return slices.ContainsFunc(g.names, func(y run) bool {
		introduces := g.pronoun >= 0 && possessive[t.words[g.pronoun].low] && g.pronoun < y.first && y.first-g.pronoun <= 4 // its chair, Ann Rowe
		return (g.pronoun < 0 || introduces) && s.rivalName(t, p, x, y)
	})
}

// shortened reports that the sentence has x where a source has another name in a part that leaves the verb out: the medals
// were presented by x, and the flowers by y, for "the flowers were presented by x".
func (s *statement) shortened(t *text, p part, x run, said map[string]bool) bool {
	low := s.words[x.last].low
	role := roleOf(s.text, s.words, p.from, x)
	for _, u := range t.postings[s.words[x.last].term()] {
		parts := t.nameParts(u)
		for i, a := range parts {
			if i+1 == len(parts) || !a.holds(t.words, low) || parts[i+1].holds(t.words, low) {
				continue
			}
			g := parts[i+1]
			words := g.plain(t.words)
			if len(words) == 0 || len(words) > 2 || !covers(said, words) || len(shared(words, a.terms)) > 0 {
				continue
			}
			rest := a.plain(t.words)
			if len(shared(rest, said)) == 0 || covers(said, rest) {
				continue // the verb must be that of the sentence, and its subject another
			}
			for _, y := range g.names {
				if s.rivalName(t, p, x, y) && roleOf(t.Text, t.words, g.from, y) == role {
					return true
				}
			}
		}
	}
	return false
}

// plain returns the content words of a part that are neither names nor numbers.
func (p part) plain(words []word) map[string]bool {
	out := map[string]bool{}
	for i := p.from; i < p.to; i++ {
		if words[i].term() != "" && !words[i].number() && !slices.ContainsFunc(p.names, func(r run) bool { return i >= r.first && i <= r.last }) {
			out[words[i].term()] = true
		}
	}
	return out
}

// tells reports that a part has nearly all that another one has of a statement, and much more: among it a word that
// belongs to no name.
func tells(theirs, mine, names map[string]bool) bool {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(theirs)), func(term string) bool { return !mine[term] && !names[term] }) {
		return false
	}
	both := len(shared(theirs, mine))
	more, less := len(theirs)-both, len(mine)-both
	return more > 0 && (less == 0 || more >= clearlyMore*less)
}

const clearlyMore = 4

// holds reports that a part has a word at all.
func (p part) holds(words []word, low string) bool {
	return slices.ContainsFunc(words[p.from:p.to], func(w word) bool { return w.low == low })
}

// rivalName reports a name of a source that could stand where x stands: another one, that the part of the sentence does not
// have, and not one that stands beside x as a second name of it.
func (s *statement) rivalName(t *text, p part, x, y run) bool {
	for _, w := range t.words[y.first : y.last+1] {
		if slices.ContainsFunc(s.words[p.from:p.to], func(o word) bool { return o.low == w.low && o.low != "of" }) && w.low == t.words[y.last].low {
			return false
		}
	}
	if slices.ContainsFunc(s.words[x.first:x.last+1], func(o word) bool { return o.low == t.words[y.last].low }) ||
		slices.ContainsFunc(t.words[y.first:y.last+1], func(o word) bool { return o.low == s.words[x.last].low }) {
		return false
	}
	return !t.aliases(s.words[x.last].low, t.words[y.last].low)
}

// aliases reports that two names stand beside each other in a source with nothing but a bracket, a comma or an article
// between them.
func (t *text) aliases(a, b string) bool {
	key := [2]string{a, b}
	same, known := t.alias[key]
	if !known {
		if t.alias == nil {
			t.alias = map[[2]string]bool{}
		}
		same = t.besideEachOther(a, b)
		t.alias[key] = same
	}
	return same
}

func (t *text) besideEachOther(a, b string) bool {
	for i, w := range t.words {
		if w.low != a && w.low != b {
			continue
		}
		other := b
		if w.low == b {
			other = a
		}
		for j := i + 1; j < len(t.words) && j <= i+4 && (t.words[j].capital() || t.words[j].term() == ""); j++ {
			if t.words[j].low == other {
				return true
			}
			if t.words[j].low == "and" || t.words[j].low == "or" || t.words[j].low == "und" {
				break
			}
		}
	}
	return false
}

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

func clauseBetween(text string, from, to int) bool {
	for i := from; i < to && i < len(text); i++ {
		if clauseMark(text, i) {
			return true
		}
	}
	return false
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
