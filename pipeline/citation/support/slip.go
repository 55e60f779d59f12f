package support

import (
	"strings"

	"nightdesk/pipeline/quantity"
)

// slip returns the figure of the units that bear on a sentence of which v is a slip of the pen: the same digits with
// another unit or magnitude, or the same unit and one edit of the digits, as most misspellings are (Damerau 1964, "A
// technique for computer detection and correction of spelling errors"). Of a date in another year than all of them, it
// is the one of the best unit: dates are told and not computed. "" when there is none: that a figure is in no source
// and that no computation of it was found is no proof against it, since writers round, and compute what this package
// does not.
func (v value) slip(docs []*document, near units) string {
	own := digits(v.text)
	a := strings.Trim(own, "0")
	if v.Kind == quantity.Label || a == "" {
		return ""
	}
	date, best, years := "", 0, map[int]bool{}
	for _, d := range docs {
		for _, o := range d.values {
			rank, bears := near[d][d.unitAt(o.Start)]
			if !bears || o.Kind == quantity.Label {
				continue
			}
			if v.Kind == quantity.Date && o.Kind == v.Kind {
				years[o.year()] = true
				if (o.When.Month > 0) != (v.When.Month > 0) {
					continue // a year is no slip of a month
				}
				if date == "" || rank < best {
					date, best = o.text, rank
				}
			}
			other := digits(o.text)
			same := own == other || a == strings.Trim(other, "0") && len(a) > 1
			if same && len(a) < 3 && !v.likeKind(o) {
				continue // two digits are shared by chance
			}
			if len(own) > 1 && (same || v.Unit == o.Unit && oneEdit(own, other)) {
				return o.text
			}
		}
	}
	if years[v.year()] { // its month may stand there in words that are no date
		return ""
	}
	return date
}

// rival returns the figure of v's kind and unit in the unit that matches the sentence best, "" when there is none: two
// sentences about one thing that give different numbers contradict each other (de Marneffe, Rafferty and Manning 2008,
// "Finding contradictions in text"). A model that reads both knows better whether they are about one thing.
func (v value) rival(docs []*document, near units) string {
	if v.Kind == quantity.Label || v.Kind == quantity.Date {
		return ""
	}
	for _, d := range docs {
		for _, o := range d.values {
			if rank, bears := near[d][d.unitAt(o.Start)]; bears && rank == 0 && v.likeKind(o) && v.Unit == o.Unit {
				return o.text
			}
		}
	}
	return ""
}

// likeKind reports whether two figures are both money, both shares, both measures, ...
func (v value) likeKind(o value) bool {
	share := func(k quantity.Kind) bool { return k == quantity.Percent || k == quantity.Points }
	return v.Kind == o.Kind || share(v.Kind) && share(o.Kind)
}

// oneEdit reports whether two texts of one length differ in one place at most, or in two neighbouring ones that are
// exchanged.
func oneEdit(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if i == len(a) {
		return true
	}
	exchanged := i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	return exchanged || a[i+1:] == b[i+1:]
}
