package support

import (
	"math"
	"regexp"
	"strings"

	"nightdesk/pipeline/quantity"
)

// value is a figure of a text: a number with its unit, or a date.
type value struct {
	quantity.Quantity
	text string
	cell bool // in a table row or list item, where units are often left out
}

// maxValues is the maximum number of figures read from a text.
const maxValues = 20_000

// valuesOf returns the figures of a text in order. Percentage points count as percent.
func valuesOf(s string) []value {
	found := quantity.Parse(s)
	out := make([]value, min(len(found), maxValues))
	for i, q := range found[:len(out)] {
		if q.Kind == quantity.Points {
			q.Unit = "%"
		}
		out[i] = value{Quantity: q, text: s[q.Start:q.End]}
	}
	return out
}

// figure reports whether v can be checked against a source: it has digits, or is a number word with a unit or
// magnitude.
func (v value) figure() bool {
	return strings.ContainsAny(v.text, "0123456789") || v.Magnitude > 1 || v.Unit != "" && v.Kind != quantity.Percent
}

// bare reports whether v is a number without unit and magnitude.
func (v value) bare() bool { return v.Unit == "" && v.Magnitude <= 1 && v.Kind == quantity.Number }

// numeric reports whether v is neither a date nor a name.
func (v value) numeric() bool { return v.Kind != quantity.Date && v.Kind != quantity.Label }

// oneDigit reports whether v has at most one significant digit, so that it matches other numbers by chance.
func (v value) oneDigit() bool { return len(strings.Trim(digits(v.text), "0")) < 2 }

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// says reports whether v states the figure o of a source.
func (v value) says(o value) bool {
	switch {
	case v.Kind == quantity.Date && o.Kind == quantity.Date:
		return v.sameDay(o)
	case !v.numeric() || !o.numeric():
		return digits(v.text) == digits(o.text) && digits(v.text) != ""
	case v.Kind == quantity.Percent && o.Kind == quantity.Points:
		return false
	}
	for _, v := range v.readings() {
		for _, o := range o.readings() {
			if v.states(o) {
				return true
			}
		}
	}
	return false
}

// readings returns v, and v with its separator read the other way: in the language of its text, 1.234 may mean 1,234.
func (v value) readings() []value {
	other := v
	if v.Digits == math.Trunc(v.Digits) || !oneSeparator.MatchString(v.text) {
		return []value{v}
	}
	other.Digits, other.Low = 1000*v.Digits, 1000*v.Low
	other.Round = other.Low / other.Digits / 2
	return []value{v, other}
}

// oneSeparator matches a number with exactly three digits after its only separator.
var oneSeparator = regexp.MustCompile(`^\D*\d{1,3}[.,]\d{3}(?:[^\d.,]|$)`)

// seconds holds the units of time in seconds. A month has its average length.
var seconds = map[string]float64{"s": 1, "month": 365.2425 * 86400 / 12}

// states reports whether v and o have the same value after conversion of units, or the same digits if one of them has
// no unit.
func (v value) states(o value) bool {
	a, b := seconds[v.Unit], seconds[o.Unit]
	switch {
	case v.Unit == o.Unit && (!v.bare() || !o.cell):
		return v.near(o.Low)
	case a > 0 && b > 0:
		return v.near(o.Low * b / a)
	case v.Unit == "" || o.Unit == "":
		return v.loosely(o)
	case strings.HasPrefix(v.Unit, o.Unit+"/"), strings.HasPrefix(o.Unit, v.Unit+"/"): // 22 m/a, as 22 m a year
		return v.Digits*v.Magnitude == o.Digits*o.Magnitude
	case v.Kind == quantity.Money && o.Unit == "cents":
		return v.near(o.Low / 100)
	case v.Unit == "cents" && o.Kind == quantity.Money:
		return v.near(o.Low * 100)
	}
	return v.Unit == "deg" && o.Unit == "K" && v.near(o.Digits) // degrees of any scale
}

// loosely reports whether v and o have the same digits. A bare number may leave out thousands, millions and so on that
// a sentence or table states elsewhere.
func (v value) loosely(o value) bool {
	if v.Digits == 0 || o.Digits == 0 {
		return v.Digits == o.Digits
	}
	unit := v.Low / (v.Digits * v.Magnitude) // factor of the unit
	x := o.Digits * o.Magnitude * unit
	if o.bare() && o.oneDigit() && v.Unit != "" {
		return o.cell && v.near(x)
	}
	if !o.bare() || o.oneDigit() {
		return v.near(x)
	}
	for _, factor := range []float64{1, 1e3, 1e6, 1e9, 1e-3} {
		if v.near(x * factor) {
			return true
		}
	}
	return false
}

// nearly is the tolerance of "about", "more than" and "less than", as a share of the number.
const nearly = 0.1

// near reports whether v states the number x or -x, as "fell by 6 %" states the -6 % of a table: equal after rounding
// to v's places, or within the tolerance of "about" or "more than".
func (v value) near(x float64) bool {
	size := math.Abs(v.Low)
	off := math.Abs(x) - size
	room := nearly * size
	switch {
	case math.Abs(off) <= max(v.Round*(1+1e-9), 1e-9*size):
		return true
	case v.Bound == quantity.About:
		return math.Abs(off) <= room
	case v.Bound == quantity.AtLeast:
		return off > 0 && off <= room
	case v.Bound == quantity.AtMost:
		return off < 0 && -off <= room
	}
	return false
}

// sameDay reports whether the date o of a source has all parts of v's date. The years may differ if one of them is
// missing, because the year may be elsewhere, or implied.
func (v value) sameDay(o value) bool {
	a, b := v.When, o.When
	quarter := b.Quarter
	if b.Month > 0 {
		quarter = (b.Month + 2) / 3
	}
	year := a.Year == b.Year || a.Month > 0 && (a.Year == 0 || b.Year == 0)
	agrees := func(said, has int) bool { return said == 0 || said == has }
	return year && agrees(a.Month, b.Month) && agrees(a.Day, b.Day) && agrees(a.Quarter, quarter)
}

// read parses the figures of a document. A bare number of a table gets the unit of its column.
func (d *document) read() {
	if d.valued {
		return
	}
	d.valued = true
	d.values, d.about = valuesOf(d.Text), valuesOf(d.About)
	at := 0
	var head []string
	for i, u := range d.units {
		if u.row && !d.follows(i) {
			head = cellsOf(d.Text[u.start:u.end])
		}
		for ; at < len(d.values) && d.values[at].Start < u.end; at++ {
			v := &d.values[at]
			v.cell = u.row || u.item
			before := strings.TrimLeft(d.Text[u.start:max(u.start, v.Start)], " \t|")
			if column := strings.Count(before, "|"); u.row && column < len(head) {
				v.under(head[column])
			}
		}
	}
}
