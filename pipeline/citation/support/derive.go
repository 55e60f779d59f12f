package support

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/quantity"
)

// deriving are words that announce a computed value.
var deriving = set(`total together combined sum sums add adds all both altogether difference gap increase increased rise rose risen growth grew grown gain decrease decreased decline declined fall fell fallen
	drop dropped reduction reduced cut lowered raised times double doubled twice half halved triple tripled quadrupled ratio average mean share percent points fewer more less other others each
	remaining remain remained rest missing lacking short without excluding including net overall per higher lower faster slower longer shorter lighter heavier larger smaller bigger older younger cheaper dearer
	every yearly annual annually pro jährlich earlier later behind ahead majority aged age old when amounts
	insgesamt zusammen summe differenz mehr weniger um teurer billiger höher niedriger übrigen übrige anteil fehlen fehlt ohne jede jeder je
	manque différence ensemble total`)

var derivingWide = []string{"倍", "多", "少", "共", "合计", "相差", "平均", "占", "提高", "增加", "减少", "下降"}

// Bounds of what is computed: how many of the passages with most of the sentence's words, and how many of their values.
const (
	derivePlaces = 12
	deriveValues = 48
)

// derived reports that a quantity can be computed from two or more that stand where the sentence's words do. A value that
// no word announces must be exact and have three figures, or be what remains of a number: 21 of the 62. Figures that the
// sources have in another order are a slip, and not computed.
func (s *statement) derived(q quantity.Quantity, texts []*text, ws []window) bool {
	if q.Kind == quantity.Date || q.Low != q.High || q.Low <= 0 {
		return false
	}
	raw := s.text[q.Start:q.End]
	announced := s.announces(q)
	exact := len(strings.Trim(strings.ReplaceAll(figures(raw), ".", ""), "0")) >= 3
	for _, t := range texts {
		if t.slipped(q, raw) {
			return false
		}
	}
	if !exact && !s.sums() && s.takesPlace(q, texts) {
		return false
	}
	far := leading(ws).share < someOfIt // said in words of its own: any sentence of the sources may be meant
	d := derivation{q: q, announced: announced, exact: exact, written: writtenValue(raw)}
	for _, t := range texts {
		groups := append(s.operands(t, ws), t.bases()...)
		if far && q.Kind == quantity.Number && t.differs(q) {
			return true
		}
		for _, values := range groups {
			if d.within(values) {
				return true
			}
		}
		var all []placed
		for _, values := range groups {
			all = append(all, values...)
		}
		if d.across(all[:min(len(all), deriveValues)]) || q.Kind != quantity.Number && d.across(t.few(q)) {
			return true
		}
		if q.Unit == "s" && d.ofClocks(t.times()) || t.others(q) || q.Unit == "s" && t.nth(raw) {
			return true
		}
		if q.Unit == "month" && len(groups) > 0 || q.Kind == quantity.Number && announced {
			for _, a := range all[:min(len(all), deriveValues/3)] { // an age, a span of years that began elsewhere
				for _, b := range t.dates() {
					if a.Kind == quantity.Date && a.When.Year > 0 && d.span(a.Quantity, b.Quantity) {
						return true
					}
				}
			}
		}
	}
	return false
}

// summing words leave no doubt that a value is computed.
var summing = set(`add adds sum together combined total altogether both sum difference remaining remain without excluding including net fewer more less outside missing insgesamt zusammen`)

func (s *statement) sums() bool {
	return slices.ContainsFunc(s.words, func(w word) bool { return summing[w.low] })
}

