package support

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/quantity"
)

// agreement says how well a quantity of a source bears out one of a sentence.
type agreement int

const (
	apart    agreement = iota
	otherWay           // the same value with the opposite bound: more for less than
	rough              // the value is there, but rounded or bounded in another way
	met
)

// agree compares a quantity of a sentence with one of a source.
func agree(q, s quantity.Quantity, rawQ, rawS string) agreement {
	if q.Kind == quantity.Date || s.Kind == quantity.Date {
		return agreeDates(q, s)
	}
	if q.Kind == quantity.Ordinal || q.Kind == quantity.Label || s.Kind == quantity.Ordinal || s.Kind == quantity.Label {
		if written(rawQ) == written(rawS) && bare(q) && bare(s) {
			return met
		}
		return apart
	}
	if q.Kind != s.Kind || q.Unit != s.Unit {
		// A unit may be left out, or stand in the head of a table.
		if q.Unit+"/" == s.Unit[:min(len(s.Unit), len(q.Unit)+1)] && q.Kind == s.Kind && written(rawQ) == written(rawS) && magnitudeOf(rawQ) == magnitudeOf(rawS) {
			return rough // "22 m" for 22 m per year
		}
		if s.Unit+"/" == q.Unit[:min(len(q.Unit), len(s.Unit)+1)] && q.Kind == s.Kind && written(rawQ) == written(rawS) && magnitudeOf(rawQ) == magnitudeOf(rawS) {
			return rough
		}
		if bare(s) && s.Kind == quantity.Number && !bare(q) && q.Bound != quantity.Exact && q.Low == q.High && s.Low == s.High && magnitudeOf(rawQ) == "" { // under 50 seconds: 49.44
			n := q
			n.Kind, n.Unit, n.Low, n.Round = quantity.Number, "", writtenValue(rawQ), 0.5
			n.High = n.Low
			if n.Low > 0 && math.Trunc(s.Low) != s.Low && agreeBounds(n, s, closeness(n, s)) == met {
				return rough
			}
		}
		if bare(q) != bare(s) && written(rawQ) == written(rawS) && magnitudeOf(rawQ) == magnitudeOf(rawS) {
			if bare(q) {
				return met
			}
			return rough
		}
		return apart
	}
	if q.Low != q.High || s.Low != s.High {
		return agreeRanges(q, s)
	}
	return agreeBounds(q, s, closeness(q, s))
}

func bare(q quantity.Quantity) bool {
	return q.Kind == quantity.Number || q.Kind == quantity.Label || q.Kind == quantity.Ordinal
}

// How far a rounded number may be from what it stands for, as a share of it: a third figure goes unnoticed; a second one
// is usual; more needs a word such as "about".
const (
	thirdFigure  = 0.005
	secondFigure = 0.025
	marked       = 0.1
)

func closeness(q, s quantity.Quantity) agreement {
	difference := math.Abs(q.Low - s.Low)
	size := max(math.Abs(q.Low), math.Abs(s.Low))
	if difference <= 1e-9*size {
		return met
	}
	if q.Bound == quantity.About && difference <= secondFigure*size {
		return met
	}
	if s.Round > q.Round*1.0001 && difference > thirdFigure*size { // more exact than the source
		if s.Bound == quantity.About && difference <= s.Round {
			return rough
		}
		return apart
	}
	rounded := difference <= q.Round*(1+1e-9)
	switch {
	case rounded && difference <= secondFigure*size:
		return met
	case q.Bound == quantity.About && difference <= marked*size, s.Bound == quantity.About && rounded && difference <= marked*size:
		return met
	case rounded && difference <= marked*size:
		return rough
	}
	return apart
}

// agreeBounds takes into account what both say of the value: more than, at most, about.
func agreeBounds(q, s quantity.Quantity, close agreement) agreement {
	opposite := q.Bound == quantity.AtLeast && s.Bound == quantity.AtMost || q.Bound == quantity.AtMost && s.Bound == quantity.AtLeast
	switch {
	case close != apart && opposite:
		return otherWay
	case close != apart && (q.Bound == s.Bound || q.Bound == quantity.About || s.Bound == quantity.About):
		return close
	case q.Bound == quantity.AtLeast && s.Bound != quantity.AtMost && s.Bound != quantity.AtLeast:
		if s.Low > q.Low && s.Low <= 1.25*q.Low {
			return met
		}
	case q.Bound == quantity.AtMost && s.Bound != quantity.AtLeast && s.Bound != quantity.AtMost:
		if s.Low < q.Low && s.Low >= 0.75*q.Low {
			return met
		}
	}
	if close != apart {
		return rough
	}
	return apart
}

