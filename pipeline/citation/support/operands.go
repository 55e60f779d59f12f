package support

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// slipped reports that a source has the figures of a value in another order.
func (t *text) slipped(q quantity.Quantity, raw string) bool {
	digits := []byte(strings.ReplaceAll(figures(raw), ".", ""))
	if len(digits) < 2 || len(digits) < 3 && q.Kind == quantity.Number {
		return false
	}
	slices.Sort(digits)
	for _, p := range t.quantities {
		if p.Kind != q.Kind || p.Unit != q.Unit || figures(p.raw) == figures(raw) {
			continue
		}
		other := []byte(strings.ReplaceAll(figures(p.raw), ".", ""))
		if len(other) != len(digits) || len(strings.TrimLeft(p.raw, "0123456789.,' ")) != len(strings.TrimLeft(raw, "0123456789.,' ")) {
			continue
		}
		slices.Sort(other)
		if slices.Equal(digits, other) {
			return true
		}
	}
	return false
}

// operands returns the values of the passages of a source that have most of the sentence's words, by passage.
func (s *statement) operands(t *text, ws []window) [][]placed {
	count := map[int]float64{}
	for _, term := range s.terms {
		for _, u := range t.postings[term.text] {
			count[u] += term.weight / float64(len(t.postings[term.text])) // a rare word tells most
		}
	}
	for _, w := range ws {
		if w.text == t && w.first >= 0 {
			for u := max(0, w.first-1); u <= min(w.last+3, len(t.units)-1); u++ {
				count[u] += 0.1
			}
		}
	}
	units := make([]int, 0, len(count))
	for u := range count {
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b int) int { return cmp.Or(cmp.Compare(count[b], count[a]), a-b) })
	var out [][]placed
	for _, u := range units[:min(len(units), derivePlaces)] {
		at, _ := slices.BinarySearchFunc(t.quantities, t.units[u].start, func(p placed, b int) int { return p.Start - b })
		var values []placed
		for ; at < len(t.quantities) && t.quantities[at].Start < t.units[u].end && len(values) < 12; at++ {
			if p := t.quantities[at]; p.Kind != quantity.Label && p.Kind != quantity.Ordinal {
				values = append(values, p)
			}
		}
		if len(values) > 0 {
			out = append(out, values)
		}
	}
	return append(out, s.columns(t)...)
}

// columns returns the values of the columns of tables whose heads have a word of the sentence.
func (s *statement) columns(t *text) [][]placed {
	var out [][]placed
	for table := 1; len(out) < derivePlaces; table++ {
		if t.lines[tableLine{table, 1, 0}] == nil && t.lines[tableLine{table, 2, 0}] == nil {
			return out
		}
		for column := 1; column < 12; column++ {
			cells := t.lines[tableLine{table, 0, column}]
			if len(cells) == 0 || !s.hasAny(t.cells[t.quantities[cells[0]].Start].head) {
				continue
			}
			var values []placed
			for _, i := range cells[:min(len(cells), 12)] {
				values = append(values, t.quantities[i])
			}
			out = append(out, values)
		}
	}
	return out
}

func (s *statement) hasAny(terms map[string]bool) bool {
	for _, term := range s.terms {
		if terms[term.text] {
			return true
		}
	}
	return false
}

// The fourth week in a row makes four; who was sixth has place 6.
var (
	ordinals       = []string{2: "", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"}
	germanOrdinals = []string{2: "", "dritte", "vierte", "fünfte", "sechste", "siebte", "achte", "neunte", "zehnte", "elfte", "zwölfte"}
	ranks          = set(`place rank position platz rang tabellenplatz`)
)

// nth reports that a source has the ordinal of a small number.
func (t *text) nth(raw string) bool {
	n := int(writtenValue(raw))
	if n <= 2 || n >= len(ordinals) {
		return false
	}
	german := germanOrdinals[n]
	return t.has[ordinals[n]] || t.has[german] || t.has[german+"r"] || t.has[german+"n"]
}

// others reports that a source names some and counts the rest: Tessel, Nordvik and 23 other firms.
func (t *text) others(q quantity.Quantity) bool {
	if q.Kind != quantity.Number {
		return false
	}
	for _, p := range t.quantities {
		if p.Kind == quantity.Number && p.Low < q.Low && q.Low-p.Low <= 6 {
			i, _ := slices.BinarySearchFunc(t.words, p.End, func(w word, b int) int { return w.start - b })
			if i < len(t.words) && (t.words[i].low == "other" || t.words[i].low == "others") {
				return true
			}
		}
	}
	return false
}

// othersIn reports that the passage with most of the sentence's words names some and counts the rest.
func (s *statement) othersIn(q quantity.Quantity, w window) bool {
	return w.first >= 0 && slices.ContainsFunc(w.text.quantities, func(p placed) bool { return p.unit >= w.first && p.unit <= w.last }) && w.text.others(q)
}

// differs reports a sentence of a source with two numbers that differ by just so much.
func (t *text) differs(q quantity.Quantity) bool {
	for i, a := range t.quantities {
		for _, b := range t.quantities[i+1 : min(len(t.quantities), i+6)] {
			if a.unit == b.unit && a.Kind == quantity.Number && b.Kind == quantity.Number && q.Low > 10 && math.Abs(a.Low-b.Low) == q.Low {
				return true
			}
		}
	}
	return false
}

// few returns the values of the kind of a quantity when a source has so few that any of them may be meant.
func (t *text) few(q quantity.Quantity) []placed {
	var out []placed
	for _, p := range t.quantities {
		if p.Kind == q.Kind && p.Unit == q.Unit {
			if out = append(out, p); len(out) > 12 {
				return nil
			}
		}
	}
	for _, about := range t.aboutFound {
		if about.Kind == q.Kind && about.Unit == q.Unit {
			out = append(out, placed{Quantity: about, raw: t.About[about.Start:about.End]})
		}
	}
	return out
}