// takesPlace reports that a source sentence says the same of another value, behind the same word: closed two of its five
// plants, where the sentence has three.
func (s *statement) takesPlace(q quantity.Quantity, texts []*text) bool {
	before := wordBefore(s.words, q.Start)
	if before == "" || before == "or" || before == "and" {
		return false
	}
	for _, t := range texts {
		for i, values := range s.operands(t, nil) {
			if i > 2 {
				break
			}
			u := values[0].unit
			covered := map[int]bool{}
			for i, term := range s.terms {
				if _, there := slices.BinarySearch(t.postings[term.text], u); there {
					covered[i] = true
				}
			}
			if s.share(covered, t) < 0.9 {
				continue
			}
			rivals := map[float64]bool{}
			for _, p := range values {
				if alikeKind(p.Quantity, q) && wordBefore(t.words, p.Start) == before && agree(q, p.Quantity, s.text[q.Start:q.End], p.raw) == apart {
					rivals[p.Low] = true
				}
			}
			if len(rivals) == 1 {
				return true
			}
		}
	}
	return false
}

func wordBefore(words []word, at int) string {
	i, _ := slices.BinarySearchFunc(words, at, func(w word, b int) int { return w.start - b })
	if i == 0 {
		return ""
	}
	return words[i-1].low
}

// announces reports that the sentence has a word for a computed value, or that the value is one of several: 21 of the 62.
func (s *statement) announces(q quantity.Quantity) bool {
	if s.sums() {
		return true
	}
	for _, w := range s.words {
		if deriving[w.low] && (w.start >= q.End || w.end <= q.Start) {
			return true
		}
	}
	for _, w := range derivingWide {
		if strings.Contains(s.text, w) {
			return true
		}
	}
	if before := wordBefore(s.words, q.Start); before == "by" || q.Kind == quantity.Percent && figures(s.text[q.Start:q.End]) == "" {
		return true
	}
	if q.Kind != quantity.Number {
		return false
	}
	rest := strings.TrimLeft(s.text[q.End:], " ")
	return strings.HasPrefix(rest, "of ") || strings.HasPrefix(rest, "der ") || strings.HasPrefix(rest, "des ")
}

// complement reports what remains of a number that the sentence names too: 45 of the 48, where three of 48 did.
func (s *statement) complement(q quantity.Quantity, texts []*text) bool {
	if q.Kind != quantity.Number || len(negations(s.text, s.words)) == 0 && s.takesPlace(q, texts) {
		return false
	}
	for _, whole := range s.quantities {
		if whole.Start <= q.End || whole.Start-q.End > 12 || whole.Kind != quantity.Number && whole.Kind != quantity.Measure {
			continue
		}
		if words := strings.Fields(s.text[q.End:whole.Start]); len(words) == 0 || words[0] != "of" && words[0] != "der" && words[0] != "von" {
			continue
		}
		rest := writtenValue(s.text[whole.Start:whole.End]) - q.Low
		for _, t := range texts {
			for _, p := range t.quantities {
				if rest > 0 && written(p.raw) == strconv.FormatFloat(rest, 'f', -1, 64) && t.unitHas(p.unit, s.text[whole.Start:whole.End]) {
					return true
				}
			}
		}
	}
	return false
}

// unitHas reports that a quantity with this number stands in a unit.
func (t *text) unitHas(unit int, raw string) bool {
	for _, q := range t.inUnit(unit) {
		if written(t.Text[q.Start:q.End]) == written(raw) {
			return true
		}
	}
	return false
}

// slipped reports that a source has the figures of a value in another order.
func (t *text) slipped(q quantity.Quantity, raw string) bool {
	digits := []byte(strings.ReplaceAll(figures(raw), ".", ""))
	if len(digits) < 2 || len(digits) < 3 && q.Kind == quantity.Number {
		return false
	}
	slices.Sort(digits)
	for _, p := range t.quantities {
		if p.Kind != q.Kind || p.Unit != q.Unit || figures(p.raw) == figures(raw) {
			continue
		}
		other := []byte(strings.ReplaceAll(figures(p.raw), ".", ""))
		if len(other) != len(digits) || len(strings.TrimLeft(p.raw, "0123456789.,' ")) != len(strings.TrimLeft(raw, "0123456789.,' ")) {
			continue
		}
		slices.Sort(other)
		if slices.Equal(digits, other) {
			return true
		}
	}
	return false
}