func agreeRanges(q, s quantity.Quantity) agreement {
	room := max(q.Round, s.Round) * (1 + 1e-9)
	ends := math.Abs(q.Low-s.Low) <= room && math.Abs(q.High-s.High) <= room
	switch {
	case ends:
		return met
	case q.Low == q.High && (math.Abs(q.Low-s.Low) <= room/2 || math.Abs(q.Low-s.High) <= room/2):
		return met // one end, as in "up to 12"
	case q.Low >= s.Low-room && q.High <= s.High+room, s.Low >= q.Low-room && s.High <= q.High+room:
		return rough
	}
	return apart
}

func agreeDates(q, s quantity.Quantity) agreement {
	if q.Kind != s.Kind { // what is a year for one is a bare number for the other
		date, other := q, s
		if s.Kind == quantity.Date {
			date, other = s, q
		}
		if other.Kind == quantity.Number && other.Low == other.High && other.Low == float64(date.When.Year) && date.To.Zero() {
			return met
		}
		return apart
	}
	switch {
	case q.To.Zero() && s.To.Zero():
		if q.When.Covers(s.When) {
			return met
		}
	case !q.To.Zero() && !s.To.Zero():
		if q.When.Covers(s.When) && q.To.Covers(s.To) {
			return met
		}
	case q.To.Zero(): // one end of a span
		if q.When.Covers(s.When) || q.When.Covers(s.To) {
			return met
		}
		if q.When.Year >= s.When.Year && q.When.Year <= s.To.Year && s.When.Year > 0 && q.When.Year > 0 {
			return rough
		}
	}
	return apart
}

