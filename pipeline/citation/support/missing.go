package support

import (
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// standsThere reports that a quantity stands in a source exactly as in the sentence, whatever it is read as, and is no part
// of another one: 25 minutes of 1 hour and 25 minutes.
func (s *statement) standsThere(raw string, texts []*text) bool {
	needle := strings.TrimSpace(foldText(raw).text)
	for _, t := range texts {
		at := t.folded.find(needle, 0)
		if at < 0 {
			continue
		}
		start, end := t.folded.original(at, at+len(needle), len(t.Text))
		if !slices.ContainsFunc(t.quantities, func(p placed) bool { return p.Start < start && p.End >= end }) {
			return true
		}
	}
	return false
}

// standsApart reports a date whose year and month, or a range whose ends, stand in one place but apart.
func (s *statement) standsApart(q quantity.Quantity, texts []*text) bool {
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