// operands returns the values of the passages of a source that have most of the sentence's words, by passage.
func (s *statement) operands(t *text, ws []window) [][]placed {
	count := map[int]float64{}
	for _, term := range s.terms {
		for _, u := range t.postings[term.text] {
			count[u] += term.weight / float64(len(t.postings[term.text])) // a rare word tells most
		}
	}
	for _, w := range ws {
		if w.text == t && w.first >= 0 {
			for u := max(0, w.first-1); u <= min(w.last+3, len(t.units)-1); u++ {
				count[u] += 0.1
			}
		}
	}
	units := make([]int, 0, len(count))
	for u := range count {
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b int) int { return cmp.Or(cmp.Compare(count[b], count[a]), a-b) })
	var out [][]placed
	for _, u := range units[:min(len(units), derivePlaces)] {
		at, _ := slices.BinarySearchFunc(t.quantities, t.units[u].start, func(p placed, b int) int { return p.Start - b })
		var values []placed
		for ; at < len(t.quantities) && t.quantities[at].Start < t.units[u].end && len(values) < 12; at++ {
			if p := t.quantities[at]; p.Kind != quantity.Label && p.Kind != quantity.Ordinal {
				values = append(values, p)
			}
		}
		if len(values) > 0 {
			out = append(out, values)
		}
	}
	return append(out, s.columns(t)...)
}

// columns returns the values of the columns of tables whose heads have a word of the sentence.
func (s *statement) columns(t *text) [][]placed {
	var out [][]placed
	for table := 1; len(out) < derivePlaces; table++ {
		if t.lines[tableLine{table, 1, 0}] == nil && t.lines[tableLine{table, 2, 0}] == nil {
			return out
		}
		for column := 1; column < 12; column++ {
			cells := t.lines[tableLine{table, 0, column}]
			if len(cells) == 0 || !s.hasAny(t.cells[t.quantities[cells[0]].Start].head) {
				continue
			}
			var values []placed
			for _, i := range cells[:min(len(cells), 12)] {
				values = append(values, t.quantities[i])
			}
			out = append(out, values)
		}
	}
	return out
}

func (s *statement) hasAny(terms map[string]bool) bool {
	for _, term := range s.terms {
		if terms[term.text] {
			return true
		}
	}
	return false
}

// ofClocks reports a time between two times of day.
func (d derivation) ofClocks(times []clock) bool {
	d.announced = true
	times = times[:min(len(times), 40)]
	for i, a := range times {
		for _, b := range times[i+1:] {
			if between := math.Abs(float64(a.seconds - b.seconds)); a.parts == b.parts && between > 0 && d.is(between) {
				return true
			}
		}
	}
	return false
}

