package support

import (
	"strings"

	"nightdesk/pipeline/quantity"
)

// slip returns the source figure that v probably misstates: the same digits with another unit, or one edit away
// (Damerau 1964, "A technique for computer detection and correction of spelling errors"). For a date whose year no
// relevant unit has, it is the date of the best unit. It returns "" if there is none. An absent figure alone proves
// nothing, because writers round and compute.
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
					continue // a year is not a misstated month
				}
				if date == "" || rank < best {
					date, best = o.text, rank
				}
			}
			other := digits(o.text)
			same := own == other || a == strings.Trim(other, "0") && len(a) > 1
			if same && len(a) < 3 && !v.likeKind(o) {
				continue // two shared digits may be chance
			}
			if len(own) > 1 && (same || v.Unit == o.Unit && oneEdit(own, other)) {
				return o.text
			}
		}
	}
	if years[v.year()] { // its month may be given in words that are not parsed as a date
		return ""
	}
	return date
}

// rival returns the figure of v's kind and unit in the unit that matches the sentence best, or "". Two sentences about
// the same thing that give different numbers contradict each other (de Marneffe, Rafferty and Manning 2008, "Finding
// contradictions in text"). A model that reads both knows better whether they are about the same thing.
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

// likeKind reports whether two figures are of the same kind. Percent and percentage points are one kind.
func (v value) likeKind(o value) bool {
	share := func(k quantity.Kind) bool { return k == quantity.Percent || k == quantity.Points }
	return v.Kind == o.Kind || share(v.Kind) && share(o.Kind)
}

// oneEdit reports whether two texts of the same length differ in at most one character, or in two swapped neighbours.
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
