// Package quantity finds measurable and dated values in a text: numbers with their units, sums of money, shares, dates
// and years, in English, German and Chinese. Each comes with its position in the text and the range of values that its
// wording allows.
//
// The package does not determine the subject of a number; packages evidence and citation do. Entry points: Parse finds
// quantities; Agree, Equal and Differ compare them. All functions are pure and safe for concurrent use. On malformed
// text they may find nothing, but they never fail.
package quantity

import "math"

// Kind is the kind of a quantity.
type Kind int

// The kinds of quantities.
const (
	Number  Kind = iota // a bare number, such as 41,200
	Measure             // with a unit of measurement, in its base unit
	Money               // Unit is the currency: USD, EUR
	Percent             // Unit is "%"
	Points              // percentage points; Unit is "pp"
	Date                // a day, month, quarter or year
	Label               // a number that is a name, such as version 15, Table 2, 1.26.3
)

// Bound says whether a number is exact, approximate or a limit.
type Bound int

// The bounds of a number.
const (
	Exact   Bound = iota
	About         // about, nearly, some
	AtLeast       // at least, more than, over
	AtMost        // at most, less than, up to
)

// Quantity is one quantity in a text.
type Quantity struct {
	Start, End int // bytes: text[Start:End] is the number with unit and magnitude, without words such as "about"
	Kind       Kind
	Low        float64 // in Unit
	Unit       string  // base unit: m, kg, s, month, K, J, W, B, m3, m2, m/s, USD, %; "" for a bare number
	Bound      Bound
	Round      float64 // maximum rounding error by the written places: 0.05 for 1.2
	Digits     float64 // the written figure of Low, without magnitude and unit: 1.2 for 1.2 million km
	Magnitude  float64 // the magnitude given in words, such as a million; 1 if there is none
	When       When    // of a date

	factor, offset float64 // of the unit: Low = Digits x Magnitude x factor + offset
}

// When is a date, possibly incomplete.
type When struct{ Year, Quarter, Month, Day int } // 0 means not given

// nearly is the tolerance of "about", as a share of the number.
const nearly = 0.1

// span returns the range of values that a quantity allows, without rounding.
func (q Quantity) span() (low, high float64) {
	low, high = q.Low, q.Low
	switch q.Bound {
	case About:
		room := nearly * math.Abs(low)
		low, high = low-room, high+room
	case AtLeast:
		high = math.Inf(1)
	case AtMost:
		low = math.Inf(-1)
	}
	return low, high
}

// Agree reports whether two quantities can mean the same: one unit, and values that are equal when rounded to the
// coarser one. 1.2 million and 1,230,000 agree, 3 km and 3,000 m do, 12% and 12 percentage points do not.
func Agree(a, b Quantity) bool {
	if !comparable(a, b) {
		return false
	}
	if a.Kind == Date {
		return !a.When.differ(b.When)
	}
	loose := func(b Bound) bool { return b == About || b == Exact }
	if a.Bound != b.Bound && !loose(a.Bound) && !loose(b.Bound) {
		return false
	}
	return !apart(a, b)
}

// Equal reports whether two quantities mean the same, so that one can replace the other. They must agree and, if both
// have the same bound, have the same figures. "Up to 400" and "up to 500" can both be true, but are not
// equal.
func Equal(a, b Quantity) bool {
	if !Agree(a, b) {
		return false
	}
	return a.Kind == Date || a.Bound != b.Bound || math.Abs(a.Low-b.Low) <= max(a.Round, b.Round)*(1+1e-9)
}

// Differ reports whether two quantities of one unit cannot both be true of the same thing, because no value fits both,
// even with rounding. Quantities of different units never differ in this sense.
func Differ(a, b Quantity) bool {
	if !comparable(a, b) {
		return false
	}
	if a.Kind == Date {
		return a.When.differ(b.When)
	}
	return apart(a, b)
}

func comparable(a, b Quantity) bool { return a.Kind == b.Kind && a.Unit == b.Unit }

func apart(a, b Quantity) bool {
	aLow, aHigh := a.span()
	bLow, bHigh := b.span()
	round := max(a.Round, b.Round) * (1 + 1e-9)
	return aLow-bHigh > round || bLow-aHigh > round
}

// differ reports whether two dates have a different year, quarter, month or day, if both give it.
func (w When) differ(o When) bool {
	apart := func(a, b int) bool { return a != 0 && b != 0 && a != b }
	return apart(w.Year, o.Year) || apart(w.Month, o.Month) || apart(w.Day, o.Day) || apart(w.quarter(), o.quarter())
}

func (w When) quarter() int {
	if w.Quarter == 0 && w.Month > 0 {
		return (w.Month + 2) / 3
	}
	return w.Quarter
}
