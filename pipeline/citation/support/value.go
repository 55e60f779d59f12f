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
	scales []scale // of a bare number: what its sentence or table may mean it to be multiplied with
	before int     // of a date without a year: the last year that its text has named before it
}

func (v value) year() int {
	if v.When.Year == 0 {
		return v.before
	}
	return v.When.Year
}

// day returns a date with the year that is meant.
func (v value) day() quantity.When {
	w := v.When
	w.Year = v.year()
	return w
}

// scale is a unit and magnitude that a bare number may have without saying so.
type scale struct {
	unit   string
	factor float64
}

// clock is the unit of times of day.
const clock = "clock"

// clockTime is a time of day; its value is in seconds since midnight.
var clockTime = regexp.MustCompile(`\b([01]?\d|2[0-4]):([0-5]\d)\b`)

// maxValues bounds the figures that are read of a text.
const maxValues = 20_000

// valuesOf returns the figures of a text in order. Percentage points count as percent.
func valuesOf(s string) []value {
	found := quantity.Figures(s)
	found = found[:min(len(found), maxValues)]
	times := clockTime.FindAllStringSubmatchIndex(s, maxValues-len(found))
	for _, m := range times {
		hours, _ := strconv.Atoi(s[m[2]:m[3]])
		minutes, _ := strconv.Atoi(s[m[4]:m[5]])
		at := float64(3600*hours + 60*minutes)
		q := quantity.Quantity{Start: m[0], End: m[1], Kind: quantity.Measure, Unit: clock, Low: at, High: at}
		found = append(found, q)
	}
	if len(times) > 0 {
		slices.SortStableFunc(found, func(a, b quantity.Quantity) int { return a.Start - b.Start })
	}
	var out []value
	year := 0
	for _, q := range found {
		if q.Kind == quantity.Points {
			q.Unit = "%"
		}
		v := value{Quantity: q, text: s[q.Start:q.End], before: year}
		if q.When.Year > 0 {
			year = q.When.Year
		}
		if n := len(out) - 1; n >= 0 && out[n].goesOn(s, q) {
			out[n].Low, out[n].High, out[n].Round, out[n].End = out[n].Low+q.Low, out[n].Low+q.Low, q.Round, q.End
			out[n].text = s[out[n].Start:q.End]
			continue
		}
		out = append(out, v)
	}
	return out
}

// goesOn reports that a quantity belongs to the one before it: two hours and 22 minutes.
func (v value) goesOn(s string, q quantity.Quantity) bool {
	if q.Unit != "s" || v.Unit != "s" || q.Low >= v.Low {
		return false
	}
	between := strings.TrimSpace(s[v.End:q.Start])
	return slices.Contains([]string{"", "and", "und", "et", "y"}, between)
}

// figure reports what can be looked for: a token with digits, or a number word with a unit or magnitude. Fractions
// and ordinals are none.
func (v value) figure() bool {
	if v.Kind == quantity.Ordinal {
		return false
	}
	return strings.ContainsAny(v.text, "0123456789") || v.Magnitude > 1 || v.Unit != "" && v.Kind != quantity.Percent
}

// bare reports a number without unit and magnitude.
func (v value) bare() bool { return v.Unit == "" && v.Magnitude <= 1 && v.Kind == quantity.Number }

// numeric reports what is no date, time of day or name.
func (v value) numeric() bool {
	return v.Kind != quantity.Date && v.Kind != quantity.Label && v.Unit != clock
}

// oneDigit reports a number with one figure that is no 0: it agrees with anything by chance.
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

// seconds of the units of time; months are not equally long.
var seconds = map[string]float64{"s": 1, "month": 365.2425 * 86400 / 12}

// readings returns the numbers that o may stand for in the unit of v. Both have one unit, or units that convert, or
// o has the unit from its sentence or table. loosely: or one of the two has none.
func (v value) readings(o value, loosely bool) []float64 {
	if !v.numeric() || !o.numeric() || v.Digits == 0 {
		return nil
	}
	unit := v.Low / (v.Digits * v.Magnitude) // of the number as written
	var out []float64
	a, b := seconds[v.Unit], seconds[o.Unit]
	switch {
	case v.Unit == o.Unit:
		out = append(out, o.Low)
	case a > 0 && b > 0:
		out = append(out, o.Low*b/a)
	case o.Unit == "" && o.Magnitude > 1 && v.Kind == quantity.Money: // a further 38 million
		out = append(out, o.Low*unit)
	case perUnit(v.Unit, o.Unit), perUnit(o.Unit, v.Unit), // 22 m a year, of each year
		loosely && (v.Unit == "" || o.Unit == "" && !(o.bare() && o.oneDigit())):
		out = append(out, o.Digits*o.Magnitude*unit)
	}
	for _, s := range o.scales {
		if s.unit == v.Unit || perUnit(s.unit, v.Unit) || loosely && (s.unit == "" || v.Unit == "") {
			factor := s.factor
			if perUnit(s.unit, v.Unit) {
				factor = unit // 52 to 44 tonnes a year: 52 tonnes
			}
			out = append(out, o.Digits*factor)
		}
	}
	return out
}

