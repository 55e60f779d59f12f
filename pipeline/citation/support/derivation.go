package support

import (
	"math"
	"strconv"
	"strings"

	"nightdesk/pipeline/quantity"
)

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
	case q.Bound == quantity.About && math.Abs(v-q.Low) <= max(room, d.loose()*q.Low), math.Abs(v-q.Low) <= room*(1+1e-9):
		return true
	case q.Bound == quantity.AtLeast:
		return v > q.Low && v <= 1.25*q.Low
	case q.Bound == quantity.AtMost:
		return v < q.Low && v >= 0.75*q.Low
	}
	return false
}

// loose is how far about a value reaches: a quarter further than 25%.
func (d derivation) loose() float64 {
	if d.q.Kind == quantity.Percent && d.written == 0 {
		return marked
	}
	return 0.05
}

// same reports a value of the kind that is looked for.
func (d derivation) same(p placed) bool {
	if p.Kind == quantity.Number && d.q.Kind == quantity.Money && p.Low >= 1000 { // 4.5 million more
		return true
	}
	return p.Kind == d.q.Kind && (p.Unit == d.q.Unit || p.Kind == quantity.Money && sameCurrency(p.Unit, d.q.Unit, "", "") == d.q.Unit || strings.HasPrefix(p.Unit, d.q.Unit+"/")) || d.q.Kind == quantity.Points && p.Kind == quantity.Percent
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
	if d.q.Bound == quantity.AtLeast {
		return between > size && between <= 1.25*size
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
