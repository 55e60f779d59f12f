package support

import (
	"cmp"
	"slices"
	"strings"
)

// Shares of a sentence's words that a source sentence must have, alone, to be held against it, and that of the best.
const (
	sameMatter  = 0.4
	sameDenied  = 0.5 // when it denies what the statement says
	nearlyBest  = 0.75
	someOfIt    = 0.25 // of what may speak for it
	weighsTerms = 2
)

// passage is a source sentence with what the statement shares with it.
type passage struct {
	source *text
	unit   int
	text   string
	words  []word
	terms  map[string]bool // all content words of it
	share  float64
	own    float64 // of the share, what does not come from the title
}

// mostPassages bounds how many sentences of the sources are held against a statement.
const mostPassages = 16

// passages returns the sentences of the sources that have most of the statement's words, and the share of the best.
func (s *statement) passages(ws []window) (all []passage, best float64) {
	type place struct {
		text  *text
		unit  int
		share float64
		own   float64
	}
	var places []place
	for _, w := range ws {
		covered := map[int]map[int]bool{}
		for i, term := range s.terms {
			for _, u := range w.text.postings[term.text] {
				if covered[u] == nil {
					covered[u] = map[int]bool{}
				}
				covered[u][i] = true
			}
		}
		for u, terms := range covered {
			share := s.share(terms, w.text)
			best = max(best, share)
			places = append(places, place{w.text, u, share, s.weightOf(terms)})
		}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.share, a.share), strings.Compare(a.text.ID, b.text.ID), cmp.Compare(a.unit, b.unit))
	})
	for _, at := range places[:min(len(places), mostPassages)] {
		if at.share < someOfIt {
			break
		}
		u := at.text.units[at.unit]
		p := passage{source: at.text, unit: at.unit, text: at.text.Text, words: at.text.words[u.from:u.to], terms: map[string]bool{}, share: at.share, own: at.own}
		for _, word := range p.words {
			for _, term := range word.terms {
				p.terms[term] = true
			}
		}
		all = append(all, p)
	}
	return all, best
}

// followedBy reports that the sentence behind a passage has a word: The record was 47.60. Neither was broken.
func (p passage) followedBy(low string) bool {
	for u := p.unit; u <= p.unit+2 && u < len(p.source.units); u++ {
		for _, w := range p.source.words[p.source.units[u].from:p.source.units[u].to] {
			if w.low == low {
				return true
			}
		}
	}
	return false
}

// namesIn reports that a source sentence has a word of each name of the statement, where it has any name.
func (s *statement) namesIn(p passage) bool {
	for _, n := range s.names {
		found := n.weak
		for _, i := range n.words {
			w := s.words[i]
			found = found || p.terms[w.term()] || p.terms[w.low] || slices.ContainsFunc(p.words, func(o word) bool { return o.low == w.low })
		}
		if !found {
			return false
		}
	}
	return true
}
