package support

import (
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// values returns a quantity and those of its kind and unit.
func values(of quantity.Quantity, all []quantity.Quantity) []quantity.Quantity {
	var out []quantity.Quantity
	for _, o := range all {
		if o.Start == of.Start || alikeKind(of, o) {
			out = append(out, o)
		}
	}
	return out
}

// countAlike reports numbers of which neither counts another thing than the other.
func countAlike(words []word, a, b quantity.Quantity) bool {
	x, y := nounBehind(words, a.End), nounBehind(words, b.End)
	return a.Kind != quantity.Number || x == "" || y == "" || x == y
}

// alikeKind reports quantities that could stand for each other: one unit, or both times; years with years, days with days.
func alikeKind(a, b quantity.Quantity) bool {
	switch {
	case a.Kind != b.Kind:
		return false
	case a.Kind == quantity.Date:
		return (a.When.Month > 0) == (b.When.Month > 0) && (a.When.Day > 0) == (b.When.Day > 0)
	case a.Unit == b.Unit, strings.HasPrefix(a.Unit, b.Unit+"/"), strings.HasPrefix(b.Unit, a.Unit+"/"):
		return true
	}
	time := func(u string) bool { return u == "s" || u == "month" }
	return time(a.Unit) && time(b.Unit)
}

// nounBehind returns the content word that follows a number at once, "" when something else does.
func nounBehind(words []word, end int) string {
	i, _ := slices.BinarySearchFunc(words, end, func(w word, b int) int { return w.start - b })
	if i < len(words) && words[i].start-end <= 1 && !words[i].number() {
		return words[i].term()
	}
	return ""
}

// smallNoun is nounBehind for words that begin with a small letter: two December assaults count no months.
func smallNoun(words []word, end int) string {
	i, _ := slices.BinarySearchFunc(words, end, func(w word, b int) int { return w.start - b })
	if i < len(words) && words[i].capital() {
		return ""
	}
	return nounBehind(words, end)
}

// inUnit returns the quantities of a unit, at most twenty.
func (t *text) inUnit(unit int) []quantity.Quantity {
	u := t.units[unit]
	at, _ := slices.BinarySearchFunc(t.quantities, u.start, func(p placed, b int) int { return p.Start - b })
	var out []quantity.Quantity
	for ; at < len(t.quantities) && t.quantities[at].Start < u.end && len(out) < 20; at++ {
		out = append(out, t.quantities[at].Quantity)
	}
	return out
}
