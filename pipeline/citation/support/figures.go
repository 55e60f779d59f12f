package support

import (
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// maxFigures is the maximum number of figures of a sentence that are checked.
const maxFigures = 60

// figuresOf checks the figures of a sentence. head: the header row, if the sentence is a table row.
func figuresOf(sentence, head string, docs []*document) []Figure {
	if head != "" {
		sentence = rowText(sentence, head)
	}
	own := slices.DeleteFunc(valuesOf(sentence), func(v value) bool { return !v.figure() })
	own = own[:min(len(own), maxFigures)]
	if len(own) == 0 {
		return nil
	}
	for _, d := range docs {
		d.read()
	}
	near := relevantUnits(sentence, docs)
	out := make([]Figure, len(own))
	for i, v := range own {
		out[i] = Figure{Text: v.text, Result: Absent}
		if spans, ok := v.find(docs, near); ok {
			out[i].Result, out[i].Spans = Found, spans
		} else {
			out[i].Instead = v.slip(docs, near)
		}
	}
	return out
}

// rowText returns a table row with the units of its header row added.
func rowText(row, head string) string {
	heads, cells := cellsOf(head), cellsOf(row)
	for i, cell := range cells {
		cell = strings.TrimSpace(cell)
		if v := valuesOf(cell); i < len(heads) && len(v) == 1 && v[0].text == cell && v[0].bare() {
			if unit := inBrackets(heads[i]); unit != "" {
				cell = withUnit(cell, unit)
			}
		}
		cells[i] = cell
	}
	return strings.Join(cells, " | ")
}

// units holds the relevant units of each document with their rank; 0 is the best match.
type units map[*document]map[int]int

const (
	bestUnits = 8   // units of a source taken by BM25, each with its neighbours and its lead
	fewWords  = 0.5 // share of the sentence's words up to which a source cannot be ranked, and all its units count
)

func relevantUnits(sentence string, docs []*document) units {
	near := units{}
	for _, d := range docs {
		near[d] = map[int]int{}
		add := func(rank int, units ...int) {
			for _, u := range units {
				if _, known := near[d][u]; !known {
					near[d][u] = rank
				}
			}
		}
		best := d.ranked(sentence, bestUnits)
		for rank, u := range best {
			add(2*rank, u)
			add(2*rank+1, u-1, u+1, d.units[u].lead)
		}
		if d.words().Coverage(sentence) <= fewWords {
			for u := range d.units {
				add(2*len(best), u)
			}
		}
	}
	return near
}

// find returns the position of a figure, preferably in a unit relevant to the sentence. There is no position if only
// the metadata of a source has the figure.
func (v value) find(docs []*document, near units) (place []Span, ok bool) {
	for _, d := range docs {
		for _, o := range d.values {
			if !v.says(o) || v.Kind == quantity.Date && o.Kind == quantity.Date && !d.hasYear(v, o) {
				continue
			}
			if _, bears := near[d][d.unitAt(o.Start)]; bears || !ok {
				place, ok = []Span{{d.ID, o.Start, o.End}}, true
				if bears {
					return place, true
				}
			}
		}
	}
	if ok {
		return place, true
	}
	for _, d := range docs {
		if slices.ContainsFunc(d.about, v.says) {
			return nil, true
		}
		if start, end, ok := d.folded().Find(v.text); ok && v.Kind != quantity.Number {
			return []Span{{d.ID, start, end}}, true
		}
	}
	return nil, false
}

// hasYear reports whether the source names the year of v anywhere, if o gives only day and month.
func (d *document) hasYear(v, o value) bool {
	if v.When.Year == 0 || o.When.Year > 0 {
		return true
	}
	said := func(o value) bool { return o.Kind == quantity.Date && o.When.Year == v.When.Year }
	return slices.ContainsFunc(d.values, said) || slices.ContainsFunc(d.about, said)
}

// Factual reports whether a sentence contains a figure or quotation, which can be checked.
func Factual(sentence string) bool {
	sentence = plain(sentence)
	return slices.ContainsFunc(valuesOf(sentence), value.figure) || len(quotesOf(sentence)) > 0
}
