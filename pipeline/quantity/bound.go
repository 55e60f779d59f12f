package quantity

import (
	"strings"
	"unicode/utf8"
)

// limit is a phrase before a number that gives its bound.
type limit struct {
	words string
	bound Bound
}

var boundKinds = map[string]Bound{"about": About, "atleast": AtLeast, "atmost": AtMost}

// limitsByEnd maps the last rune of each limit to the limits.
var limitsByEnd = func() map[rune][]limit {
	found := map[rune][]limit{}
	for _, entry := range lists["bound"] {
		for _, words := range entry.words {
			r, _ := utf8.DecodeLastRuneInString(words)
			found[r] = append(found[r], limit{words, boundKinds[entry.key]})
		}
	}
	return found
}()

// bound sets the bound of a quantity from the words before and after it.
func (p input) bound(q *Quantity) {
	if q.Kind == Label {
		return
	}
	before := strings.ToLower(strings.TrimRight(p.s[max(0, q.Start-24):q.Start], " \u00a0\n"))
	before = strings.TrimSuffix(strings.TrimSuffix(before, " a"), " the")
	last, _ := utf8.DecodeLastRuneInString(before)
	best := ""
	for _, l := range limitsByEnd[last] {
		rest, ok := strings.CutSuffix(before, l.words)
		first, _ := utf8.DecodeRuneInString(l.words)
		if r, _ := utf8.DecodeLastRuneInString(rest); !ok || len(l.words) <= len(best) || isLetter(r) && isLetter(first) {
			continue // "moreover 5" is not "over 5"
		}
		best, q.Bound = l.words, l.bound
	}
	if strings.ContainsAny(p.s[q.Start:q.End], "多余") {
		q.Bound = AtLeast
	}
	if best != "" || q.Bound != Exact {
		return
	}
	for _, entry := range lists["behind"] {
		for _, words := range entry.words {
			if strings.HasPrefix(p.s[q.End:], words) {
				q.Bound = boundKinds[entry.key]
			}
		}
	}
}
