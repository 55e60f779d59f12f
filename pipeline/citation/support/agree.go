package support

import (
	"math"
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
	if q.Kind == quantity.Money && s.Kind == quantity.Money && q.Unit != s.Unit {
		q.Unit = sameCurrency(q.Unit, s.Unit, rawQ, rawS)
	}
	if q.Kind != s.Kind {
		q, s = sterling(q, s, rawQ), sterling(s, q, rawS)
	}
	if q.Kind == quantity.Ordinal || q.Kind == quantity.Label || s.Kind == quantity.Ordinal || s.Kind == quantity.Label {
		if written(rawQ) == written(rawS) && bare(q) && bare(s) {
			return met
		}
		return apart
	}
	if q.Unit == "K" && s.Unit == "deg" || q.Unit == "deg" && s.Unit == "K" { // -20 °C, minus 20 degrees
		if strings.Trim(written(rawQ), "-−–minus ") == strings.Trim(written(rawS), "-−–minus ") {
			return rough
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
		if q.Kind == s.Kind && (strings.HasPrefix(s.Unit, q.Unit+"/") || strings.HasPrefix(q.Unit, s.Unit+"/")) && q.Low == q.High && s.Low == s.High && q.Bound != quantity.Exact {
			if agreeBounds(q, s, closeness(q, s)) >= rough { // nearly 50 cents: 48 cents per kilo
				return rough
			}
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

// sameCurrency returns the second currency if the first one may be the same by a name that several have: kroner and NOK,
// dollars and NZ$.
func sameCurrency(a, b, rawA, rawB string) string {
	over, under, _ := strings.Cut(a, "/")
	over2, under2, _ := strings.Cut(b, "/")
	if under != under2 {
		return a
	}
	plain := func(raw string) bool { return strings.Contains(raw, "dollar") || strings.Contains(raw, "Dollar") }
	for _, names := range []string{"kroner NOK DKK", "kroner SEK", "pesos MXN ARS CLP COP PHP", "lira TRY", "dinars RSD"} {
		if first, rest, _ := strings.Cut(names, " "); over == first && strings.Contains(rest, over2) || over2 == first && strings.Contains(rest, over) {
			return b
		}
	}
	const dollars = "AUD CAD NZD HKD SGD TWD"
	if over == "USD" && strings.Contains(dollars, over2) && plain(rawA) || over2 == "USD" && strings.Contains(dollars, over) && plain(rawB) {
		return b
	}
	return a
}

// sterling reads pounds as money where what they are compared with is money.
func sterling(q, other quantity.Quantity, raw string) quantity.Quantity {
	if other.Kind != quantity.Money {
		return q
	}
	return inSterling(q, raw)
}

// inSterling reads pounds as money.
func inSterling(q quantity.Quantity, raw string) quantity.Quantity {
	const pound = 0.45359237 // kg
	if q.Kind == quantity.Measure && strings.HasPrefix(q.Unit, "kg") && strings.Contains(raw, "pound") {
		q.Kind, q.Unit = quantity.Money, "GBP"+strings.TrimPrefix(q.Unit, "kg")
		q.Low, q.High, q.Round = q.Low/pound, q.High/pound, q.Round/pound
	}
	return q
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
