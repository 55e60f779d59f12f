package planning

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/topicqueue"
)

// How sections are chosen as sub-topics.
const (
	redundancy = 0.2  // weight of likeness to what is chosen already
	newWords   = 0.3  // weight of the topic's words that no chosen heading has yet
	coreBonus  = 0.4  // for the sections of the document that is about the topic, times how much its title is
	introduces = 0.15 // for the beginning of that document
	coreScore  = 0.3  // from which a document is about the topic
	coreAbout  = 0.3  // weight of the topic's words in such a document's title
	coreShare  = 0.7  // of the best such document's score, from which another one stands beside it
	minShare   = 0.5  // of the best section's merit, below which a section is not about the topic
	minCovered = 0.25 // weight of the topic's words that a section must have
	minSaid    = 0.5  // of what the section says that says most of the topic
	inPairs    = 0.3  // part of what is said that depends on words standing together
	minProse   = 150  // bytes of sentences that make a section a part of its own
	late       = 0.15 // off at the end of a document: what comes first is needed most
	partMerit  = 0.6  // of a section whose own heading says nothing, such as "Examples"
	quotable   = 1    // sentences without which a section is no sub-topic
	manyParts  = 3    // parts that make a section worth cutting up
)

// candidates are the sections that could become sub-topics, best first.
func (w weights) candidates(documents []*document, wanted int) []section {
	core := coreOf(documents)
	var out []section
	best, mostSaid, mostCovered := 0.0, 0.0, 0.0
	for _, doc := range documents {
		isCore := slices.Contains(core, doc)
		for _, s := range w.sectionsOf(doc, isCore, wanted) {
			covered, phrases := w.said(s.node)
			if covered < minCovered || s.title == "" {
				continue
			}
			s.said = (1-inPairs)*covered + inPairs*phrases
			mostSaid, mostCovered = max(mostSaid, s.said), max(mostCovered, covered)
			s.merit = 0.25*s.about(w) + 0.2*w.headed(s.heading()) + 0.2*s.said + 0.35*min(1, s.density()/typicalDensity)
			s.merit *= substance(s.prose) * doc.genre() * s.explains() * (1 - late*float64(s.order)/float64(1+doc.last))
			if sayNothing[folded(s.heading())] == part || odd(s.path) {
				s.merit *= partMerit
			}
			best = max(best, s.merit) // without what its document adds: another concept of the topic may stand elsewhere
			if isCore && (len(s.path) == 0 || s.order <= 2 && sayNothing[folded(s.heading())] == opening) {
				s.merit += introduces
			}
			switch {
			case isCore && doc == core[0]:
				s.merit += coreBonus * doc.about
			case isCore:
				s.merit += coreBonus * doc.about / 2
			}
			out = append(out, s)
		}
	}
	if mostCovered < w.enough() {
		return nil
	}
	out = slices.DeleteFunc(out, func(s section) bool { return s.merit < minShare*best || s.said < minSaid*mostSaid })
	slices.SortStableFunc(out, func(a, b section) int { return cmp.Compare(b.merit, a.merit) })
	return out
}

// substance is 1 for a section of some 300 words, less for a shorter one: there is less to tell.
func substance(prose int) float64 {
	return max(0.3, min(1, 0.4+0.6*math.Log(float64(prose)/50)/math.Log(40)))
}

// said is how much of the topic a section speaks of with its headings, and how many of the topic's words stand together
// in it as they do there: a hash join is more than a hash and a join. Both 0 to 1.
func (w weights) said(n *node) (covered, phrases float64) {
	path := append([]string{n.document.title}, n.path...)
	has := w.in(path...)
	for term := range n.has {
		has[term] = true
	}
	pairs := len(n.pairs)
	for _, h := range path {
		for p := range neighbours(h) {
			if w.pairs[p] && !n.pairs[p] {
				pairs++
			}
		}
	}
	covered = w.sum(has)
	if len(w.pairs) == 0 {
		return covered, covered
	}
	return covered, min(1, float64(pairs)/float64(min(2, len(w.pairs))))
}

// choose picks n sections by merit, by what their headings add, and less likeness to those already picked (maximal
// marginal relevance, Carbonell and Goldstein 1998). A document whose title has but a part of the topic's words gives
// a part of the sections, as long as others have something.
func (w weights) choose(candidates []section, n int) []section {
	perDocument := map[*document]int{}
	headed := map[string]bool{}
	var chosen []section
	for _, spread := range []bool{true, false} {
		for len(chosen) < n {
			best, bestScore := -1, 0.0
			for i, c := range candidates {
				limit := n
				if spread {
					limit = max(2, int(math.Ceil(float64(n)*c.document.about)))
				}
				if perDocument[c.document] >= limit || slices.ContainsFunc(chosen, c.repeats) {
					continue
				}
				score := c.merit - redundancy*c.likeness(chosen)
				has := w.in(c.document.title, strings.Join(c.path, ". "))
				for _, term := range w.order {
					if has[term] && !headed[term] {
						score += newWords * w.of[term]
					}
				}
				if score > bestScore {
					best, bestScore = i, score
				}
			}
			if best < 0 {
				break
			}
			c := candidates[best]
			if len(extractive.Gist([]string{c.allText()}, c.title, quotable)) < quotable {
				candidates = slices.Delete(slices.Clone(candidates), best, best+1)
				continue
			}
			chosen = append(chosen, c)
			perDocument[c.document]++
			for term := range w.in(c.document.title, strings.Join(c.path, ". ")) {
				headed[term] = true
			}
		}
	}
	return chosen
}

// inOrder sorts the chosen sections as they stand in their documents. Documents come in the order of choice, those of
// which the very beginning was chosen first: it introduces.
func inOrder(chosen []section) []section {
	rank := map[*document]int{}
	for i, s := range chosen {
		if _, known := rank[s.document]; !known {
			rank[s.document] = i
		}
		if len(s.path) == 0 {
			rank[s.document] = i - len(chosen)
		}
	}
	slices.SortStableFunc(chosen, func(a, b section) int {
		return cmp.Or(cmp.Compare(rank[a.document], rank[b.document]), cmp.Compare(a.order, b.order))
	})
	return chosen
}

// likeness is that to the most similar of others, 0 to 1. What an author has put into two sections is not alike.
func (s section) likeness(others []section) float64 {
	most := 0.0
	for _, o := range others {
		if o.document == s.document {
			continue
		}
		most = max(most, extractive.Similarity(s.title+" "+lead(s.text), o.title+" "+lead(o.text)))
	}
	return most
}

// repeats reports whether two sections would make the same sub-topic or one holds the other.
func (s section) repeats(other section) bool {
	return topicqueue.Duplicate(s.title, other.title) || s.document == other.document && (s.holds(other) || other.holds(s))
}

func (s section) holds(other section) bool {
	return !s.alone && len(s.path) < len(other.path) && slices.Equal(s.path, other.path[:len(s.path)])
}
