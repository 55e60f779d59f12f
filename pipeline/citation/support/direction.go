package support

import (
	"math"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// turned returns the word of the sentence whose opposite the sources have in its place; "" when there is none.
func (s *statement) turned(all []passage, best float64) string {
	mine := turns(s.text, s.words)
	if len(mine) == 0 && len(s.terms) == 0 {
		return ""
	}
	if best < sameMatter {
		return ""
	}
	figures, most := make([]int, len(all)), 0 // of the sentence, that stand in each passage
	for i, p := range all {
		figures[i] = s.figuresIn(p)
		most = max(most, figures[i])
	}
	flagged := map[int]int{}
	for _, m := range mine {
		if (m.word == "began" || m.word == "begins" || m.word == "started") && slices.ContainsFunc(mine, func(o turn) bool { return o.pole.axis == m.pole.axis && o.pole.side != m.pole.side }) {
			continue // it began here and ended there: which one the source tells cannot be said
		}
		same, other := 0.0, 0.0
		for i, p := range all {
			if figures[i] < most || p.own < sameMatter || p.share < nearlyBest*best {
				continue
			}
			for _, o := range turns(p.text, p.words) {
				if o.pole.axis != m.pole.axis {
					continue
				}
				if o.word == m.word && (o.beside == m.beside || s.atEnd(p, m.word)) {
					same = math.Inf(1) // the very words
					continue
				}
				n := together(m.near, o.near)
				if m.pole.axis == change {
					figure, both := s.sameFigure(m, p, o)
					if both && figure == 0 {
						continue // of other figures
					}
					n += figure
				}
				side := o.pole.side
				if s.crossed(m, p, o) || s.otherSide(m, p, o) {
					side = -side
				}
				if side == m.pole.side {
					same = max(same, n)
				} else {
					other = max(other, n)
				}
			}
		}
		if other > clearly*same && other > 0 {
			if s.bothSides(m, mine) {
				continue // men read 19 minutes and women 34: that is told by the figures
			}
			flagged[m.pole.axis]++
			// Who is for and who against, in one sentence: an exchange turns both.
			if flagged[m.pole.axis] > 1 || !slices.ContainsFunc(mine, func(o turn) bool { return o.pole.axis == m.pole.axis && o.pole.side != m.pole.side }) {
				return m.raw
			}
		}
	}
	return s.prefixed(all, best)
}

// bothSides reports a word of an axis of which the sentence has both sides, each with a figure of one kind.
func (s *statement) bothSides(m turn, all []turn) bool {
	if !parties[m.pole.axis] || !slices.ContainsFunc(all, func(o turn) bool { return o.pole.axis == m.pole.axis && o.pole.side != m.pole.side }) {
		return false
	}
	for i, a := range s.quantities {
		if a.Kind != quantity.Date && slices.ContainsFunc(s.quantities[i+1:], func(b quantity.Quantity) bool { return alikeKind(a, b) }) {
			return true
		}
	}
	return false
}

// figuresIn counts the quantities of the sentence that a passage has.
func (s *statement) figuresIn(p passage) int {
	n := 0
	there := p.source.inUnit(p.unit)
	for _, q := range s.quantities {
		if slices.ContainsFunc(there, func(o quantity.Quantity) bool {
			return agree(q, o, s.text[q.Start:q.End], p.text[o.Start:o.End]) >= rough
		}) {
			n++
		}
	}
	return n
}

// figureWords is how far a change and its figure may stand apart, and figureWeight what a figure tells that both have.
const (
	figureWords  = 5
	figureWeight = 2
)

// sameFigure weighs that a change stands before the same figure in the sentence and in a passage. both: it stands before
// a figure in both.
func (s *statement) sameFigure(m turn, p passage, o turn) (weight float64, both bool) {
	mine := behind(s.quantities, s.words, m.at)
	theirs := behind(p.source.inUnit(p.unit), p.words, o.at)
	for _, a := range mine {
		for _, b := range theirs {
			if a.Kind == quantity.Date || b.Kind == quantity.Date {
				continue
			}
			both = true
			if agree(a, b, s.text[a.Start:a.End], p.text[b.Start:b.End]) == met {
				return figureWeight, true
			}
		}
	}
	return 0, both
}

// behind returns the quantities shortly behind a word.
func behind(qs []quantity.Quantity, words []word, at int) []quantity.Quantity {
	var out []quantity.Quantity
	end := words[min(len(words)-1, at+figureWords)].end
	for _, q := range qs {
		if q.Start >= words[at].end && q.Start <= end && len(out) == 0 {
			out = append(out, q)
		}
	}
	return out
}

// clearly is by how much the opposite must stand closer to the same words than the word itself.
const clearly = 1.2

// together says how close two words of an axis stand to the same words.
func together(a, b map[string]int) float64 {
	sum := 0.0
	for term, d := range a {
		if e, ok := b[term]; ok {
			sum += 1 / float64(d*e)
		}
	}
	return sum
}

// prefixed returns a word of the sentence that the best passage has only with a prefix that denies it, or without.
func (s *statement) prefixed(all []passage, best float64) string {
	if len(s.negations) > 0 {
		return ""
	}
	own := map[string]bool{}
	for _, w := range s.words {
		own[w.low] = true
	}
	for _, p := range all {
		if p.share < sameMatter || p.share < best || len(negations(p.text, p.words)) > 0 {
			continue
		}
		has := map[string]bool{}
		for _, w := range p.words {
			has[w.low] = true
		}
		for _, w := range s.words {
			if has[w.low] || len(w.low) < 5 || w.number() {
				continue
			}
			for _, swap := range [2][2]string{{"over", "under"}, {"under", "over"}} {
				if rest, ok := strings.CutPrefix(w.low, swap[0]); ok && len(rest) >= 5 && has[swap[1]+rest] && !own[swap[1]+rest] {
					return w.raw
				}
			}
			for _, prefix := range []string{"un", "in", "im", "ir", "non", "dis", "a"} {
				if has[prefix+w.low] && !own[prefix+w.low] && prefix != "a" {
					return w.raw
				}
				if rest, ok := strings.CutPrefix(w.low, prefix); ok && len(rest) >= 5 && has[rest] && !own[rest] {
					return w.raw
				}
			}
		}
	}
	return ""
}

// atEnd reports a superlative that stands closer to a name of the sentence, in a passage that tells of both ends of a range, than its
// opposite does.
func (s *statement) atEnd(p passage, end string) bool {
	if !superlative[end] {
		return false
	}
	for _, n := range s.names {
		low := s.words[n.words[len(n.words)-1]].low
		at := slices.IndexFunc(p.words, func(w word) bool { return w.low == low })
		mine, other := len(p.words), len(p.words)
		for i, w := range p.words {
			switch distance := max(i-at, at-i); {
			case at < 0:
			case w.low == end:
				mine = min(mine, distance)
			case superlative[w.low] && opposites[end][w.low]:
				other = min(other, distance)
			}
		}
		if mine < other && other < len(p.words) {
			return true
		}
	}
	return false
}

// superlative words stand beside their opposites where the ends of a range are told: most in Oststadt, least in Helm.
var superlative = set(`most least highest lowest largest smallest fewest longest shortest oldest newest youngest fastest slowest best worst
	höchste niedrigste größte kleinste längste kürzeste älteste jüngste meisten wenigsten`)
