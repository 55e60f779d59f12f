// Package quantity finds what can be measured or dated in a text: numbers with their units, sums of money, shares,
// dates and years, in English, German and Chinese, each with its place in the text and the room that its wording
// leaves.
//
// It knows nothing of what a number is said of: that is for packages evidence and citation. Entry points: Parse finds,
// Agree, Equal and Differ compare. All functions are pure and safe for concurrent use; foreign text may make them find
// nothing, never fail.
package quantity

import "math"

// Kind says what a quantity is.
type Kind int

// The kinds of quantities.
const (
	Number  Kind = iota // a bare number: 41,200
	Measure             // with a unit of measurement, in its base unit
	Money               // Unit is the currency: USD, EUR
	Percent             // Unit is "%"
	Points              // percentage points; Unit is "pp"
	Date                // a day, month, quarter, year or span of years
	Ordinal             // 3rd
	Label               // a number that is a name: version 15, Table 2, 1.26.3
)

// Bound says how a number limits what is stated.
type Bound int

// The bounds of a number.
const (
	Exact   Bound = iota
	About         // about, nearly, some
	AtLeast       // at least, more than, over
	AtMost        // at most, less than, up to
)

// Quantity is one quantity of a text.
type Quantity struct {
	Start, End int // bytes: text[Start:End] are number, unit and magnitude, without words such as "about"
	Kind       Kind
	Low, High  float64 // in Unit; equal unless the text gives a range
	Unit       string  // base unit: m, kg, s, month, K, J, W, B, m3, m2, m/s, USD, %; "" for a bare number
	Bound      Bound
	Round      float64 // by how much the true value may differ, by the places that are written: 0.05 for 1.2
	Digits     float64 // Low as its figures stand in the text, without magnitude and unit: 1.2 for 1.2 million km
	Magnitude  float64 // that the text gives in words: a million; 1 when it gives none
	Whole      float64 // Low without what it is by: of 310 MWh a year, those of a year in J
	When       When    // of a date
	To         When    // end of a span of dates; zero: none

	factor, offset float64 // of the unit: Low = Digits x Magnitude x factor + offset
}

// When is a date as far as it is said.
type When struct{ Year, Quarter, Month, Day int } // 0 = not said

// Zero reports that nothing is said.
func (w When) Zero() bool { return w == When{} }

// nearly is how far "about" reaches, as a share of the number.
const nearly = 0.1

// span returns the values that a quantity leaves possible, without rounding.
func (q Quantity) span() (low, high float64) {
	low, high = q.Low, q.High
	switch q.Bound {
	case About:
		room := nearly * max(math.Abs(low), math.Abs(high))
		low, high = low-room, high+room
	case AtLeast:
		high = math.Inf(1)
	case AtMost:
		low = math.Inf(-1)
	}
	return low, high
}

// Agree reports that two quantities can say the same: one unit, and values that are equal where both are rounded as the
// coarser one is. 1.2 million and 1,230,000 agree, 3 km and 3,000 m do, 12% and 12 percentage points do not.
func Agree(a, b Quantity) bool {
	if !comparable(a, b) {
		return false
	}
	if a.Kind == Date {
		return !a.When.differ(b.When) && !a.To.differ(b.To)
	}
	loose := func(b Bound) bool { return b == About || b == Exact }
	if a.Bound != b.Bound && !loose(a.Bound) && !loose(b.Bound) {
		return false
	}
	return !apart(a, b)
}

// Equal reports that two quantities say the same, the later in the place of the earlier: Agree, and where both have
// the same limit, or are ranges, the same figures in it. "Up to 400" and "up to 500" can both be true and are not
// equal.
func Equal(a, b Quantity) bool {
	if !Agree(a, b) {
		return false
	}
	if a.Kind == Date || a.Bound != b.Bound || (a.Low == a.High) != (b.Low == b.High) {
		return true
	}
	round := max(a.Round, b.Round) * (1 + 1e-9)
	return math.Abs(a.Low-b.Low) <= round && math.Abs(a.High-b.High) <= round
}

// Differ reports that two quantities of one unit cannot both be true of the same thing: no value fits both,
// whatever the rounding. Quantities of different units never differ in this sense.
func Differ(a, b Quantity) bool {
	if !comparable(a, b) {
		return false
	}
	if a.Kind == Date {
		if !a.To.Zero() || !b.To.Zero() {
			return a.When.differ(b.When) && a.To.differ(b.To)
		}
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

// differ reports that two dates name different years, quarters, months or days, as far as both name them.
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
