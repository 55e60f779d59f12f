package support

import (
	"strings"

	"nightdesk/pipeline/quantity"
)

// contradicts returns the word for a change that the sentence's own figures belie: fell from 3 to 4.
func (s *statement) contradicts() string {
	var from, to *quantity.Quantity
	for i := range s.quantities {
		q := &s.quantities[i]
		if q.Kind == quantity.Date || q.Low != q.High {
			continue
		}
		before := strings.Fields(strings.ToLower(s.text[max(0, q.Start-12):q.Start]))
		if len(before) == 0 {
			continue
		}
		switch before[len(before)-1] {
		case "from", "von":
			if from != nil {
				return ""
			}
			from = q
		case "to", "auf":
			if to != nil {
				return ""
			}
			to = q
		}
	}
	for i := range s.words {
		if side, ok := comparison(s.words, i); ok {
			if a, b, ok := compared(s.text, s.words[i]); ok && (a.Low-b.Low)*float64(side) < 0 && a.Bound == quantity.Exact && b.Bound == quantity.Exact {
				return s.words[i].raw
			}
		}
	}
	if from == nil || to == nil || from.Kind != to.Kind || from.Unit != to.Unit || from.Low == to.Low {
		return ""
	}
	side := 1
	if to.Low < from.Low {
		side = -1
	}
	word, wrong := "", false
	for _, t := range turns(s.text, s.words) {
		if t.pole.axis == change {
			if word != "" {
				return ""
			}
			word, wrong = t.raw, t.pole.side != side
		}
	}
	if wrong {
		return word
	}
	return ""
}

// crossed reports that what stands before a word such as "before" or "faster than" in the sentence stands behind it in
// the passage: A before B is B after A.
func (s *statement) crossed(m turn, p passage, o turn) bool {
	if !relates(s.words, m.at) || !relates(p.words, o.at) {
		return false
	}
	b1, a1 := sides(s.text, s.words, m.at)
	b2, a2 := sides(p.text, p.words, o.at)
	straight := len(shared(b1, b2)) + len(shared(a1, a2))
	cross := len(shared(b1, a2)) + len(shared(a1, b2))
	return cross > straight && cross >= 2
}

// otherSide reports a comparison of the sentence whose second part the passage calls the opposite by itself: A is more
// hopeful than B, and B is less hopeful.
func (s *statement) otherSide(m turn, p passage, o turn) bool {
	if !relates(s.words, m.at) || relates(p.words, o.at) {
		return false
	}
	first, second := sides(s.text, s.words, m.at)
	subject := clauseTerms(p.source.Text, p.words, p.words[o.at].start, p.words[0].start, p.words[o.at].start)
	return len(shared(subject, second)) > len(shared(subject, first))
}

// sides returns the content words on both sides of word at. What "after" begins a clause with ends with that clause, and
// the rest stands on its other side: "After the storm, they left" is "they left after the storm".
func sides(s string, words []word, at int) (before, behind map[string]bool) {
	before, behind = map[string]bool{}, map[string]bool{}
	marked := func(i int) bool { // a clause ends between words i-1 and i
		return i > 0 && i < len(words) && strings.ContainsAny(s[words[i-1].end:max(words[i-1].end, words[i].start)], ",;:，；")
	}
	ended := false
	for i := at + 1; i < len(words); i++ {
		ended = ended || marked(i) || turning[words[i].low]
		if term := words[i].term(); term != "" && ended {
			before[term] = true
		} else if term != "" {
			behind[term] = true
		}
	}
	for i := at - 1; i >= 0; i-- {
		if term := words[i].term(); term != "" {
			before[term] = true
		}
	}
	return before, behind
}

// turning words begin a clause that is no longer under the one before it.
var turning = set(`but while whereas although though aber während obwohl`)

// relates reports a word that stands between two things: before, after, or a comparative with "than".
func relates(words []word, at int) bool {
	switch words[at].low {
	case "before", "after", "vor", "nach", "prior":
		return true
	}
	if w := words[at].low; !strings.HasSuffix(w, "er") && w != "more" && w != "less" && w != "better" && w != "worse" && w != "mehr" && w != "weniger" {
		return false
	}
	for j := at + 1; j < len(words) && j <= at+5; j++ {
		if words[j].low == "than" || words[j].low == "als" {
			return true
		}
	}
	return false
}
