package support

import (
	"slices"
	"strings"
)

// negated returns the word that the sentence denies and the sources state, or the other way round; "" when there is none.
func (s *statement) negated(all []passage, best float64) string {
	if best < sameMatter {
		return ""
	}
	own := map[string]bool{}
	for _, term := range s.terms {
		own[term.text] = true
	}
	mine := s.negations
	theirs := make([][]negation, len(all))
	heads := map[string]bool{}
	for i, p := range all {
		theirs[i] = negations(p.text, p.words)
		for _, n := range theirs[i] {
			heads[n.head] = true
		}
	}
	// What both deny in the same words says nothing of the rest.
	denied := inScope(slices.DeleteFunc(slices.Clone(mine), func(n negation) bool { return heads[n.head] }))
	deniedHeads := map[string]bool{}
	for _, n := range mine {
		deniedHeads[n.head] = true
	}
	for _, n := range mine {
		if !n.trigger || n.part {
			continue
		}
		stated, deniedToo := false, false
		for i, p := range all {
			if !p.terms[n.head] {
				continue
			}
			switch {
			case len(shared(inScope(besides(theirs[i], n.head)), n.scope)) > 0, anyOpposite(n.head, p.terms), p.deniesBefore(theirs[i], n.head):
				deniedToo = deniedToo || p.share >= someOfIt
			case s.denyAlike(p, mine, theirs[i]):
				deniedToo = deniedToo || p.share >= sameMatter
			case p.share >= sameMatter && p.share >= nearlyBest*best && n.reaches(p.terms) && s.plainlySaid(p, theirs[i], n):
				stated = true
			}
		}
		if stated && !deniedToo {
			return n.head
		}
	}
	for i, p := range all {
		if p.share < sameDenied || p.share < nearlyBest*best || !s.namesIn(p) {
			continue
		}
		for _, n := range theirs[i] {
			if !n.trigger || !own[n.head] || deniedHeads[n.head] || len(shared(denied, n.scope)) > 0 || !n.reaches(own) || anyOpposite(n.head, own) {
				continue
			}
			elsewhere := false
			for j, o := range all {
				if j != i && o.share >= nearlyBest*p.share && o.terms[n.head] && !inScope(theirs[j])[n.head] {
					elsewhere = true
				}
			}
			// The word may also stand in the same source sentence without being denied.
			if !elsewhere && !statedBeside(p, n) {
				return n.head
			}
		}
	}
	return ""
}

// deniesBefore reports a German sentence that denies, in the same clause, behind a word: aus Landesmitteln nicht zu ersetzen.
func (p passage) deniesBefore(ns []negation, term string) bool {
	return p.source.language == "de" && slices.ContainsFunc(ns, func(n negation) bool {
		for i := n.at - 1; i >= 0 && !clauseBetween(p.text, p.words[i].end, p.words[i+1].start); i-- {
			if p.words[i].term() == term {
				return true
			}
		}
		return false
	})
}

// relative words begin a clause that tells which one is meant.
var relative = set(`that which who whom whose`)

// exclusive words make "no other has" of what a source states: the first to, the only one.
var exclusive = set(`first only sole solely alone last vacant except other`)

// ceasing words say that something is no more, or is not there.
var ceasing = set(`dropped discontinued abandoned withdrawn ceased lack lacks lacked lacking eingestellt fehlt fehlen fehlte mangels`)

// refusing words deny what they are followed by.
var refusing = set(`refuse refuses refused deny denies denied withhold withholds withheld verweigert verweigerte verweigern`)

// plainlySaid reports that a source sentence can be held against a denial: it has the names of the statement, and says
// nothing that comes to a denial in other words: never remarried, for did not marry again; the first to, for no other has.
func (s *statement) plainlySaid(p passage, theirs []negation, n negation) bool {
	if n.noun && p.followedBy(n.word) {
		return false
	}
	if slices.ContainsFunc(theirs, func(o negation) bool { return o.trigger && strings.HasSuffix(o.head, n.head) }) || !s.namesIn(p) {
		return false
	}
	for _, w := range p.words {
		if (ceasing[w.low] || refusing[w.low]) && !slices.ContainsFunc(s.words, func(o word) bool { return o.low == w.low }) {
			return false
		}
		if n.noun && exclusive[w.low] && s.compares() {
			return false
		}
	}
	return true
}

// compares reports a denial of others: no other has, nobody had before.
func (s *statement) compares() bool {
	return slices.ContainsFunc(s.words, func(w word) bool {
		return w.low == "other" || w.low == "others" || w.low == "before" || w.low == "previously" || w.low == "else" || w.low == "ever" || w.low == "since"
	})
}

// reaches reports that a text has enough of what is denied to be about the same: "no commits are lost" denies that
// commits are lost, not commits.
func (n negation) reaches(terms map[string]bool) bool {
	if !n.noun || len(n.scope) < weighsTerms {
		return true
	}
	count := 0
	for term := range n.scope {
		if terms[term] {
			count++
		}
	}
	return count >= weighsTerms
}

// besides leaves out the negation that the word with this stem is itself: not protected denies protected.
func besides(ns []negation, head string) []negation {
	return slices.DeleteFunc(slices.Clone(ns), func(n negation) bool { return n.term == head })
}

func inScope(ns []negation) map[string]bool {
	out := map[string]bool{}
	for _, n := range ns {
		for term := range n.scope {
			out[term] = true
		}
	}
	return out
}

// statedBeside reports that the head of a negation stands in the sentence more often than it is denied.
func statedBeside(p passage, n negation) bool {
	count := 0
	for _, w := range p.words {
		if w.term() == n.head {
			count++
		}
	}
	denied := 0
	for _, o := range negations(p.text, p.words) {
		if o.scope[n.head] {
			denied++
		}
	}
	return count > denied
}

// anyOpposite reports that a text has the opposite of a word: not enabled and disabled are one.
func anyOpposite(term string, terms map[string]bool) bool {
	for other := range opposites[term] {
		if terms[other] {
			return true
		}
	}
	return false
}

// denyAlike reports that sentence and passage deny one thing each with the same word, and that the passage has all words of the
// sentence: cars will not get the cells, the cells will not be used in cars.
func (s *statement) denyAlike(p passage, mine, theirs []negation) bool {
	denies := func(ns []negation) []negation {
		return slices.DeleteFunc(slices.Clone(ns), func(n negation) bool { return !n.trigger || n.part })
	}
	a, b := denies(mine), denies(theirs)
	return len(a) == 1 && len(b) == 1 && a[0].word == b[0].word && !slices.ContainsFunc(s.terms, func(term weighted) bool { return !p.terms[term.text] })
}
