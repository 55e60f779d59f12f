package support

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// finding is what became of one quantity of a sentence.
type finding struct {
	how    agreement
	text   *text
	unit   int // where it stands; -1: in what is known about the source
	reason Reason
	doubt  bool // it may be said of something else
}

// find looks for a quantity of the sentence in all sources, where it best fits what is said around it.
func (s *statement) find(q quantity.Quantity, texts []*text) finding {
	raw := s.text[q.Start:q.End]
	best, share := finding{}, -1.0
	around, anchors := s.clause(q), s.around(q)
	noun, sums := "", s.sums()
	if q.Kind == quantity.Number && s.language != "de" { // where what has a small letter is no noun
		noun = smallNoun(s.words, q.End)
	}
	if s.brokenShare(q, texts) {
		return finding{reason: ReasonSubject}
	}
	ofShare := q.Kind == quantity.Number && shareOf(s.words, wholeBehind(s.words, q.Start)) // a third of the 2,150
	astray := apart                                                                         // how well a value agrees that is said of something else
	for _, t := range texts {
		found := t.agreeing(s, q, raw)
		var rivals []rivalPlace
		var count map[int]int
		if len(found) > 0 {
			rivals, count = t.rivalPlaces(s, q, around)
		}
		for _, f := range found {
			p, how, unsure := f.placed, f.how, false
			if !bare(q) && bare(p.Quantity) && q.Kind != quantity.Date && s.countsOther(t, p) {
				continue // 2.7 billion kroner for 2.7 billion dollars
			}
			if t.countsOtherThings(s, noun, q, p) || t.wholeForPart(s, q, p) || t.ofThem(s, p) || t.restInstead(s, p) || t.ofAnotherHead(s, q, p) {
				astray = max(astray, how)
				continue
			}
			if how == rough && q.Bound != p.Bound && t.limits(q.Bound, p.unit) {
				how = met
			}
			if how == otherWay && t.near(s, p.unit) < someOfIt {
				continue // under five, for five times
			}
			if how == rough && s.per && strings.HasPrefix(p.Unit, q.Unit+"/") {
				how = met // "each year 22 m"
			}
			_, inTable := t.cells[p.Start]
			if !t.basis(p) && !s.sameShare(q, t, p) && !ofShare && (t.misplaced(s, q, p, anchors) || !inTable && (t.saidOfAnother(s, q, p, around) || !sums && saidElsewhere(p, rivals, max(count[p.unit], t.together(around, p.unit))) || t.ofAnotherTime(s, q, p) || t.ofAnotherDate(s, q, p) || t.ofAnotherName(s, q, p))) {
				if how != met || q.Kind == quantity.Date || math.Abs(q.Low-p.Low) <= 1e-9*math.Abs(q.Low) || q.Low != q.High || written(raw) == written(p.raw) { // what is only near it may be another value
					astray = max(astray, how)
				}
				continue
			}
			if how == met && (!inTable || q.Kind == quantity.Date) && q.Kind != quantity.Label {
				if doubt, certain := t.doubtful(s, q, p, around, rivals, count[p.unit]); certain && !sums {
					astray = max(astray, how)
					continue
				} else if doubt || t.likelier(s, q, p, rivals) || t.measuredElsewhere(s, q, p) {
					how, unsure = rough, true
				}
			}
			n := t.near(s, p.unit)
			if how > best.how || how == best.how && n > share {
				best, share = finding{how: how, text: t, unit: p.unit, doubt: unsure}, n
			}
		}
		for _, about := range t.aboutFound {
			if how := agree(q, about, raw, t.About[about.Start:about.End]); how > best.how {
				best = finding{how: how, text: t, unit: -1}
			}
		}
	}
	switch {
	case best.how == otherWay:
		best.reason = ReasonDirection
	case best.doubt:
		best.reason = ReasonSubject
	case best.how == rough:
		best.reason = ReasonRounding
	case best.how == apart && astray == met:
		best.reason = ReasonSubject
	case best.how == apart && astray != apart:
		best.reason = s.whyMissing(q, raw, texts)
	case best.how == apart && s.standsThere(raw, texts):
		best.how = met
	case best.how == apart && s.standsApart(q, texts):
		best.how = met
	case best.how == apart:
		best.reason = s.whyMissing(q, raw, texts)
	}
	if best.how == met && best.text != nil && best.unit >= 0 && share < nowhereNear && s.weight >= 2 {
		best.how, best.reason = rough, ReasonSubject
	}
	return best
}

// agreed is a value of a source that agrees with one of the sentence.
type agreed struct {
	placed
	how  agreement
	near float64
}

// agreeing returns the values of a source that agree with one of the sentence, in their order; of many those that have most of
// the sentence's words near them.
func (t *text) agreeing(s *statement, q quantity.Quantity, raw string) []agreed {
	var out []agreed
	for _, p := range t.quantities {
		if how := agree(q, p.Quantity, raw, p.raw); how != apart {
			out = append(out, agreed{placed: p, how: how})
		}
	}
	if len(out) > maxPlaces {
		for i := range out {
			out[i].near = t.near(s, out[i].unit)
		}
		slices.SortStableFunc(out, func(a, b agreed) int { return cmp.Compare(b.near, a.near) })
		out = out[:maxPlaces]
	}
	return out
}

// nowhereNear is the share of a sentence's words below which a number stands among other things.
const nowhereNear = 0.12

// near returns how much of the sentence stands in the three units around one; of a table, from its head down.
func (t *text) near(s *statement, u int) float64 {
	from := u - 1
	for from >= 0 && u-from < 60 && strings.HasPrefix(t.Text[t.units[from].start:], "|") {
		from--
	}
	covered := map[int]bool{}
	for i, term := range s.terms {
		p := t.postings[term.text]
		at, _ := slices.BinarySearch(p, from)
		if at < len(p) && p[at] <= u+1 {
			covered[i] = true
		}
	}
	return s.share(covered, t)
}
