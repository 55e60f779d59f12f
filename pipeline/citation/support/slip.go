package support

import "nightdesk/pipeline/quantity"

// slip returns the figure of a relevant unit that v probably misstates: the same digits with another unit, magnitude or
// month, or one digit or two neighbours different. It returns "" if there is none. An absent figure alone proves
// nothing, because writers round and compute.
func (v value) slip(docs []*document, near units) string {
	own := digits(v.text)
	if v.Kind == quantity.Label || len(own) < 2 {
		return ""
	}
	for _, d := range docs {
		for _, o := range d.values {
			other := digits(o.text)
			rest := v.Kind == quantity.Percent && v.Low+o.Low == 100
			like := near[d][d.unitAt(o.Start)] && v.Kind == o.Kind && !rest
			if like && (own == other || v.Unit == o.Unit && oneEdit(own, other)) {
				return o.text
			}
		}
	}
	return ""
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
