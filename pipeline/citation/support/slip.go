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
			if !bears || o.Kind == quantity.Label || v.Kind == quantity.Percent && v.Low+o.Low == 100 { // the rest
				continue
			}
			if v.Kind == quantity.Date && o.Kind == v.Kind {
				years[o.When.Year] = true
				if (o.When.Month > 0) != (v.When.Month > 0) {
					continue // a year is not a misstated month
				}
				if date == "" || rank < best {
					date, best = o.text, rank
				}
			}
			if v.misstates(o, own, a) {
				return o.text
			}
		}
	}
	if years[v.When.Year] { // its month may be given in words that are not parsed as a date
		return ""
	}
	return date
}

// misstates reports whether v has the digits of o with another unit, or is one edit away from it. own: the digits of v;
// a: the same without zeros at the ends.
func (v value) misstates(o value, own, a string) bool {
	other := digits(o.text)
	same := own == other || a == strings.Trim(other, "0") && len(a) > 1
	oneUnit := v.Unit == o.Unit
	switch {
	case len(own) < 2: // 6 km for 6 m
		return same && oneUnit && v.Kind == quantity.Measure
	case same && len(a) < 3 && !v.likeKind(o): // two shared digits may be chance
		return false
	}
	return same || oneUnit && oneEdit(own, other)
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
