package support

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/quantity"
)

// value is a figure of a text: a number with its unit, a date or a time of day.
type value struct {
	quantity.Quantity
	text   string
	scales []scale // of a bare number: possible units and magnitudes from its sentence or table
	stated bool    // whether the table or heading states the unit, which excludes other units
}

// scale is a possible implicit unit and magnitude of a bare number.
type scale struct {
	kind   quantity.Kind
	unit   string
	factor float64
	whole  float64 // factor for quantity.Quantity.Whole
}

// in applies a scale to a bare number.
func (v value) in(s scale) value {
	v.Kind, v.Unit, v.Round, v.scales = s.kind, s.unit, v.Round*s.factor, nil
	v.Low, v.High, v.Whole = v.Low*s.factor, v.Low*s.factor, v.Low*s.whole
	if s.kind != quantity.Measure {
		v.Magnitude = s.factor
	}
	return v
}

// meant yields the possible readings of a figure: as written, with each of its scales, and with the separator read the
// other way.
func (v value) meant(yield func(value) bool) {
	if !yield(v) {
		return
	}
	for _, s := range v.scales {
		if !yield(v.in(s)) {
			return
		}
	}
	// in the language of its source, 1.234 may mean 1,234
	if v.Digits != math.Trunc(v.Digits) && oneSeparator.MatchString(v.text) {
		v.Digits, v.Low, v.High, v.Whole = 1000*v.Digits, 1000*v.Low, 1000*v.High, 1000*v.Whole
		v.Round = v.Low / v.Digits / 2
		yield(v)
	}
}

// oneSeparator matches a number with exactly three digits after its only separator.
var oneSeparator = regexp.MustCompile(`^\D*\d{1,3}[.,]\d{3}(?:[^\d.,]|$)`)

// clock is the unit of times of day.
const clock = "clock"

// clockTime matches a time of day, such as 23:30 or 11.30 pm. The value is in seconds since midnight, or noon.
var clockTime = regexp.MustCompile(`\b([01]?\d|2[0-4])(?::([0-5]\d)\b|(?:\.([0-5]\d))? ?[ap]\.?m\b)`)

// maxValues is the maximum number of figures read from a text.
const maxValues = 20_000

// valuesOf returns the figures of a text in order. Percentage points count as percent.
func valuesOf(s string) []value {
	found := quantity.Figures(s)
	found = found[:min(len(found), maxValues)]
	times := clockTime.FindAllStringSubmatchIndex(s, maxValues-len(found))
	for _, m := range times {
		hours, _ := strconv.Atoi(s[m[2]:m[3]])
		at := max(m[4], m[6]) // start of the minutes, if any
		minutes := 0
		if at >= 0 {
			minutes, _ = strconv.Atoi(s[at : at+2])
		}
		time := float64(3600*hours + 60*minutes)
		q := quantity.Quantity{Start: m[0], End: m[1], Kind: quantity.Measure, Unit: clock, Low: time, High: time}
		found = append(found, q)
	}
	if len(times) > 0 {
		slices.SortStableFunc(found, func(a, b quantity.Quantity) int { return a.Start - b.Start })
	}
	var out []value
	for _, q := range found {
		if q.Kind == quantity.Points {
			q.Unit = "%"
		}
		v := value{Quantity: q, text: s[q.Start:q.End]}
		if n := len(out) - 1; n >= 0 && out[n].continues(s, q) {
			out[n].Low, out[n].High, out[n].Round, out[n].End = out[n].Low+q.Low, out[n].Low+q.Low, q.Round, q.End
			out[n].text = s[out[n].Start:q.End]
			continue
		}
		out = append(out, v)
	}
	return out
}

// continues reports whether q continues the quantity before it, as in two hours and 22 minutes.
func (v value) continues(s string, q quantity.Quantity) bool {
	if q.Unit != "s" || v.Unit != "s" || q.Low >= v.Low {
		return false
	}
	between := strings.TrimSpace(s[v.End:q.Start])
	return slices.Contains([]string{"", "and", "und", "et", "y"}, between)
}

// figure reports whether v can be checked against a source: it has digits, or is a number word with a unit or
// magnitude. Fractions and ordinals cannot.
func (v value) figure() bool {
	if v.Kind == quantity.Ordinal {
		return false
	}
	return strings.ContainsAny(v.text, "0123456789") || v.Magnitude > 1 || v.Unit != "" && v.Kind != quantity.Percent
}

