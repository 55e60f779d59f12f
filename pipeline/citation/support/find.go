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
	astray := apart // how well a value agrees that is said of something else
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
			if t.countsOtherThings(s, noun, q, p) || t.wholeForPart(s, q, p) || t.ofThem(s, p) || t.ofAnotherHead(s, q, p) {
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
			if !t.basis(p) && !s.sameShare(q, t, p) && !(q.Kind == quantity.Number && shareOf(s.words, wholeBehind(s.words, q.Start))) && (t.misplaced(s, q, p, anchors) || !inTable && (t.saidOfAnother(s, q, p, around) || !sums && saidElsewhere(p, rivals, max(count[p.unit], t.together(around, p.unit))) || t.ofAnotherTime(s, q, p) || t.ofAnotherDate(s, q, p) || t.ofAnotherName(s, q, p))) {
				astray = max(astray, how)
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

// generic words are counted in place of others: people for workers.
var generic = set(`time peopl person men man women woman other more less member victim thing case item unit`)

// countsOtherThings reports a number of something else: 12 of Ganymede are no 12 instruments, where the source counts ten
// instruments; 65 basis points are no branches.
func (t *text) countsOtherThings(s *statement, noun string, q quantity.Quantity, p placed) bool {
	if noun == "" || generic[noun] || p.Kind == quantity.Date {
		return false
	}
	if _, there := slices.BinarySearch(t.postings[noun], p.unit); there {
		own := nounBehind(t.words, p.End)
		return own != "" && own != noun && !generic[own] && p.Kind == quantity.Number && slices.ContainsFunc(t.inUnit(p.unit), func(o quantity.Quantity) bool {
			return o.Kind == quantity.Number && o.Low != p.Low && nounBehind(t.words, o.End) == noun
		})
	}
	if c, ok := t.cells[p.Start]; ok && (c.head[noun] || hanOnly(noun) || len(shared(c.label, s.anchors)) > 0) {
		return false
	}
	if own := nounBehind(t.words, p.End); bare(p.Quantity) && (generic[own] || own == "" && p.unit > 0 && t.inPosting(noun, p.unit-1)) {
		return false // five stations were planned; two will do
	}
	return !bare(p.Quantity) || slices.ContainsFunc(t.counts[noun], func(v float64) bool { return v != q.Low })
}

var (
	limitsMost  = set(`limit limits limited maximum max most cap capped allows allowed up capacity ceiling until within höchstens maximal begrenzt`)
	limitsLeast = set(`minimum min least requires required need needs newer floor mindestens`)
)

// limits reports a unit that says in another word that its number is a limit: limits a frame to 16 KB.
func (t *text) limits(b quantity.Bound, u int) bool {
	list := limitsMost
	if b == quantity.AtLeast {
		list = limitsLeast
	}
	for _, w := range t.words[t.units[u].from:t.units[u].to] {
		if list[w.low] && b != quantity.Exact && b != quantity.About {
			return true
		}
	}
	return false
}

// countsOther reports that a word follows a bare number at once which the sentence does not have: its unit.
func (s *statement) countsOther(t *text, p placed) bool {
	i, _ := slices.BinarySearchFunc(t.words, p.End, func(w word, b int) int { return w.start - b })
	if i >= len(t.words) || t.words[i].start-p.End > 1 || t.Text[p.End:t.words[i].start] == "\n" || t.words[i].term() == "" || t.words[i].number() {
		return false
	}
	for _, w := range s.words {
		if w.term() == t.words[i].term() {
			return false
		}
	}
	return true
}

// ofAnotherTime reports a value that the source sentence gives for another date: of $145 in 2021 and $97 in 2024, the
// second is not that of 2021. It is told only where values and dates take turns.
func (t *text) ofAnotherTime(s *statement, q quantity.Quantity, p placed) bool {
	if q.Kind == quantity.Date || p.Kind == quantity.Date {
		return false
	}
	var when *quantity.Quantity // that the sentence gives for the value
	for i := range s.quantities {
		d := &s.quantities[i]
		if d.Kind == quantity.Date && (d.Start >= q.End && d.Start-q.End < 30 || q.Start >= d.End && q.Start-d.End < 30) {
			if when != nil {
				return false // which one cannot be told
			}
			when = d
		}
	}
	if when == nil || !when.To.Zero() {
		return false
	}
	u := t.units[p.unit]
	var row []placed
	at, _ := slices.BinarySearchFunc(t.quantities, u.start, func(p placed, b int) int { return p.Start - b })
	for ; at < len(t.quantities) && t.quantities[at].Start < u.end && len(row) < 40; at++ {
		if o := t.quantities[at]; o.Kind == quantity.Date || o.Kind == p.Kind && o.Unit == p.Unit {
			row = append(row, o)
		}
	}
	if len(row) < 4 || len(row)%2 != 0 {
		return false
	}
	for i := range row[1:] {
		if (row[i].Kind == quantity.Date) == (row[i+1].Kind == quantity.Date) {
			return false
		}
	}
	for i, o := range row {
		if o.Start == p.Start {
			date := row[i^1] // its neighbour in the pair
			return agreeDates(*when, date.Quantity) == apart
		}
	}
	return false
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

// standsThere reports that a quantity stands in a source exactly as in the sentence, whatever it is read as, and is no part
// of another one: 25 minutes of 1 hour and 25 minutes.
func (s *statement) standsThere(raw string, texts []*text) bool {
	needle := strings.TrimSpace(foldText(raw).text)
	for _, t := range texts {
		at := t.folded.find(needle, 0)
		if at < 0 {
			continue
		}
		start, end := t.folded.original(at, at+len(needle), len(t.Text))
		if !slices.ContainsFunc(t.quantities, func(p placed) bool { return p.Start < start && p.End >= end }) {
			return true
		}
	}
	return false
}

// standsApart reports a date whose year and month, or a range whose ends, stand in one place but apart.
func (s *statement) standsApart(q quantity.Quantity, texts []*text) bool {
	var parts []quantity.Quantity
	switch {
	case q.Kind == quantity.Date && q.To.Zero() && q.When.Year > 0 && (q.When.Month > 0 || q.When.Quarter > 0):
		year, rest := q, q
		year.When, rest.When.Year = quantity.When{Year: q.When.Year}, 0
		parts = []quantity.Quantity{year, rest}
	case q.Kind == quantity.Date && !q.To.Zero():
		from, to := q, q
		from.To, to.When, to.To = quantity.When{}, q.To, quantity.When{}
		parts = []quantity.Quantity{from, to}
	case q.Low != q.High:
		from, to := q, q
		from.High, to.Low = q.Low, q.High
		parts = []quantity.Quantity{from, to}
	default:
		return false
	}
	for _, t := range texts {
		if q.Kind == quantity.Date && q.To.Zero() && t.sameMonth(q) {
			continue
		}
		var places [2][]int
		for i, part := range parts {
			for _, p := range t.quantities {
				how := agree(part, p.Quantity, "", "")
				if part.Kind == quantity.Date && part.When.Year == 0 && p.When.Year != 0 {
					continue // of another year
				}
				if how == met {
					places[i] = append(places[i], p.unit)
				}
			}
		}
		for _, a := range places[0] {
			for _, b := range places[1] {
				if a-b <= 2 && b-a <= 2 {
					return true
				}
			}
		}
	}
	return false
}

// sameMonth reports that a source has the same month, or day, of another year: there a year that stands apart is none of it.
func (t *text) sameMonth(q quantity.Quantity) bool {
	return slices.ContainsFunc(t.quantities, func(p placed) bool {
		return p.Kind == quantity.Date && p.When.Year > 0 && p.When.Year != q.When.Year && p.When.Month == q.When.Month && p.When.Day == q.When.Day && p.When.Quarter == q.When.Quarter
	})
}

// whyMissing tells a number that is not there from one that is there with another unit or power of ten.
func (s *statement) whyMissing(q quantity.Quantity, raw string, texts []*text) Reason {
	if q.Kind == quantity.Date {
		return ReasonDate
	}
	reason, digits := ReasonNumber, figures(raw)
	for _, t := range texts {
		for _, p := range t.quantities {
			if digits == "" || figures(p.raw) != digits || p.Kind == quantity.Date {
				continue
			}
			if magnitudeOf(p.raw) != magnitudeOf(raw) {
				reason = ReasonMagnitude
			} else if reason == ReasonNumber {
				reason = ReasonUnit
			}
		}
	}
	return reason
}

// counted are what a sentence counts by itself: how many reasons it lists is no fact of a source.
var counted = set(`reason way approach type factor source studi claim step option point aspect section find categori kind compon question
	paper report articl document argument group main key major method theme area issu differ condit element thing case exampl passag statement side respect`)

// counts reports a small number that counts what the sentence itself enumerates: three reasons, both sides.
func (s *statement) counts(q quantity.Quantity, st map[string]bool) bool {
	if q.Kind != quantity.Number || q.Low != q.High || q.Low > 12 || q.Low != math.Trunc(q.Low) {
		return false
	}
	n := 0
	for _, w := range s.words {
		if w.start < q.End {
			continue
		}
		if n++; n > 3 {
			break
		}
		if st[w.term()] {
			return true
		}
		if len(w.terms) == 0 {
			break
		}
	}
	return false
}

// countsUnsaid reports a small number of things that no source calls so: the three countries, which it names one by one.
func (s *statement) countsUnsaid(q quantity.Quantity, texts []*text) bool {
	noun := smallNoun(s.words, q.End)
	return q.Kind == quantity.Number && q.Low == q.High && q.Low <= 12 && q.Low == math.Trunc(q.Low) && noun != "" &&
		!slices.ContainsFunc(texts, func(t *text) bool { return t.has[noun] || t.aboutTerms[noun] })
}
