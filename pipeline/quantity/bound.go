package quantity

import (
	"strings"
	"unicode/utf8"
)

var boundKinds = map[string]Bound{"about": About, "atleast": AtLeast, "atmost": AtMost}

// bound sets the bound of a quantity from the words before and after it.
func (p input) bound(q *Quantity) {
	if q.Kind == Label {
		return
	}
	before := strings.ToLower(strings.TrimRight(p.s[max(0, q.Start-24):q.Start], " \u00a0\n"))
	before = strings.TrimSuffix(strings.TrimSuffix(before, " a"), " the")
	best := ""
	for _, entry := range lists["bound"] {
		for _, words := range entry.words {
			rest, ok := strings.CutSuffix(before, words)
			first, _ := utf8.DecodeRuneInString(words)
			if r, _ := utf8.DecodeLastRuneInString(rest); !ok || len(words) <= len(best) || isLetter(r) && isLetter(first) {
				continue // "moreover 5" is not "over 5"
			}
			best, q.Bound = words, boundKinds[entry.key]
		}
	}
}