// bare reports whether v is a number without unit and magnitude.
func (v value) bare() bool { return v.Unit == "" && v.Magnitude <= 1 && v.Kind == quantity.Number }

// numeric reports whether v is not a date, time of day or name.
func (v value) numeric() bool {
	return v.Kind != quantity.Date && v.Kind != quantity.Label && v.Unit != clock
}

// oneDigit reports whether v has at most one significant digit, so that it matches other numbers by chance.
func (v value) oneDigit() bool {
	return len(strings.Trim(digits(v.text), "0")) < 2
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// seconds holds the units of time in seconds. A month has its average length.
var seconds = map[string]float64{"s": 1, "month": 365.2425 * 86400 / 12}

// reading converts o to the unit of v. ok reports whether both have the same unit or convertible units. loosely: one of
// them may have no unit.
func (v value) reading(o value, loosely bool) (x float64, ok bool) {
	if !v.numeric() || !o.numeric() {
		return 0, false
	}
	if v.Digits == 0 { // zero: there is no factor to convert with
		return o.Low, loosely && (v.Unit == o.Unit || v.Unit == "" || o.Unit == "")
	}
	unit := v.Low / (v.Digits * v.Magnitude) // factor of the unit
	a, b := seconds[v.Unit], seconds[o.Unit]
	unitless := o.Unit == "" && !o.stated && !(o.bare() && o.oneDigit())
	switch {
	case v.Unit == o.Unit:
		return o.Low, true
	case a > 0 && b > 0:
		return o.Low * b / a, true
	case o.Unit == "" && o.Magnitude > 1 && v.Kind == quantity.Money: // a further 38 million
		return o.Low * unit, true
	case perUnit(v.Unit, o.Unit): // 22 m a year, as the amount of each year
		return o.Low * v.Low / v.Whole, true
	case perUnit(o.Unit, v.Unit):
		return o.Whole, true
	case hundredth(o.Unit, v.Unit):
		return o.Low / 100, true
	case hundredth(v.Unit, o.Unit):
		return o.Low * 100, true
	case loosely && (v.Unit == "" || unitless):
		return o.Digits * o.Magnitude * unit, true
	}
	return 0, false
}

// hundredth reports whether unit is the cent of the currency of.
func hundredth(unit, of string) bool {
	rest, cents := strings.CutPrefix(unit, "cents")
	currency, behind, _ := strings.Cut(of, "/")
	known := len(currency) == 3 && strings.ToUpper(currency) == currency
	return cents && known && strings.TrimPrefix(rest, "/") == behind
}

// perUnit reports whether unit is a rate of the other unit: m/s and m.
func perUnit(unit, of string) bool { return of != "" && strings.HasPrefix(unit, of+"/") }

// nearly is the tolerance of "about", "more than" and "less than", as a share of the number.
const nearly = 0.1

// near reports whether v states the number x: equal after rounding to v's places, or within the tolerance of "about" or
// "more than".
func (v value) near(x float64) bool {
	off, size := x-v.Low, math.Abs(v.Low)
	switch {
	case math.Abs(off) <= max(v.Round*(1+1e-9), 1e-9*size):
		return true
	case v.Bound == quantity.About:
		return math.Abs(off) <= nearly*size
	case v.Bound == quantity.AtLeast:
		return off > 0 && off <= v.reach()
	case v.Bound == quantity.AtMost:
		return off < 0 && -off <= v.reach()
	}
	return false
}

// reach returns the tolerance for "more than v" and "less than v": a tenth of v, or one unit of its last significant
// digit, as 1,000 for "more than 5,000".
func (v value) reach() float64 {
	return max(nearly*math.Abs(v.Low), v.place())
}

// place returns the value of one unit of v's last significant digit.
func (v value) place() float64 {
	place := 1.0
	for v.Digits >= 10*place && math.Mod(v.Digits, 10*place) == 0 {
		place *= 10
	}
	if v.Digits != math.Trunc(v.Digits) || v.Digits == 0 {
		return 2 * v.Round
	}
	return place * math.Abs(v.Low/v.Digits)
}

// says reports whether v states the figure o of a source.
func (v value) says(o value) bool {
	switch {
	case v.Kind == quantity.Date && o.Kind == quantity.Date:
		return v.sameDay(o)
	case v.Unit == clock && o.Unit == clock:
		return math.Mod(v.Low-o.Low, 12*3600) == 0
	case !v.numeric() || !o.numeric():
		return digits(v.text) == digits(o.text) && digits(v.text) != ""
	case v.Kind == quantity.Percent && o.Kind == quantity.Points:
		return false
	}
	if v.degrees() && o.degrees() && math.Abs(v.Digits) == math.Abs(o.Digits) {
		if v.offset() == o.offset() || v.offset() == 0 {
			return true
		}
	}
	for v := range v.meant {
		for o := range o.meant {
			if x, ok := v.reading(o, true); ok && (v.near(x) || v.near(-x)) { // "fell by 6 %" states -6 % of a table
				return true
			}
		}
	}
	return false
}

// degrees reports whether v is a temperature, or a number of degrees without a scale.
func (v value) degrees() bool { return v.Unit == "K" || v.Unit == "deg" }

// offset returns the zero point of a temperature scale; 0 if no scale is named.
func (v value) offset() float64 { return v.Low - v.Digits }

// sameDay reports whether the date o of a source has all parts of v's date. The years may differ if one of them is
// missing, because the year may be elsewhere, or implied.
func (v value) sameDay(o value) bool {
	a, b := v.When, o.When
	if !o.To.Zero() && a.Month == 0 { // the 1990s
		return a.Year >= b.Year && a.Year <= o.To.Year
	}
	quarter := b.Quarter
	if b.Month > 0 {
		quarter = (b.Month + 2) / 3
	}
	year := a.Year == b.Year || a.Month > 0 && (a.Year == 0 || b.Year == 0)
	agrees := func(said, has int) bool { return said == 0 || said == has }
	return year && agrees(a.Month, b.Month) && agrees(a.Day, b.Day) && agrees(a.Quarter, quarter)
}

// read parses the figures of a document. A bare number gets the possible units and magnitudes of other figures in its
// sentence, of its row, of its column's header, and of the line above its table or list.
func (d *document) read() {
	if d.valued {
		return
	}
	d.valued = true
	d.values, d.about = valuesOf(d.Text), valuesOf(d.About)
	var head []string
	var above []scale // scales of the line above
	aboveOf, at := -1, 0
	for i, u := range d.units {
		from := at
		for at < len(d.values) && d.values[at].Start < u.end {
			at++
		}
		line := d.Text[u.start:u.end]
		values := d.values[from:at]
		if (u.row || u.item) && u.lead != aboveOf && u.lead < i {
			aboveOf = u.lead
			above = scalesAt(d.Text[d.units[u.lead].start:d.units[u.lead].end])
		}
		switch {
		case u.row && head != nil:
			scaleRow(values, u.start, line, head, above)
		case u.row:
			head = cellsOf(line)
		case u.item:
			head = nil
			scaleSentence(values, above)
		default:
			head = nil
			scaleSentence(values, nil)
		}
	}
}

// scaleSentence gives the bare numbers of a sentence the scales of its other figures and of the line above its list.
// Numbers with a magnitude but no unit get only the units.
func scaleSentence(values []value, above []scale) {
	said := slices.Clip(above)
	var units []scale // scales in said, without magnitudes
	for _, v := range values {
		s := scale{v.Kind, v.Unit, v.Low / v.Digits, v.Whole / v.Digits}
		if v.numeric() && !v.bare() && v.Digits != 0 && !slices.Contains(said, s) {
			said = append(said, s)
			if m := max(1, v.Magnitude); v.Unit != "" {
				units = append(units, scale{s.kind, s.unit, s.factor / m, s.whole / m})
			}
		}
	}
	for i := range values {
		switch v := &values[i]; {
		case v.bare():
			v.scales = said
		case v.Unit == "" && v.Kind == quantity.Number: // "5.3 million tonnes, 4.1 million of them wheat"
			v.scales = units
		}
	}
}

// scaleRow gives the numbers of a table row the scales of their row, column header and surroundings.
func scaleRow(values []value, start int, line string, head []string, above []scale) {
	cells := cellsOf(line)
	row := scalesIn(inBrackets(cells[0]), true)
	for _, c := range cells {
		row = append(row, scalesIn(c, false)...)
	}
	guess := append(scalesAt(head[0]), above...)
	for i := range values {
		v := &values[i]
		column := strings.Count(strings.TrimLeft(line[:v.Start-start], " \t|"), "|")
		switch {
		case v.Kind == quantity.Money && len(row) == 1 && row[0].unit != "": // a unit price
			v.scales = []scale{{quantity.Money, v.Unit + "/" + row[0].unit, 1 / row[0].factor, 1}}
		case v.bare():
			v.scales = slices.Clone(row)
			if column < len(head) {
				v.scales = append(append(v.scales, headScales(inBrackets(head[column]), true)...),
					headScales(head[column], false)...)
			}
			v.stated = slices.ContainsFunc(v.scales, func(s scale) bool { return s.unit != "" })
			if column < len(head) && !v.stated {
				v.scales = append(v.scales, scalesAt(head[column])...)
			}
			if len(v.scales) == 0 {
				v.scales = guess
			}
		}
	}
}

// scalesAt returns the units and magnitudes that a heading or lead line names, in brackets or in full.
func scalesAt(line string) []scale {
	rest, inFull := inBrackets(line), false
	if thousands.MatchString(rest) {
		return headScales(rest, true)
	}
	if rest == "" || strings.ContainsAny(rest, "0123456789") {
		rest, inFull = line[:min(len(line), maxLead)], true
	}
	for rest != "" {
		name := rest[:min(len(rest), maxScale)]
		if digit := strings.IndexAny(name, "0123456789"); digit >= 0 {
			name = name[:digit]
		}
		word, behind, _ := strings.Cut(rest, " ")
		counted := strings.ContainsAny(word, "0123456789")
		if long := len(word) > 3 || strings.ContainsAny(word, "$€£¥"); long || !inFull {
			if found := scalesIn(name, !inFull); len(found) > 0 {
				return found
			}
		}
		if rest = behind; counted { // a counted noun is not a unit
			_, rest, _ = strings.Cut(rest, " ")
		}
	}
	return nil
}

const (
	maxLead  = 300 // bytes of a line searched for units
	maxScale = 40  // bytes of a unit's name
)

// scalesIn parses a unit or magnitude, such as GWh, £m, million euros. bracketed: the text is in brackets, where other
// words may follow the unit ("weeks from the order") or precede it ("annual, £m").
func scalesIn(name string, bracketed bool) []scale {
	name = strings.TrimSpace(name)
	if last := strings.LastIndexAny(name, ",;"); bracketed && last >= 0 {
		return append(scalesIn(name[:last], true), scalesIn(name[last+1:], true)...)
	}
	if name == "" || len(name) > maxScale || number.MatchString(name) {
		return nil
	}
	for _, one := range []string{withUnit("1", name), "1 " + name, "1" + name} {
		v := valuesOf(one)
		if len(v) == 0 || v[0].Start > 0 {
			continue
		}
		if partial := v[0].Kind == quantity.Measure && v[0].End < len(one); partial && !bracketed {
			continue // "a second train" does not name the unit second
		}
		if v[0].Digits == 1 && !v[0].bare() && v[0].numeric() {
			return []scale{{v[0].Kind, v[0].Unit, v[0].Low, v[0].Whole}}
		}
	}
	return nil
}

// number matches a figure that is not part of a unit such as m3.
var number = regexp.MustCompile(`(^|[^\pL\d])\d`)

// headScales is scalesIn for a column header, which may give thousands as 1,000.
func headScales(name string, bracketed bool) []scale {
	if len(name) <= maxScale && thousands.MatchString(name) {
		v := valuesOf(thousands.ReplaceAllString(name, "${1}1000${2}"))
		if len(v) == 1 && v[0].Digits == 1000 && v[0].numeric() {
			return []scale{{v[0].Kind, v[0].Unit, v[0].Low, v[0].Whole}}
		}
	}
	return scalesIn(name, bracketed)
}

// thousands matches the ways in which table headers write a thousand: 1,000 t, '000 t, € 000.
var thousands = regexp.MustCompile(`(^|[^\d.,])(?:1[,.  ]?|['’])?000($|[^\d.,])`)

// withUnit formats a number with a unit: 5 GWh, £5m.
func withUnit(number, unit string) string {
	if sign := strings.IndexAny(unit, "$€£¥"); sign >= 0 {
		rest := strings.TrimLeft(unit[sign:], "$€£¥")
		return unit[:len(unit)-len(rest)] + number + strings.TrimSpace(rest)
	}
	return number + " " + unit
}

// inBrackets returns the bracketed text at the end of s, or "".
func inBrackets(s string) string {
	s = strings.Trim(strings.NewReplacer("（", "(", "）", ")").Replace(s), "*_:. \n")
	open := strings.LastIndexByte(s, '(')
	if open < 0 || !strings.HasSuffix(s, ")") {
		return ""
	}
	return s[open+1 : len(s)-1]
}

// cellsOf splits a table row into its cells.
func cellsOf(line string) []string {
	return strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
}
