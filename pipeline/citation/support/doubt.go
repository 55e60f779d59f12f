package support

import (
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// doubtful reports a value that may belong to something else: it stands in brackets behind another one of its kind, or
// another source sentence has all that the value is said of, and another value, and this one has not.
func (t *text) doubtful(s *statement, q quantity.Quantity, p placed, around map[string]bool, places []rivalPlace, own int) (doubt, certain bool) {
	here := t.rivals(s, q, p.unit, p)
	for _, v := range here {
		if between := t.Text[min(v.End, p.Start):p.Start]; strings.TrimSpace(between) == "(" {
			if _, also := s.says(v); !also {
				return true, false
			}
		}
	}
	if len(here) > 0 && s.bracketed(t, p) {
		return true, false
	}
	for term := range around {
		if t.inPosting(term, p.unit) || !t.unitOpposes(p.unit, term) {
			continue
		}
		for _, u := range t.postings[term][:min(len(t.postings[term]), maxPlaces)] {
			for _, other := range t.rivals(s, q, u, p) {
				if _, also := s.says(other); !also {
					return true, q.Kind == quantity.Date || q.Kind == quantity.Money
				}
			}
		}
	}
	for _, place := range places {
		if place.unit == p.unit || 3*place.words < 2*len(around) || own >= place.words {
			continue
		}
		doubt = doubt || place.words == len(around)
		for term := range around {
			if t.inPosting(term, place.unit) && !t.inPosting(term, p.unit) && (t.isName(term) && t.otherNameIn(s, p.unit) || t.unitOpposes(p.unit, term)) {
				return true, true
			}
		}
	}
	return doubt, false
}

// inPosting reports that a unit has a content word.
func (t *text) inPosting(term string, unit int) bool {
	_, there := slices.BinarySearch(t.postings[term], unit)
	return there
}

// bracketed reports a value in brackets with words of its own, of which the sentence has none: 21 goals (17 in the league).
func (s *statement) bracketed(t *text, p placed) bool {
	if p.Start == 0 || t.Text[p.Start-1] != '(' {
		return false
	}
	end := strings.IndexByte(t.Text[p.End:min(len(t.Text), p.End+80)], ')')
	if end <= 0 {
		return false
	}
	words := plainAnchors(anchorsIn(t.Text, t.words, p.End, p.End+end, nil))
	return len(words) > 0 && !slices.ContainsFunc(s.terms, func(term weighted) bool { return words[term.text] })
}

// otherNameIn reports a unit that has a name which the sentence does not have.
func (t *text) otherNameIn(s *statement, u int) bool {
	for _, g := range t.nameParts(u) {
		if g.pronoun >= 0 && len(g.names) == 0 {
			return false
		}
		for _, r := range g.names {
			if !slices.ContainsFunc(s.words, func(w word) bool { return w.low == t.words[r.last].low }) {
				return true
			}
		}
	}
	return false
}

// unitOpposes reports a unit with the opposite of a word.
func (t *text) unitOpposes(u int, term string) bool {
	for _, w := range t.words[t.units[u].from:t.units[u].to] {
		if opposites[term][w.low] || opposites[term][w.term()] {
			return true
		}
	}
	return false
}
