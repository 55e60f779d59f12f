package support

import (
	"slices"

	"nightdesk/pipeline/quantity"
)

// ofAnotherDate reports a value that its clause gives for another date than the sentence does, or whose date stands with
// another value of the kind: "in 2018 it was 18.9%" is not of 2023, and of "54.2%, after 61.7% in 2018" the first is not of
// 2018. It is told only where the sentence has one date and one such value.
func (t *text) ofAnotherDate(s *statement, q quantity.Quantity, p placed) bool {
	if q.Kind == quantity.Date || q.Unit == "s" || q.Unit == "month" || s.announces(q) {
		return false
	}
	var when *quantity.Quantity
	for i, o := range s.quantities {
		switch {
		case o.Kind == quantity.Date && (when != nil || o.When.Year == 0 || !o.To.Zero()), o.Start != q.Start && alikeKind(q, o):
			return false
		case o.Kind == quantity.Date:
			when = &s.quantities[i]
		}
	}
	if when == nil || when.Start > 0 && !datedBy[wordBefore(s.words, when.Start)] {
		return false
	}
	own, other := t.clauseDates(p.unit, p.Quantity, *when)
	if own {
		return false
	}
	if other {
		return true
	}
	for _, v := range t.rivals(s, q, p.unit, p) {
		theirs, other := t.clauseDates(p.unit, v.Quantity, *when)
		if theirs && (v.Start > p.Start || t.compared(p) || t.datesIn(p.unit) > 1) || other && !theirs && v.Start < p.Start && t.bareClause(p) {
			return true
		}
	}
	return false
}

// datesIn counts the dates of a unit.
func (t *text) datesIn(unit int) (n int) {
	for _, q := range t.inUnit(unit) {
		if q.Kind == quantity.Date {
			n++
		}
	}
	return n
}

// compared reports a value that others are held against: up from 16, after 16 the year before. Another one without a date is of the
// date that the clauses before it name: in 2023 China had 23 and Germany 5.
func (t *text) compared(p placed) bool {
	return slices.ContainsFunc(t.clauseWords(p), func(w word) bool { return heldAgainst[w.low] })
}

// bareClause reports a value whose clause has but names and values: what it is a value of, and of when, the clauses before it say.
func (t *text) bareClause(p placed) bool {
	names, values := 0, t.inUnit(p.unit)
	for _, w := range t.clauseWords(p) {
		switch {
		case w.term() == "", slices.ContainsFunc(values, func(v quantity.Quantity) bool { return w.start >= v.Start && w.end <= v.End }):
		case w.capital():
			names++
		default:
			return false
		}
	}
	return names > 0
}

// clauseWords returns the words of the clause around a value.
func (t *text) clauseWords(p placed) []word {
	u := t.units[p.unit]
	from, to := max(u.start, cutBefore(t.Text, p.Start)), min(u.end, cutBehind(t.Text, p.End))
	return slices.DeleteFunc(slices.Clone(t.words[u.from:u.to]), func(w word) bool { return w.start < from || w.end > to })
}

var heldAgainst = set(`from after before than against versus vs compared comparing earlier previous previously prior former formerly last
	zuvor vorher vorjahr vorjahres gegenüber nach statt noch früher`)

// datedBy are the words before a date that a value is of, and not compared with.
var datedBy = set(`in im of for jahr year`)

// clauseDates reports whether the clause around a value names this date, and whether it names another one.
func (t *text) clauseDates(unit int, v, when quantity.Quantity) (same, other bool) {
	u := t.units[unit]
	from, to := max(u.start, cutBefore(t.Text, v.Start)), min(u.end, cutBehind(t.Text, v.End))
	for _, d := range t.inUnit(unit) {
		if d.Kind != quantity.Date || d.Start < from || d.End > to || d.When.Year == 0 {
			continue
		}
		if agreeDates(when, d) != apart || agreeDates(d, when) != apart {
			same = true
		} else if _, rank := cutRank(t.Text, t.words[u.from:u.to], min(v.End, d.End), max(v.Start, d.Start)); rank < cutWord { // 6% more than before and as many as in 2016
			other = true
		}
	}
	return same, other
}

