package evidence

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/text"
)

const (
	sameTerms = 0.8 // minimum likeness of equal statements with equal figures
	likely    = 0.4 // minimum likeness of claims for one to confirm another
)

// said is a parsed claim.
type said struct {
	text    string              // statement of the claim
	terms   []string            // content words without figures, sorted, distinct
	words   []string            // all words without figures, sorted
	figures []quantity.Quantity // in order
	values  []quantity.Quantity // the figures without dates; if there are none, the dates
	times   []quantity.Quantity // the dates, if there are other figures
	year    string              // year of the source; empty: unknown
}

// agrees reports whether one of the figures agrees with q.
func agrees(list []quantity.Quantity, q quantity.Quantity) bool {
	return slices.ContainsFunc(list, func(o quantity.Quantity) bool { return quantity.Agree(q, o) })
}

// within reports whether each figure agrees with one of others.
func within(list, others []quantity.Quantity) bool {
	return !slices.ContainsFunc(list, func(q quantity.Quantity) bool { return !agrees(others, q) })
}

// rival returns the values in which two claims differ. ok reports whether each has such a value and their dates do not
// exclude each other.
func rival(a, b said) (va, vb []quantity.Quantity, ok bool) {
	common := func(q quantity.Quantity) bool { return agrees(b.times, q) }
	apart := len(a.times) > 0 && len(b.times) > 0 && !slices.ContainsFunc(a.times, common)
	va, vb = differing(a.values, b.values), differing(b.values, a.values)
	return va, vb, !apart && len(va) > 0 && len(vb) > 0
}

// confirms reports whether claim b has all values of claim a, for the same time and with similar words.
func confirms(a, b said) bool {
	sameTime := len(b.times) == 0 || within(a.times, b.times)
	return len(a.values) > 0 && within(a.values, b.figures) && likeness(a, b) >= likely && sameTime
}

// understand parses a claim.
func understand(c Claim) said {
	s := said{text: c.Statement(), year: c.Source.Date[:min(len(c.Source.Date), 4)]}
	var rest strings.Builder
	at := 0
	for _, q := range quantity.Parse(s.text) {
		if q.Kind == quantity.Label { // part of the subject, as in "version 15"
			continue
		}
		rest.WriteString(s.text[at:q.Start] + " ")
		s.figures = append(s.figures, q)
		if at = q.End; q.Kind == quantity.Date {
			s.times = append(s.times, q)
		} else {
			s.values = append(s.values, q)
		}
	}
	if len(s.values) == 0 {
		s.values, s.times = s.times, nil
	}
	rest.WriteString(s.text[at:])
	s.terms, s.words = text.TermSet(rest.String()), text.Words(rest.String())
	slices.Sort(s.words)
	return s
}

// same reports whether two claims state the same: equal figures with similar words, or the same words.
func same(a, b said) bool {
	equal := slices.EqualFunc(sorted(a.figures), sorted(b.figures), quantity.Agree)
	return equal && (len(a.figures) > 0 && likeness(a, b) >= sameTerms || slices.Equal(a.words, b.words))
}

// sorted orders figures by kind and value, because a sentence may begin or end with its year.
func sorted(list []quantity.Quantity) []quantity.Quantity {
	return slices.SortedFunc(slices.Values(list), func(a, b quantity.Quantity) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Low, b.Low), cmp.Compare(a.When.Year, b.When.Year))
	})
}

// likeness returns the share of common content words of two claims (Dice 1945).
func likeness(a, b said) float64 {
	shared := 0
	for _, t := range a.terms {
		if _, ok := slices.BinarySearch(b.terms, t); ok {
			shared++
		}
	}
	return 2 * float64(shared) / float64(max(1, len(a.terms)+len(b.terms)))
}

// contradict reports whether two claims have the same words but differ in one value. Without dates, sources of
// different years may both be right.
func contradict(a, b said) bool {
	isDate := func(q quantity.Quantity) bool { return q.Kind == quantity.Date }
	dated := func(s said) bool { return s.year == "" || slices.ContainsFunc(s.figures, isDate) }
	va, vb, ok := rival(a, b)
	oneValue := ok && len(va) == 1 && len(vb) == 1 && len(a.figures) == len(b.figures)
	sameWords := len(a.terms) >= 2 && slices.Equal(a.words, b.words)
	sameYear := a.year == b.year || dated(a) && dated(b)
	return oneValue && sameWords && sameYear
}

// differing returns the figures that agree with none of others, but have one of the same kind and unit there.
func differing(list, others []quantity.Quantity) []quantity.Quantity {
	return slices.DeleteFunc(slices.Clone(list), func(q quantity.Quantity) bool {
		differs := func(o quantity.Quantity) bool { return quantity.Differ(q, o) }
		return agrees(others, q) || !slices.ContainsFunc(others, differs)
	})
}

// valuesOf returns the first values in which two claims differ, as written.
func valuesOf(a, b said) (kind, valueA, valueB string) {
	va, vb, _ := rival(a, b)
	for _, x := range va {
		i := slices.IndexFunc(vb, func(y quantity.Quantity) bool { return quantity.Differ(x, y) })
		if i < 0 {
			continue
		}
		if kind = ContradictsValue; x.Kind == quantity.Date {
			kind = ContradictsDate
		}
		return kind, a.text[x.Start:x.End], b.text[vb[i].Start:vb[i].End]
	}
	return ContradictsWords, "", ""
}

// Subject returns the words of a claim without its figures. Only claims with equal subjects can contradict each other,
// so claims of many runs can be grouped before Weigh compares them. It returns "" for a claim with too little content.
func Subject(c Claim) string {
	s := understand(c)
	if len(s.terms) < 2 || len(s.figures) == 0 {
		return ""
	}
	return strings.Join(s.words, " ")
}
