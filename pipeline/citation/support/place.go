package support

import (
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// anaphora reports a word between two bytes that stands for what was named before.
func anaphora(words []word, from, to int) bool {
	lo, _ := slices.BinarySearchFunc(words, from, func(w word, b int) int { return w.start - b })
	return slices.ContainsFunc(words[lo:], func(w word) bool { return w.start < to && anaphoric[w.low] })
}

// differences are words before a value that is that of two others.
var differences = set(`difference gap unterschied differenz abstand`)

// misplaced reports that a value of a source belongs to something else than the sentence says: the anchors that tell it
// from another value of the sentence or table are the other one's.
func (t *text) misplaced(s *statement, q quantity.Quantity, p placed, around surroundings) bool {
	if q.Kind == quantity.Label || q.Kind == quantity.Ordinal || around.whole {
		return false
	}
	if c, ok := t.cells[p.Start]; ok {
		return t.misplacedCell(s, q, p, c, around)
	}
	u := t.units[p.unit]
	words := t.words[u.from:u.to]
	vs := values(p.Quantity, t.inUnit(p.unit))
	if len(vs) < 2 || differences[wordBefore(t.words, p.Start)] || p.Kind == quantity.Date && len(anchorsIn(t.Text, words, u.start, p.Start, nil)) == 0 { // a date that begins a sentence is that of all of it
		return false
	}
	at := slices.IndexFunc(vs, func(v quantity.Quantity) bool { return v.Start == p.Start })
	if at < 0 {
		return false
	}
	own := segment(t.Text, words, vs, at, u.start, u.end)
	first, last := at, at
	for first > 0 && follows(t.Text, words, vs[first-1], vs[first]) {
		first--
	}
	for last+1 < len(vs) && follows(t.Text, words, vs[last], vs[last+1]) {
		last++
	}
	pairs := respective(t.Text, words, vs[first:last+1])
	if pairs != nil {
		own = pairs[at-first]
	}
	for i, v := range vs {
		if i == at || !countAlike(words, p.Quantity, v) || agree(q, v, s.text[q.Start:q.End], t.Text[v.Start:v.End]) != apart {
			continue
		}
		if slices.ContainsFunc(around.partners, func(o quantity.Quantity) bool {
			return agree(o, v, s.text[o.Start:o.End], t.Text[v.Start:v.End]) != apart
		}) {
			continue
		}
		their := segment(t.Text, words, vs, i, u.start, u.end)
		if pairs != nil && i >= first && i <= last {
			their = pairs[i-first]
		}
		if i < at && anaphora(words, cutBetween(t.Text, words, vs[at-1].End, vs[at].Start), cutBehind(t.Text, p.End)) { // since 2019 she has owned it all
			maps.DeleteFunc(their, func(a string, _ bool) bool { return t.isName(a) })
		}
		if t.belongs(around, own, their) || q.Kind == quantity.Date && s.opposes(own) || i > at && t.shortenedValue(around, words, vs, at, i, u) {
			return true
		}
	}
	return false
}

// opposes reports that the anchors of a value are the opposite of what the sentence says: it ended in October, for it began.
func (s *statement) opposes(anchors map[string]bool) bool {
	for _, w := range s.words {
		for a := range anchors {
			if a != w.term() && opposites[w.low][a] && !slices.ContainsFunc(s.words, func(o word) bool { return o.term() == a || opposites[o.low][w.low] }) {
				return true
			}
		}
	}
	return false
}

// belongs reports that the words around a value of the sentence are their anchors and not its own. A name or a number
// tells more than another word.
func (t *text) belongs(around surroundings, own, their map[string]bool) bool {
	onlyOwn, onlyTheir := without(own, their), without(their, own)
	if !around.contrast && len(onlyOwn) > 0 && covers(around.sentence, onlyOwn) {
		return false // all that tells it from the other one is said
	}
	if otherPair(onlyOwn, onlyTheir, around) {
		return true
	}
	if own, their := wordsOf(maps.Clone(onlyOwn)), wordsOf(maps.Clone(onlyTheir)); len(own) > 0 && len(their) > 0 && covers(around.all, their) && len(shared(own, around.sentence)) == 0 {
		return true
	}
	if t.nameIn(shared(onlyTheir, around.close)) && t.nameIn(without(onlyOwn, around.sentence)) && !t.nameIn(shared(own, around.sentence)) {
		return true // 1,840 pairs in Norway, 410 in Estonia
	}
	mine, theirs, named, theirNamed := 0, 0, false, false
	for a := range around.all {
		if labelled(around.all, a) && (labelled(own, a) || labelled(their, a)) {
			continue // Editor 8 is one thing, and Editor 9 another
		}
		strong := t.isName(a) || strings.Contains(a, " ") || a[0] >= '0' && a[0] <= '9' && !(around.contrast && yearIn.MatchString(a))
		switch {
		case own[a] && !their[a]:
			mine++
			named = named || strong
		case their[a] && !own[a] && around.close[a]:
			theirs++
			theirNamed = theirNamed || strong
		}
	}
	return (theirs > 1 || theirs == 1 && around.contrast) && mine == 0 || theirNamed && !named && mine <= 1
}

// nameIn reports anchors of which one is a name.
func (t *text) nameIn(anchors map[string]bool) bool {
	for a := range anchors {
		if t.isName(a) {
			return true
		}
	}
	return false
}

// otherPair reports that the sentence says it of Line B, where this value is that of Line A and the other one that of B.
func otherPair(own, their map[string]bool, around surroundings) bool {
	for a := range own {
		word, _, pair := strings.Cut(a, " ")
		if !pair || around.sentence[a] {
			continue
		}
		for b := range their {
			if strings.HasPrefix(b, word+" ") && around.all[b] {
				return true
			}
		}
	}
	return false
}

// labelled reports that a number follows a word: Editor 8.
func labelled(anchors map[string]bool, word string) bool {
	for a := range anchors {
		if rest, ok := strings.CutPrefix(a, word); ok && rest != "" && rest[0] == ' ' {
			return true
		}
	}
	return false
}

// isName reports a word that a source always writes with a capital, in a language that does so with names only.
func (t *text) isName(term string) bool {
	return t.capitals[term] && !t.small[term] && t.language != "de"
}