// figures returns the digits of a quantity as it is written, without separators and trailing decimal zeros.
func figures(raw string) string {
	var b strings.Builder
	for _, r := range raw {
		if r >= '0' && r <= '9' || r == '.' && b.Len() > 0 {
			b.WriteRune(r)
		} else if b.Len() > 0 && r != ',' && r != ' ' && r != '\'' && r != '\u00a0' && r != '\u202f' {
			break
		}
	}
	text := strings.TrimRight(b.String(), ".")
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// written returns the number of a quantity as it is written, without its unit; of number words, in figures.
func written(raw string) string {
	if f := figures(raw); f != "" {
		return f
	}
	for length := range 3 { // twenty-five years: the longest number that its first words make
		words := strings.Fields(raw)
		if n := 3 - length; n <= len(words) {
			first := strings.Join(words[:n], " ")
			if found := quantity.Parse(first); len(found) == 1 && found[0].Kind == quantity.Number && found[0].End == len(first) {
				return strconv.FormatFloat(found[0].Low, 'f', -1, 64)
			}
		}
	}
	return strings.ToLower(raw)
}

// magnitudeOf returns the word for a power of ten in a quantity, in one spelling.
func magnitudeOf(raw string) string {
	raw = strings.ToLower(raw)
	for _, m := range []struct{ name, words string }{
		{"trillion", "trillion tn 兆"}, {"billion", "billion bn milliarde mrd"}, {"million", "million mio mn mln"}, {"thousand", "thousand tausend tsd"}, {"亿", "亿 億"}, {"万", "万 萬"},
	} {
		for word := range strings.FieldsSeq(m.words) {
			if strings.Contains(raw, word) {
				return m.name
			}
		}
	}
	return ""
}

// finding is what became of one quantity of a sentence.
type finding struct {
	how    agreement
	text   *text
	unit   int // where it stands; -1: in what is known about the source
	reason Reason
}

// find looks for a quantity of the sentence in all sources, where it best fits what is said around it.
func (s *statement) find(q quantity.Quantity, texts []*text) finding {
	raw := s.text[q.Start:q.End]
	best, share := finding{}, -1.0
	around, anchors := s.clause(q), s.around(q)
	noun, sums := "", s.sums()
	if q.Kind == quantity.Number {
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
			p, how := f.placed, f.how
			if !bare(q) && bare(p.Quantity) && q.Kind != quantity.Date && s.countsOther(t, p) {
				continue // 2.7 billion kroner for 2.7 billion dollars
			}
			if t.countsOtherThings(noun, q, p) {
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
			if !t.basis(p) && !s.sameShare(q, t, p) && (t.misplaced(s, q, p, anchors) || !inTable && (t.saidOfAnother(s, q, p, around) || !sums && saidElsewhere(p, rivals, count[p.unit]) || t.ofAnotherTime(s, q, p) || t.ofAnotherDate(s, q, p) || t.ofAnotherName(s, q, p))) {
				astray = max(astray, how)
				continue
			}
			if how == met && (!inTable || q.Kind == quantity.Date) && q.Kind != quantity.Label {
				if doubt, certain := t.doubtful(s, q, p, around, rivals, count[p.unit]); certain && !sums {
					astray = max(astray, how)
					continue
				} else if doubt {
					how = rough
				}
			}
			n := t.near(s, p.unit)
			if how > best.how || how == best.how && n > share {
				best, share = finding{how: how, text: t, unit: p.unit}, n
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
	case best.how == rough:
		best.reason = ReasonRounding
	case best.how == apart && astray == met:
		best.reason = ReasonSubject
	case best.how == apart && astray != apart:
		best.reason = s.whyMissing(q, raw, texts)
	case best.how == apart && s.standsThere(raw, texts):
		best.how = met
	case best.how == apart && s.parted(q, texts):
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
func (t *text) countsOtherThings(noun string, q quantity.Quantity, p placed) bool {
	if noun == "" || generic[noun] || p.Kind == quantity.Date {
		return false
	}
	if _, there := slices.BinarySearch(t.postings[noun], p.unit); there {
		own := nounBehind(t.words, p.End)
		return own != "" && own != noun && !generic[own] && p.Kind == quantity.Number && slices.ContainsFunc(t.inUnit(p.unit), func(o quantity.Quantity) bool {
			return o.Kind == quantity.Number && o.Low != p.Low && nounBehind(t.words, o.End) == noun
		})
	}
	if c, ok := t.cells[p.Start]; ok && c.head[noun] {
		return false
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
	if i >= len(t.words) || t.words[i].start-p.End > 1 || t.words[i].term() == "" || t.words[i].number() {
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

// standsThere reports that a quantity stands in a source exactly as in the sentence, whatever it is read as.
func (s *statement) standsThere(raw string, texts []*text) bool {
	needle := strings.TrimSpace(foldText(raw).text)
	for _, t := range texts {
		if t.folded.find(needle, 0) >= 0 {
			return true
		}
	}
	return false
}

// parted reports a date whose year and month, or a range whose ends, stand in one place but apart.
func (s *statement) parted(q quantity.Quantity, texts []*text) bool {
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

// clause returns the content words of the part of the sentence around a quantity, up to commas, "and", "while".
func (s *statement) clause(q quantity.Quantity) map[string]bool {
	found := clauseTerms(s.text, s.words, q.Start, 0, len(s.text))
	for _, w := range s.words {
		if w.start >= q.Start && w.end <= q.End {
			delete(found, w.term())
		}
	}
	return found
}

var clauseWords = set(`and but while whereas although though which who whose und aber während obwohl`)

// clauseTerms returns the content words around byte at within text[from:to], up to the next ends of the clause.
func clauseTerms(s string, words []word, at, from, to int) map[string]bool {
	start, end := from, to
	for i := at - 1; i > from; i-- {
		if clauseMark(s, i) {
			start = i + 1
			break
		}
	}
	for i := at; i < to; i++ {
		if clauseMark(s, i) {
			end = i
			break
		}
	}
	lo, _ := slices.BinarySearchFunc(words, start, func(w word, p int) int { return w.start - p })
	hi, _ := slices.BinarySearchFunc(words, end, func(w word, p int) int { return w.start - p })
	found := map[string]bool{}
	for _, w := range words[lo:hi] {
		if clauseWords[w.low] {
			if w.start < at {
				found = map[string]bool{}
				continue
			}
			break
		}
		if len(w.terms) > 0 && !w.number() {
			found[w.term()] = true
		}
	}
	return found
}

// clauseMark reports punctuation that ends a clause: not the comma of 1,000.
func clauseMark(s string, i int) bool {
	switch s[i] {
	case ',', ';', ':', '(', ')', '|':
		return i+1 >= len(s) || s[i+1] < '0' || s[i+1] > '9'
	}
	return false
}

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
	for _, other := range t.rivals(s, q, p.unit, p) {
		their := clauseTerms(t.Text, words, other.Start, u.start, u.end)
		theirs := shared(around, their)
		if len(theirs) <= len(own) || 10*len(theirs) < 6*len(around) || !covers(theirs, own) {
			continue
		}
		if also, has := s.says(other); has { // both values: they are exchanged only if that one fits here better
			if other := s.clause(also); len(shared(other, clause)) <= len(shared(other, their)) {
				continue
			}
		}
		return true
	}
	return false
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
