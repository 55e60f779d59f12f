package support

import (
	"cmp"
	"slices"

	"nightdesk/pipeline/quantity"
)

// saidOfAnother reports that in the source sentence another value of the same kind is said of what the sentence says
// this one of: its clause has all words of this value's clause that the sentence has, and more.
func (t *text) saidOfAnother(s *statement, q quantity.Quantity, p placed, around map[string]bool) bool {
	u := t.units[p.unit]
	words := t.words[u.from:u.to]
	for i := range words { // "under 50% but was weaker above 65%": the subject stands in the other clause
		if words[i].start >= p.Start {
			break
		}
		if clauseWords[words[i].low] && elided(words, words[i].end) {
			return false
		}
	}
	clause := clauseTerms(t.Text, words, p.Start, u.start, u.end)
	own := shared(around, clause)
	told := t.told(s, p) || covers(s.anchors, clause) && t.clauseSaid(s, p) // what it leaves out stands before
	for _, other := range t.rivals(s, q, p.unit, p) {
		their := clauseTerms(t.Text, words, other.Start, u.start, u.end)
		theirs := shared(around, their)
		if told && other.Start < p.Start || len(theirs) <= len(own) || 10*len(theirs) < 6*len(around) || !covers(theirs, own) {
			continue
		}
		if also, has := s.says(other); has { // both values: they are exchanged only if that one fits here better
			if other := s.clause(also); s.changes(q, also) || s.changes(also, q) || len(shared(other, clause)) <= len(shared(other, their)) {
				continue
			}
		}
		return true
	}
	return false
}

// told reports that the sentence has all that tells a value from its neighbours: what it leaves out stands before.
func (t *text) told(s *statement, p placed) bool {
	u := t.units[p.unit]
	vs := values(p.Quantity, t.inUnit(p.unit))
	at := slices.IndexFunc(vs, func(v quantity.Quantity) bool { return v.Start == p.Start })
	if at < 0 || len(vs) < 2 {
		return false
	}
	label := segment(t.Text, t.words[u.from:u.to], vs, at, u.start, u.end)
	return len(label) > 0 && covers(s.anchors, label)
}

// clauseSaid reports that the sentence has all dates and measured values of the clause around a value.
func (t *text) clauseSaid(s *statement, p placed) bool {
	from, to := cutBefore(t.Text, p.Start), cutBehind(t.Text, p.End)
	if p.Start > 0 && t.Text[p.Start-1] == '(' {
		return false
	}
	for _, o := range t.valuesIn(p.unit) {
		if _, said := s.says(o); !said && o.Start != p.Start && o.Start >= from && o.End <= to && o.Kind != quantity.Number {
			return false
		}
	}
	return true
}

// says returns the quantity of the sentence that another one of a source bears out.
func (s *statement) says(p placed) (quantity.Quantity, bool) {
	for _, q := range s.quantities {
		if agree(q, p.Quantity, s.text[q.Start:q.End], p.raw) >= rough {
			return q, true
		}
	}
	return quantity.Quantity{}, false
}

// rivals returns the quantities of a unit that are of the same kind as one of the sentence and differ from it; bare
// numbers only when they count the same things.
func (t *text) rivals(s *statement, q quantity.Quantity, unit int, p placed) []placed {
	u := t.units[unit]
	var out []placed
	at, _ := slices.BinarySearchFunc(t.quantities, u.start, func(p placed, b int) int { return p.Start - b })
	for ; at < len(t.quantities) && t.quantities[at].Start < u.end && len(out) < 20; at++ {
		other := t.quantities[at]
		if other.Start == p.Start || other.Kind != q.Kind || other.Unit != q.Unit && !alikeKind(q, other.Quantity) && q.Kind != quantity.Money || agree(q, other.Quantity, s.text[q.Start:q.End], other.raw) != apart {
			continue
		}
		if mine, theirs := nounBehind(s.words, q.End), nounBehind(t.words, other.End); q.Kind == quantity.Number && mine != "" && theirs != "" && mine != theirs {
			continue
		}
		out = append(out, other)
	}
	return out
}

// wrongPlace is the share of the words of the right place, for a value, below which another is the wrong one.
const wrongPlace = 0.6

// rivalPlace is a unit of a source that has another value of the kind than the sentence, with how many of the words that
// the sentence has around its own.
type rivalPlace struct {
	unit, words int
	rivals      []placed
}

// maxPlaces bounds the places of one value, and those of its rivals, that are looked at: the best ones.
const maxPlaces = 60

// rivalPlaces returns the units with a rival that have at least half of the words, those with most of them first.
func (t *text) rivalPlaces(s *statement, q quantity.Quantity, around map[string]bool) (places []rivalPlace, count map[int]int) {
	count = map[int]int{}
	for term := range around {
		for _, u := range t.postings[term] {
			count[u]++
		}
	}
	if len(around) < 2 {
		return nil, count
	}
	for u, n := range count {
		if 2*n >= len(around) {
			places = append(places, rivalPlace{unit: u, words: n})
		}
	}
	slices.SortFunc(places, func(a, b rivalPlace) int { return cmp.Or(b.words-a.words, a.unit-b.unit) })
	out := places[:0]
	for _, place := range places[:min(len(places), 4*maxPlaces)] {
		place.rivals = slices.DeleteFunc(t.rivals(s, q, place.unit, placed{Quantity: quantity.Quantity{Start: -1}}), func(o placed) bool {
			_, also := s.says(o)
			return also
		})
		if len(place.rivals) > 0 && len(out) < maxPlaces {
			out = append(out, place)
		}
	}
	return out, count
}

// together counts the words that stand in a unit, and in the one before it if "it" there stands for what is named here.
func (t *text) together(around map[string]bool, unit int) int {
	before := unit > 0 && t.units[unit].from < t.units[unit].to && anaphoric[t.words[t.units[unit].from].low]
	n := 0
	for term := range around {
		if t.inPosting(term, unit) || before && t.inPosting(term, unit-1) {
			n++
		}
	}
	return n
}

// saidElsewhere reports that another source sentence has much more of what the value is said of, and another value of
// the same kind.
func saidElsewhere(p placed, places []rivalPlace, own int) bool {
	for _, place := range places {
		if place.unit != p.unit && float64(own) < wrongPlace*float64(place.words) && place.words-own >= 2 {
			return true
		}
	}
	return false
}

func shared(a, b map[string]bool) map[string]bool {
	out := map[string]bool{}
	for k := range a {
		if b[k] {
			out[k] = true
		}
	}
	return out
}

func covers(a, b map[string]bool) bool {
	for k := range b {
		if !a[k] {
			return false
		}
	}
	return true
}
