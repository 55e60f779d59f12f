package support

import "slices"

// rivalName reports a name of a source that could stand where x stands: another one, that the part of the sentence does not
// have, and not one that stands beside x as a second name of it.
func (s *statement) rivalName(t *text, p part, x, y run) bool {
	for _, w := range t.words[y.first : y.last+1] {
		if slices.ContainsFunc(s.words[p.from:p.to], func(o word) bool { return o.low == w.low && o.low != "of" }) && w.low == t.words[y.last].low {
			return false
		}
	}
	if slices.ContainsFunc(s.words[x.first:x.last+1], func(o word) bool { return o.low == t.words[y.last].low }) ||
		slices.ContainsFunc(t.words[y.first:y.last+1], func(o word) bool { return o.low == s.words[x.last].low }) {
		return false
	}
	return !t.aliases(s.words[x.last].low, t.words[y.last].low)
}

// aliases reports that two names stand beside each other in a source with nothing but a bracket, a comma or an article
// between them.
func (t *text) aliases(a, b string) bool {
	key := [2]string{a, b}
	same, known := t.alias[key]
	if !known {
		if t.alias == nil {
			t.alias = map[[2]string]bool{}
		}
		same = t.besideEachOther(a, b)
		t.alias[key] = same
	}
	return same
}

func (t *text) besideEachOther(a, b string) bool {
	for i, w := range t.words {
		if w.low != a && w.low != b {
			continue
		}
		other := b
		if w.low == b {
			other = a
		}
		for j := i + 1; j < len(t.words) && j <= i+4 && (t.words[j].capital() || t.words[j].term() == ""); j++ {
			if t.words[j].low == other {
				return true
			}
			if t.words[j].low == "and" || t.words[j].low == "or" || t.words[j].low == "und" {
				break
			}
		}
	}
	return false
}
