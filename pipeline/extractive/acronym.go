package extractive

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Acronyms returns the short forms that text itself introduces, with the words they stand for: "write-ahead logging
// (WAL)" gives WAL. A question that spells the words out is then answered by sentences that only use the short form,
// and the other way round.
func Acronyms(text string) map[string]string {
	out := map[string]string{}
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '(')
		if i < 0 {
			return out
		}
		open := at + i
		at = open + 1
		n := strings.IndexByte(text[at:min(len(text), at+9)], ')')
		if n < 2 || !shortForm(text[at:at+n]) {
			continue
		}
		if long := spelledOut(text[max(0, open-120):open], text[at:at+n]); long != "" {
			out[text[at:at+n]] = long
		}
	}
}

// shortForm reports two to seven letters, mostly capitals.
func shortForm(s string) bool {
	capitals := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			capitals++
		case c < 'a' || c > 'z':
			return false
		}
	}
	return capitals >= 2
}

// spelledOut returns the end of before whose words begin with the capitals of short, "" when there is none. Small
// words between them are skipped.
func spelledOut(before, short string) string {
	before = strings.TrimRightFunc(before, unicode.IsSpace)
	parts := strings.FieldsFunc(before, func(r rune) bool { return unicode.IsSpace(r) || r == '-' })
	initials := strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return r
		}
		return -1
	}, short))
	need := len(initials) - 1
	for i := len(parts) - 1; i >= 0 && len(parts)-i <= 2*len(initials); i-- {
		switch p := strings.ToLower(parts[i]); {
		case p[0] == initials[need]:
			if need--; need < 0 {
				return strings.Join(parts[i:], " ")
			}
		case stopWords[p]:
		default:
			return ""
		}
	}
	return ""
}

// expand adds to the query the short forms of what it spells out, and the words of the short forms it uses.
func (q *query) expand(text string, st stemmer) {
	found := Acronyms(text)
	for _, short := range slices.Sorted(maps.Keys(found)) { // in order, so that the same text always scores the same
		words := termsOf(found[short], st)
		key := strings.ToLower(short)
		asked := 0
		for _, t := range words {
			if q.weight[t.text] > 0 {
				asked++
			}
		}
		switch {
		case len(words) > 0 && asked == len(words):
			q.add(st.stem(key), weightName)
		case q.weight[st.stem(key)] > 0:
			for _, t := range words {
				q.add(t.text, weightCommon)
			}
		}
	}
}

// add gives the query a term that makes a text relevant without being asked for: enough stays as it is.
func (q *query) add(term string, weight float64) {
	if q.weight[term] == 0 {
		q.terms = append(q.terms, term)
		q.weight[term] = weight
	}
}