// perUnit reports that one unit is another one by time or the like: m/s and m.
func perUnit(unit, of string) bool { return of != "" && strings.HasPrefix(unit, of+"/") }

// nearly is how far "about", "more than" and "less than" reach, as a share of the number.
const nearly = 0.1

// near reports whether v says a number: rounded to the places that v writes, or within what "about" and "more than"
// leave open.
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

// reach returns how far from v a value is of which people say that it is more or less than v: a tenth of v, or one
// in the place of its last figure that is no 0, as 1,000 for "more than 5,000".
func (v value) reach() float64 {
	if v.Digits == 0 {
		return 0
	}
	place := 1.0
	for v.Digits >= 10*place && math.Mod(v.Digits, 10*place) == 0 {
		place *= 10
	}
	return max(nearly*math.Abs(v.Low), place*math.Abs(v.Low/v.Digits))
}

// says reports whether v can be said of o, which a source has.
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
	case grouped(v.text) != "" && grouped(v.text) == grouped(o.text): // 1.234 is another number in German
		return true
	}
	return slices.ContainsFunc(v.readings(o, true), v.near)
}

// grouped returns the digits of a number with three places behind its only separator; "" for others.
func grouped(s string) string {
	at := strings.IndexAny(s, ".,")
	if at < 1 || len(s)-at != 4 {
		return ""
	}
	return s[:at] + s[at+1:]
}

// sameDay reports whether a date of a source has all that v says of the day, but for the year, which may stand
// elsewhere.
func (v value) sameDay(o value) bool {
	a, b := v.When, o.When
	if !o.To.Zero() && a.Month == 0 { // the 1990s
		return a.Year >= b.Year && a.Year <= o.To.Year
	}
	quarter := b.Quarter
	if b.Month > 0 {
		quarter = (b.Month + 2) / 3
	}
	year := a.Year == b.Year || b.Year == 0 && a.Month > 0
	says := func(said, has int) bool { return said == 0 || said == has }
	return year && says(a.Month, b.Month) && says(a.Day, b.Day) && says(a.Quarter, quarter)
}

// read finds the figures of a document. A bare number may have the unit and magnitude of another one of its
// sentence, or what its row, the head of its column and the line above its table have in brackets.
func (d *document) read() {
	if d.valued {
		return
	}
	d.valued = true
	d.values, d.about = valuesOf(d.Text), valuesOf(d.About)
	var head []string
	above := ""
	at := 0
	for _, u := range d.units {
		from := at
		for at < len(d.values) && d.values[at].Start < u.end {
			at++
		}
		line := d.Text[u.start:u.end]
		values := d.values[from:at]
		switch cells := cellsOf(line); {
		case len(cells) < 2:
			head, above = nil, line
			scaleSentence(values)
		case head == nil:
			head = cells
		default:
			scaleRow(values, u.start, line, cells, head, above)
		}
	}
}

// scaleSentence gives the bare numbers of a sentence the scales of the others.
func scaleSentence(values []value) {
	var said []scale
	for _, v := range values {
		if v.numeric() && !v.bare() && v.Digits != 0 {
			said = append(said, scale{v.Unit, v.Low / v.Digits})
		}
	}
	for i := range values {
		if values[i].bare() {
			values[i].scales = said
		}
	}
}

// scaleRow gives the bare numbers of a row of a table the scales that stand around them.
func scaleRow(values []value, start int, line string, cells, head []string, above string) {
	common := append(scalesIn(inBrackets(cells[0])), scalesIn(inBrackets(above))...)
	for _, c := range cells {
		common = append(common, scalesIn(c)...)
	}
	for i := range values {
		v := &values[i]
		if !v.bare() {
			continue
		}
		v.scales = common
		if column := strings.Count(strings.TrimLeft(line[:v.Start-start], " \t|"), "|"); column < len(head) {
			v.scales = append(scalesIn(inBrackets(head[column])), common...)
		}
	}
}

// scalesIn reads a text that is a unit or magnitude, such as GWh, £m, million euros.
func scalesIn(name string) []scale {
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 40 || strings.ContainsAny(name, "0123456789") {
		return nil
	}
	var out []scale
	for _, v := range valuesOf(withUnit("1", name)) {
		if v.Start == 0 && v.Digits == 1 && !v.bare() && v.numeric() {
			out = append(out, scale{v.Unit, v.Low})
		}
	}
	return out
}

// withUnit writes a number with a unit: 5 GWh, £5m.
func withUnit(number, unit string) string {
	if sign := strings.IndexAny(unit, "$€£¥"); sign >= 0 {
		rest := strings.TrimLeft(unit[sign:], "$€£¥")
		return unit[:len(unit)-len(rest)] + number + strings.TrimSpace(rest)
	}
	return number + " " + unit
}

// inBrackets returns what a text has in brackets at its end.
func inBrackets(s string) string {
	s = strings.Trim(strings.NewReplacer("（", "(", "）", ")").Replace(s), "*_:. \n")
	open := strings.LastIndexByte(s, '(')
	if open < 0 || !strings.HasSuffix(s, ")") {
		return ""
	}
	return s[open+1 : len(s)-1]
}

// cellsOf cuts a row of a table at its bars.
func cellsOf(line string) []string {
	return strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
}
