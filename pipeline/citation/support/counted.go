package support

import (
	"cmp"
	"math"
	"slices"
	"time"

	"nightdesk/pipeline/quantity"
)

// countedFrom reports a day or a span of years that can be counted from dates of the sources: two days later; from 2009 to 2015, for
// six years.
func (s *statement) countedFrom(q quantity.Quantity, texts []*text) bool {
	for _, t := range texts {
		dates := t.dates()
		switch {
		case q.Kind == quantity.Date && q.When.Day > 0:
			for _, p := range t.quantities {
				if p.Unit != "s" || math.Mod(p.Low, secondsOfDay) != 0 || t.near(s, p.unit) < someOfIt || !t.unitSays(p.unit, onward) {
					continue
				}
				if slices.ContainsFunc(dates, func(d placed) bool { return daysApart(q.When, d.When) == math.Abs(p.Low)/secondsOfDay }) {
					return true
				}
			}
		case q.Unit == "month" && q.Low == q.High && math.Mod(q.Low, 12) == 0:
			for i, a := range dates {
				if !a.To.Zero() && math.Abs(float64(a.To.Year-a.When.Year)) == q.Low/12 {
					return true
				}
				for _, b := range dates[i+1:] {
					if a.unit == b.unit && math.Abs(float64(b.When.Year-a.When.Year)) == q.Low/12 {
						return true
					}
				}
			}
		}
	}
	return false
}

const secondsOfDay = 86_400

// onward words count from a day.
var onward = set(`later after before earlier previous next following later danach davor später früher nach vor`)

// daysApart returns how many days lie between two days; -1 where one of them is none. A day without a year is of the other's.
func daysApart(a, b quantity.When) float64 {
	if a.Day == 0 || b.Day == 0 || a.Month == 0 || b.Month == 0 {
		return -1
	}
	a.Year, b.Year = cmp.Or(a.Year, b.Year), cmp.Or(b.Year, a.Year)
	day := func(w quantity.When) time.Time {
		return time.Date(w.Year, time.Month(w.Month), w.Day, 0, 0, 0, 0, time.UTC)
	}
	return math.Abs(day(a).Sub(day(b)).Hours() / 24)
}
