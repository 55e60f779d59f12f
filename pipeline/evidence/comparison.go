package evidence

import (
	"slices"

	"nightdesk/pipeline/quantity"
)

// comparison is how the quantities of two claims are compared. Claims of one day may both be true: more than 200 trees, and 312. Of two
// days, the later one stands in the place of the earlier, and another limit is another statement.
type comparison struct {
	agree, differ func(a, b quantity.Quantity) bool
}

var (
	ofOneDay  = comparison{quantity.Agree, quantity.Differ}
	ofTwoDays = comparison{quantity.Equal, func(a, b quantity.Quantity) bool {
		return a.Kind == b.Kind && a.Unit == b.Unit && !quantity.Equal(a, b)
	}}
)

// equal reports that each of the values of either list agrees with one of the other.
func (c comparison) equal(a, b []value) bool {
	return len(c.missing(a, b)) == 0 && len(c.missing(b, a)) == 0
}

// missing returns the values that agree with none of the others.
func (c comparison) missing(values, others []value) []value {
	return slices.DeleteFunc(slices.Clone(values), func(v value) bool {
		return slices.ContainsFunc(others, func(o value) bool { return c.agree(v.Quantity, o.Quantity) })
	})
}

// onlyDifference returns the one pair of values that differ; false when there are none or several, or when it is not
// clear which belong together.
func (c comparison) onlyDifference(a, b []value) (va, vb value, ok bool) {
	if len(a) != len(b) || len(a) == 0 {
		return value{}, value{}, false
	}
	taken := make([]bool, len(b))
	var restA []value
	for _, v := range a {
		i := slices.IndexFunc(b, func(o value) bool { return c.agree(v.Quantity, o.Quantity) && v.noun == o.noun })
		if i < 0 || taken[i] {
			restA = append(restA, v)
			continue
		}
		taken[i] = true
	}
	if len(restA) != 1 {
		return value{}, value{}, false
	}
	left := slices.Index(taken, false)
	va, vb = restA[0], b[left]
	if va.noun != vb.noun || !c.differ(va.Quantity, vb.Quantity) {
		return value{}, value{}, false
	}
	return va, vb, true
}
