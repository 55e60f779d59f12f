package support

import (
	"slices"

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

const (
	bestUnits = 8   // units of a source taken by BM25, each with its neighbours and its lead
	fewWords  = 0.5 // share of the sentence's words up to which a source cannot be ranked, and all its units count
)

// units holds the relevant units of each document.
type units map[*document]map[int]bool

func relevantUnits(sentence string, docs []*document) units {
	near := units{}
	for _, d := range docs {
		near[d] = map[int]bool{}
		for _, u := range d.ranked(sentence, bestUnits) {
			near[d][u], near[d][u-1], near[d][u+1], near[d][d.units[u].lead] = true, true, true, true
		}
		for u := range d.units {
			near[d][u] = near[d][u] || d.words().Coverage(sentence) <= fewWords
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
			bears := near[d][d.unitAt(o.Start)]
			if bears || !ok {
				place, ok = []Span{{d.ID, o.Start, o.End}}, true
			}
			if bears {
				return place, true
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
