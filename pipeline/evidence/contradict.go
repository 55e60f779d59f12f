package evidence

import (
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/quantity"
)

// contradict reports whether two claims cannot both be true, of which kind the contradiction is, and the two values as
// written. It prefers silence to a false alarm: the claims must name the same subject in the same words, at the same
// time and under the same limits, and differ in one value alone.
func contradict(a, b said) (kind, valueA, valueB string, ok bool) {
	if !sameSubject(a, b) || !sameTime(a, b) {
		return "", "", "", false
	}
	if a.negations != b.negations {
		certain := min(a.negations, b.negations) == 0 && max(a.negations, b.negations) == 1 && len(a.terms) >= 3 &&
			ofOneDay.equal(a.values, b.values) && !hedged(a.text) && !hedged(b.text)
		return ContradictsNegation, "", "", certain
	}
	va, vb, ok := ofOneDay.onlyDifference(a.values, b.values)
	if !ok {
		return "", "", "", false
	}
	kind = ContradictsValue
	if va.Kind == quantity.Date {
		kind = ContradictsDate
	} else if changes(va) && (otherYear(a, b) || moves(a)) {
		return "", "", "", false
	}
	return kind, va.text, vb.text, true
}

// sameSubject reports that the claims are about one thing: the same content words, and a name among them, or sources
// that are about the same.
func sameSubject(a, b said) bool {
	if !slices.Equal(a.terms, b.terms) || len(a.terms) < 2 || !slices.Equal(a.ordinals, b.ordinals) {
		return false
	}
	if lacks(a.names, b.names) && lacks(b.names, a.names) {
		return false
	}
	if slices.ContainsFunc(a.names, func(n string) bool { return slices.Contains(b.names, n) }) {
		return true
	}
	return a.source.Title != "" && extractive.Similarity(a.source.Title, b.source.Title) >= 0.6
}

// sameTime reports that both claims hold at the same named times, or neither names one.
func sameTime(a, b said) bool {
	if len(a.times) == 0 || len(b.times) == 0 {
		return len(a.times) == len(b.times)
	}
	covered := func(x, y []quantity.Quantity) bool {
		return !slices.ContainsFunc(x, func(q quantity.Quantity) bool {
			return !slices.ContainsFunc(y, func(o quantity.Quantity) bool { return q.When == o.When && q.To == o.To })
		})
	}
	return covered(a.times, b.times) && covered(b.times, a.times)
}

// changes reports a value that another year may change: counts, money, shares, temperatures. Lengths and the like stay.
func changes(v value) bool {
	return v.Kind == quantity.Number || v.Kind == quantity.Money || v.Kind == quantity.Percent || v.Kind == quantity.Points ||
		v.Unit == "K" || strings.Contains(v.Unit, "/")
}

// otherYear reports claims without a time of their own whose sources are of different years.
func otherYear(a, b said) bool {
	return len(a.times) == 0 && len(a.source.Date) >= 4 && len(b.source.Date) >= 4 && a.source.Date[:4] != b.source.Date[:4]
}

// moves reports a claim that something rose or fell, without saying when: it may do so again.
func moves(s said) bool {
	return len(s.times) == 0 && slices.ContainsFunc(s.terms, func(t string) bool { return moving[t] })
}

// hedged reports wording that denies less than it seems to.
func hedged(text string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc([]string{
		"not only", "not just", "not all", "not always", "not every", "not necessarily", "no longer", "not yet", "not until", "never before", "not fully",
		"may", "might", "could", "can ", "some ", "often", "usually", "sometimes", "partly", " if ", "unless", "when ", "without", "except",
		"nicht nur", "nicht alle", "nicht mehr", "noch nicht", "nicht immer", "manchmal", "teils", "kann ", "können", "不仅", "不一定", "不再", "不都", "可能",
	}, func(h string) bool { return strings.Contains(text, h) })
}
