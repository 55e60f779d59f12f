package support

import (
	"slices"

	"nightdesk/pipeline/quantity"
)

// A figure tells most of what it changed by and where to: fell by 6%, 6% more, fourteen months late, from 60 to 120.

// movement is a figure of a text with the direction that is said of it.
type movement struct {
	figure quantity.Quantity
	side   int // 1 for more, or sooner
	when   bool
	word   word
}

// sooner and later words stand behind a span of time that something came too early or too late by.
var (
	sooner = set(`early earlier ahead sooner früher`)
	later  = set(`late later behind später`)
)

// movements finds them. Of a comparison with "than" it cannot be told which side it is seen from.
func movements(text string, words []word, qs []quantity.Quantity) []movement {
	var out []movement
	for k, q := range qs {
		if q.Kind == quantity.Date || q.Kind == quantity.Label || q.Kind == quantity.Ordinal {
			continue
		}
		i, _ := slices.BinarySearchFunc(words, q.End, func(w word, b int) int { return w.start - b })
		if i < len(words) && words[i].start == q.End+1 {
			w := words[i]
			time := q.Unit == "s" || q.Unit == "month"
			switch {
			case time && (sooner[w.low] || later[w.low]):
				side := 1
				if later[w.low] {
					side = -1
				}
				if dated := i+1 < len(words) && words[i+1].low != "of" && len(words[i+1].terms) > 0; !dated { // seven months later it opened
					out = append(out, movement{q, side, true, w})
				}
				continue
			case !time:
				if side, ok := amount(w); ok {
					out = append(out, movement{q, side, false, w})
					continue
				}
			}
		}
		from := 0
		if k > 0 {
			from = qs[k-1].End
		}
		i, _ = slices.BinarySearchFunc(words, q.Start, func(w word, b int) int { return w.start - b })
		for j := i - 1; j >= max(0, i-figureWords) && words[j].start >= from; j-- {
			if clauseBetween(text, words[j].end, words[j+1].start) {
				break
			}
			if p := slices.IndexFunc(polesAt(words, j), func(p pole) bool { return p.axis == change }); p >= 0 {
				out = append(out, movement{q, polesAt(words, j)[p].side, false, words[j]})
				break
			}
		}
	}
	return out
}

// amount returns the side of a word that says that a figure in front of it is more or less than something.
func amount(w word) (side int, ok bool) {
	for _, p := range polesOf(w) {
		if p.axis == change || p.axis == change+1 {
			return p.side, true
		}
	}
	return 0, false
}

// movedOtherwise returns the word that the sentence has for the direction of a figure, where the sources that have this figure
// give it the other direction.
func (s *statement) movedOtherwise(texts []*text) string {
	if s.compares() || comparesIn(s.words) || len(s.negations) > 0 {
		return ""
	}
	for _, m := range movements(s.text, s.words, s.quantities) {
		same, other, best := false, false, someOfIt
		raw := s.text[m.figure.Start:m.figure.End]
		for _, t := range texts {
			for _, p := range t.quantities {
				if agree(m.figure, p.Quantity, raw, p.raw) != met {
					continue
				}
				near, u := t.near(s, p.unit), t.units[p.unit]
				if near < best || u.to-u.from > maxPartWords {
					continue
				}
				if near > best { // it is said of what the sentence is about more than those before
					same, other, best = false, false, near
				}
				words := t.words[u.from:u.to]
				denied := len(negations(t.Text, words)) > 0
				for _, o := range movements(t.Text, words, t.inUnit(p.unit)) {
					if o.figure.Start == p.Start && o.when == m.when {
						same, other = same || denied || o.side == m.side, other || o.side != m.side
					}
				}
			}
		}
		if other && !same {
			return m.word.raw
		}
	}
	return ""
}

// fromTo returns what a text says that something changed from and to.
func fromTo(words []word, qs []quantity.Quantity) (from, to quantity.Quantity, ok bool) {
	for i, q := range qs {
		if q.Kind == quantity.Date || !source(wordBefore(words, q.Start)) {
			continue
		}
		for _, o := range qs[i+1:] {
			if o.Kind == q.Kind && o.Unit == q.Unit {
				before := wordBefore(words, o.Start)
				return q, o, target(before) && before != "nach" || before == "auf" // nach 11 Millionen: they were before
			}
		}
	}
	return from, to, false
}

// reversed returns the figures that the sentence has something change from and to, where a source has it change from the second
// to the first.
func (s *statement) reversed(texts []*text) string {
	from, to, ok := fromTo(s.words, s.quantities)
	if !ok {
		return ""
	}
	rawFrom, rawTo := s.text[from.Start:from.End], s.text[to.Start:to.End]
	straight, turned := false, false
	for _, t := range texts {
		for _, p := range t.quantities {
			if agree(from, p.Quantity, rawFrom, p.raw) != met && agree(to, p.Quantity, rawTo, p.raw) != met {
				continue
			}
			u := t.units[p.unit]
			a, b, ok := fromTo(t.words[u.from:u.to], t.inUnit(p.unit))
			if !ok {
				continue
			}
			raw := func(q quantity.Quantity) string { return t.Text[q.Start:q.End] }
			straight = straight || agree(from, a, rawFrom, raw(a)) >= rough && agree(to, b, rawTo, raw(b)) >= rough
			turned = turned || agree(from, b, rawFrom, raw(b)) == met && agree(to, a, rawTo, raw(a)) == met
		}
	}
	if turned && !straight {
		return s.text[from.Start:to.End]
	}
	return ""
}
