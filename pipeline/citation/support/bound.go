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