// ofAnotherName reports a value that stands with another name than the one that the sentence says it of, which has a value
// of its own behind it: Quill got 41.3%, Dunmore 33.8%.
func (t *text) ofAnotherName(s *statement, q quantity.Quantity, p placed) bool {
	if len(s.names) == 0 || slices.ContainsFunc(s.quantities, func(o quantity.Quantity) bool { return o.Start != q.Start && alikeKind(q, o) }) {
		return false
	}
	x := s.words[s.names[0].words[len(s.names[0].words)-1]]
	if x.start > q.Start {
		return false
	}
	var before, mine *run // the last name before the value, and that of the sentence behind it
	for _, g := range t.nameParts(p.unit) {
		for i, r := range g.names {
			switch named := slices.ContainsFunc(t.words[r.first:r.last+1], func(w word) bool { return w.low == x.low }); {
			case named && t.words[r.first].start < p.Start:
				return false
			case named:
				mine = &g.names[i]
			case t.words[r.first].start < p.Start && (before == nil || r.first > before.first):
				before = &g.names[i]
			}
		}
	}
	if before == nil || mine == nil || t.told(s, p) || roleOf(t.Text, t.words, 0, *mine) != "" && !clauseBetween(t.Text, p.End, t.words[mine.first].start) { // 31 million came from Ostmark
		return false
	}
	for _, v := range t.rivals(s, q, p.unit, p) {
		if v.Start < t.words[mine.last].end {
			continue
		}
		for _, g := range t.nameParts(p.unit) {
			for _, r := range g.names {
				if r.first > mine.last && t.words[r.first].start < v.Start && roleOf(t.Text, t.words, g.from, r) != "of" {
					return false // it is of that one
				}
			}
		}
		return true
	}
	return false
}

// shortenedValue reports that the sentence gives value "at" of a unit the subject of a later one, i, which leaves the verb
// out: coal made up half, limestone a sixth.
func (t *text) shortenedValue(around surroundings, words []word, vs []quantity.Quantity, at, i int, u unit) bool {
	if around.contrast {
		return false
	}
	start := u.start
	if at > 0 {
		start = cutBetween(t.Text, words, vs[at-1].End, vs[at].Start)
	}
	end := u.end
	if i+1 < len(vs) {
		end = cutBetween(t.Text, words, vs[i].End, vs[i+1].Start)
	}
	subject := plainAnchors(anchorsIn(t.Text, words, start, vs[at].Start, vs))
	own := plainAnchors(anchorsIn(t.Text, words, start, cutBetween(t.Text, words, vs[at].End, vs[at+1].Start), vs))
	their := plainAnchors(anchorsIn(t.Text, words, cutBetween(t.Text, words, vs[i-1].End, vs[i].Start), vs[i].Start, vs))
	behind := plainAnchors(anchorsIn(t.Text, words, vs[i].End, end, vs))
	return len(their) > 0 && len(their) <= 2 && len(behind) <= 1 && covers(around.all, their) && len(shared(own, their)) == 0 &&
		!covers(around.all, subject) && len(shared(own, around.all)) > 0
}

// ofAnotherTime reports a value that the source sentence gives for another date: of $145 in 2021 and $97 in 2024, the
// second is not that of 2021. It is told only where values and dates take turns.
func (t *text) ofAnotherTime(s *statement, q quantity.Quantity, p placed) bool {
	if q.Kind == quantity.Date || p.Kind == quantity.Date {
		return false
	}
	var when *quantity.Quantity // that the sentence gives for the value
	for i := range s.quantities {
		d := &s.quantities[i]
		if d.Kind == quantity.Date && (d.Start >= q.End && d.Start-q.End < 30 || q.Start >= d.End && q.Start-d.End < 30) {
			if when != nil {
				return false // which one cannot be told
			}
			when = d
		}
	}
	if when == nil || !when.To.Zero() {
		return false
	}
	u := t.units[p.unit]
	var row []placed
	at, _ := slices.BinarySearchFunc(t.quantities, u.start, func(p placed, b int) int { return p.Start - b })
	for ; at < len(t.quantities) && t.quantities[at].Start < u.end && len(row) < 40; at++ {
		if o := t.quantities[at]; o.Kind == quantity.Date || o.Kind == p.Kind && o.Unit == p.Unit {
			row = append(row, o)
		}
	}
	if len(row) < 4 || len(row)%2 != 0 {
		return false
	}
	for i := range row[1:] {
		if (row[i].Kind == quantity.Date) == (row[i+1].Kind == quantity.Date) {
			return false
		}
	}
	for i, o := range row {
		if o.Start == p.Start {
			date := row[i^1] // its neighbour in the pair
			return agreeDates(*when, date.Quantity) == apart
		}
	}
	return false
}