// fourth weeks in a row make four.
var ordinals = []string{2: "", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"}

// nth reports that a source has the ordinal of a small number: the fourth week in a row, for four weeks.
func (t *text) nth(raw string) bool {
	n := int(writtenValue(raw))
	return n > 2 && n < len(ordinals) && t.has[ordinals[n]]
}

// others reports that a source names some and counts the rest: Tessel, Nordvik and 23 other firms.
func (t *text) others(q quantity.Quantity) bool {
	if q.Kind != quantity.Number {
		return false
	}
	for _, p := range t.quantities {
		if p.Kind == quantity.Number && p.Low < q.Low && q.Low-p.Low <= 6 {
			i, _ := slices.BinarySearchFunc(t.words, p.End, func(w word, b int) int { return w.start - b })
			if i < len(t.words) && (t.words[i].low == "other" || t.words[i].low == "others") {
				return true
			}
		}
	}
	return false
}

// othersIn reports that the passage with most of the sentence's words names some and counts the rest.
func (s *statement) othersIn(q quantity.Quantity, w window) bool {
	return w.first >= 0 && slices.ContainsFunc(w.text.quantities, func(p placed) bool { return p.unit >= w.first && p.unit <= w.last }) && w.text.others(q)
}

// differs reports a sentence of a source with two numbers that differ by just so much.
func (t *text) differs(q quantity.Quantity) bool {
	for i, a := range t.quantities {
		for _, b := range t.quantities[i+1 : min(len(t.quantities), i+6)] {
			if a.unit == b.unit && a.Kind == quantity.Number && b.Kind == quantity.Number && q.Low > 10 && math.Abs(a.Low-b.Low) == q.Low {
				return true
			}
		}
	}
	return false
}

// few returns the values of the kind of a quantity when a source has so few that any of them may be meant.
func (t *text) few(q quantity.Quantity) []placed {
	var out []placed
	for _, p := range t.quantities {
		if p.Kind == q.Kind && p.Unit == q.Unit {
			if out = append(out, p); len(out) > 12 {
				return nil
			}
		}
	}
	return out
}

// dates returns at most a hundred of a source's dates.
func (t *text) dates() []placed {
	var out []placed
	for _, p := range t.quantities {
		if p.Kind == quantity.Date && p.When.Year > 0 && len(out) < 100 {
			out = append(out, p)
		}
	}
	return out
}

// derivation computes values and compares them with that of the sentence.
type derivation struct {
	q         quantity.Quantity
	announced bool
	exact     bool
	written   float64 // the number without its unit
}

// writtenValue is the number of a quantity without its unit; 0 when it is not written in plain figures.
func writtenValue(raw string) float64 {
	v, err := strconv.ParseFloat(written(raw), 64)
	if err != nil {
		return 0
	}
	return v
}

func (d derivation) is(v float64) bool {
	q := d.q
	switch room := max(q.Round, thirdFigure*q.Low); {
	case math.Abs(v-q.Low) <= 1e-9*q.Low:
		return true
	case !d.announced:
		return false
	case q.Bound == quantity.About && math.Abs(v-q.Low) <= max(room, 0.05*q.Low), math.Abs(v-q.Low) <= room*(1+1e-9):
		return true
	case q.Bound == quantity.AtLeast:
		return v > q.Low && v <= 1.25*q.Low
	case q.Bound == quantity.AtMost:
		return v < q.Low && v >= 0.75*q.Low
	}
	return false
}

// same reports a value of the kind that is looked for.
func (d derivation) same(p placed) bool {
	if p.Kind == quantity.Number && d.q.Kind == quantity.Money && p.Low >= 1000 { // 4.5 million more
		return true
	}
	return p.Kind == d.q.Kind && (p.Unit == d.q.Unit || strings.HasPrefix(p.Unit, d.q.Unit+"/")) || d.q.Kind == quantity.Points && p.Kind == quantity.Percent
}

// across computes from values of several passages: sums, differences, and spans between dates.
func (d derivation) across(values []placed) bool {
	time := d.q.Unit == "month" || d.q.Unit == "s" || d.q.Kind == quantity.Number && d.announced && d.q.Low < 130
	for i, a := range values {
		for _, b := range values[i+1:] {
			switch {
			case a.Kind == quantity.Date || b.Kind == quantity.Date:
				if time && a.Kind == b.Kind && d.span(a.Quantity, b.Quantity) {
					return true
				}
			case d.same(a) && d.same(b) && (d.announced || d.exact):
				if d.is(a.Low+b.Low) || d.is(math.Abs(a.Low-b.Low)) || d.q.Kind != quantity.Percent && d.is((a.Low+b.Low)/2) {
					return true
				}
			}
		}
	}
	return false
}

// within computes from values of one passage also shares, multiples and sums of several.
func (d derivation) within(values []placed) bool {
	q, sum := d.q, 0.0
	for i, a := range values {
		for _, b := range values[i+1:] { // within 14 days, and then within seven
			if q.Unit == "s" && a.Unit == "s" && b.Unit == "s" && a.Low != b.Low && math.Abs(a.Low+b.Low-q.Low) <= 1e-9*q.Low {
				return true
			}
		}
		if d.same(a) {
			sum += a.Low
			if i > 1 && (d.announced || d.exact) && d.is(sum) {
				return true
			}
		}
		switch {
		case a.Kind == quantity.Date || !d.announced && !d.exact:
		case q.Kind == quantity.Percent && (a.Kind == quantity.Percent || a.Kind == quantity.Number && a.Low > 50 && a.Low < 300) && d.is(math.Abs(100-a.Low)),
			q.Kind == quantity.Percent && a.Kind == quantity.Number && a.Low > 0 && a.Low < 1 && (d.is(100*a.Low) || d.is(100-100*a.Low)):
			return true
		}
		for j, b := range values {
			if i == j || a.Kind == quantity.Date || b.Kind == quantity.Date || b.Low == 0 {
				continue
			}
			if (d.announced || len(values) < 6 && q.Kind == quantity.Percent) && d.unwritten(a, b) {
				return true
			}
			switch {
			case a.Kind == b.Kind && a.Unit == b.Unit && (q.Kind == quantity.Percent || q.Kind == quantity.Number || q.Unit == "x"):
				counts := a.Kind == quantity.Number && a.Low >= 100 && b.Low >= 100
				percent := q.Kind == quantity.Percent && (d.announced || len(values) < 4 || counts)
				d := d
				d.announced = d.announced || percent
				if percent && (d.is(100*a.Low/b.Low) || d.is(100*math.Abs(a.Low-b.Low)/b.Low)) || q.Kind != quantity.Percent && d.announced && a.Low > b.Low && d.is(a.Low/b.Low) {
					return true
				}
			case b.Kind == quantity.Percent && a.Kind == q.Kind && a.Unit == q.Unit && d.announced && d.is(a.Low*b.Low/100),
				b.Kind == quantity.Measure && b.Unit == "month" && writtenValue(b.raw) > 1 && a.Kind == q.Kind && a.Unit == q.Unit && d.announced && d.is(a.Low/writtenValue(b.raw)),
				b.Kind == quantity.Number && b.Low > 1 && b.Low < 100 && a.Kind == q.Kind && a.Unit == q.Unit && d.announced && (d.is(a.Low*b.Low) || d.is(a.Low/b.Low)):
				return true
			}
		}
	}
	return false
}

// unwritten computes with a number whose unit is left out: nine of the 67 months, 11 of 19 minutes, and times of a list.
func (d derivation) unwritten(a, b placed) bool {
	x, y := writtenValue(a.raw), writtenValue(b.raw)
	if x == 0 || y == 0 || b.Kind != quantity.Number {
		return false
	}
	near := func(v float64) bool { return math.Abs(v-d.written) <= 1e-6*d.written }
	switch {
	case d.same(a) || a.Kind == quantity.Number && d.q.Kind == quantity.Measure && strings.Contains(a.raw, "."):
		return d.written > 0 && (near(x-y) || near(x+y))
	case a.Kind == quantity.Measure && d.q.Kind == quantity.Percent:
		d.announced = true
		return d.is(100 * y / x)
	}
	return false
}

// span compares a time with that between two dates: in years, and where both name more, in months or days.
func (d derivation) span(a, b quantity.Quantity) bool {
	from, to := days(a.When), days(b.When)
	between := math.Abs(to - from)
	years := math.Abs(float64(a.When.Year - b.When.Year))
	if a.When.Year == 0 || b.When.Year == 0 {
		if a.When.Month == 0 || b.When.Month == 0 || a.When.Year != b.When.Year {
			return false
		}
	}
	size := d.q.Low
	switch d.q.Unit {
	case "s":
		size /= 86400
	case "month":
		size *= 365.25 / 12
	default:
		return years >= 3 && (size == years || size == years-1) // an age
	}
	room := max(1, 0.03*between)
	if a.When.Month == 0 || b.When.Month == 0 {
		return years > 0 && math.Abs(years*365.25-size) <= 0.01*size+2
	}
	if d.q.Bound != quantity.Exact || a.When.Day == 0 || b.When.Day == 0 {
		room = max(31, 0.1*between)
	}
	return between > 0 && math.Abs(between-size) <= room
}

// days numbers the days of dates, roughly.
func days(w quantity.When) float64 {
	return float64(w.Year)*365.25 + float64(max(1, w.Month)-1)*30.44 + float64(max(1, w.Day))
}
