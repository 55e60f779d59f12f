package support

import (
	"slices"

	"nightdesk/pipeline/quantity"
)

// likelier reports that another value of the kind, which the sentence does not have, has more of the sentence around it than
// this one: in the same source sentence, or in another one with a name or a date that this one lacks. Which of them is meant
// cannot be told then.
func (t *text) likelier(s *statement, q quantity.Quantity, p placed, places []rivalPlace) bool {
	if q.Kind == quantity.Label || q.Kind == quantity.Ordinal {
		return false
	}
	return t.outdated(s, q, p) || t.likelierBeside(s, q, p) || q.Kind != quantity.Date && p.Kind != quantity.Date && t.likelierElsewhere(s, p, places)
}

// outdated reports a value that has become another one, of which the sentence does not say so: it fell from 27.8 to 23.1.
func (t *text) outdated(s *statement, q quantity.Quantity, p placed) bool {
	before := wordBefore(t.words, p.Start)
	if before != "from" && before != "von" || q.Kind == quantity.Date || slices.ContainsFunc(s.quantities, func(o quantity.Quantity) bool {
		return o.Start != q.Start && (o.Kind == quantity.Date || alikeKind(q, o))
	}) || slices.ContainsFunc(s.words, func(w word) bool { return former[w.low] }) {
		return false
	}
	return slices.ContainsFunc(t.inUnit(p.unit), func(o quantity.Quantity) bool {
		return o.Start > p.End && alikeKind(p.Quantity, o) && joinsValues(t.Text[p.End:o.Start])
	})
}

// former words tell that something is no longer so.
var former = set(`from before earlier previous previously former formerly once until had last ago von vorher zuvor früher vorjahr einst hatte hatten bis`)

func (t *text) likelierBeside(s *statement, q quantity.Quantity, p placed) bool {
	u := t.units[p.unit]
	words := t.words[u.from:u.to]
	vs := values(p.Quantity, t.inUnit(p.unit))
	at := slices.IndexFunc(vs, func(v quantity.Quantity) bool { return v.Start == p.Start })
	if at < 0 || len(vs) < 2 {
		return false
	}
	own := segment(t.Text, words, vs, at, u.start, u.end)
	noun := nounBehind(s.words, q.End)
	delete(own, noun)
	for i, v := range vs {
		if i == at || !countAlike(words, p.Quantity, v) || agree(q, v, s.text[q.Start:q.End], t.Text[v.Start:v.End]) != apart {
			continue
		}
		if _, also := s.says(placed{Quantity: v, raw: t.Text[v.Start:v.End]}); also {
			continue
		}
		their := segment(t.Text, words, vs, i, u.start, u.end)
		delete(their, noun)
		mine, theirs := without(own, their), without(their, own)
		few := len(shared(mine, s.anchors))
		if p.Kind == quantity.Date && few > 0 || covers(s.anchors, mine) || t.nameIn(shared(mine, s.anchors)) {
			continue
		}
		if said := len(shared(theirs, s.anchors)); said > 0 && said >= few { // as much: which one is meant cannot be told
			return true
		}
	}
	return false
}

// nameWeighs is how many other words a name, or a date, outweighs.
const nameWeighs = 2

func (t *text) likelierElsewhere(s *statement, p placed, places []rivalPlace) bool {
	for _, place := range places {
		if place.unit == p.unit {
			continue
		}
		more, telling, named := 0, false, false
		for _, term := range s.terms {
			weight := 1
			if t.isName(term.text) {
				weight = nameWeighs
			}
			switch there, here := t.inPosting(term.text, place.unit), t.inPosting(term.text, p.unit); {
			case there && !here:
				more += weight
				telling = telling || weight > 1 && !t.aboutTerms[term.text] && !(p.unit > 0 && t.inPosting(term.text, p.unit-1))
			case here && !there:
				more -= weight
				named = named || weight > 1
			}
		}
		for _, d := range s.quantities {
			if d.Kind != quantity.Date || d.When.Year == 0 {
				continue
			}
			switch there, here := t.hasDate(place.unit, d), t.hasDate(p.unit, d); {
			case there && !here:
				more += nameWeighs
				telling = true
			case here && !there:
				more -= nameWeighs
			}
		}
		if telling && !named && more > 0 {
			return true
		}
	}
	return false
}

// hasDate reports a unit with a date.
func (t *text) hasDate(unit int, d quantity.Quantity) bool {
	return slices.ContainsFunc(t.inUnit(unit), func(o quantity.Quantity) bool { return o.Kind == quantity.Date && agreeDates(d, o) != apart })
}
