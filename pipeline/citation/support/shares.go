package support

import (
	"math"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// basis reports a year that an index is counted from: 2020 = 100.
func (t *text) basis(p placed) bool {
	return p.Kind == quantity.Date && strings.HasPrefix(strings.TrimLeft(t.Text[p.End:], " "), "= 100")
}

// bases returns the values of the first units that an index is explained in.
func (t *text) bases() [][]placed {
	var out [][]placed
	for i, p := range t.quantities {
		if len(out) < 2 && t.basis(p) {
			var values []placed
			for _, o := range t.quantities[i:min(len(t.quantities), i+6)] {
				if o.unit == p.unit {
					values = append(values, o)
				}
			}
			out = append(out, values)
		}
	}
	return out
}

// sameShare reports a number behind "of" and the same number in sentence and source: 29 of 367. Where the first of them
// stands is checked by itself.
func (s *statement) sameShare(q quantity.Quantity, t *text, p placed) bool {
	mine, theirs := shareBefore(s.text[:q.Start]), shareBefore(t.Text[:p.Start])
	return mine != "" && mine == theirs
}

// brokenShare reports a number behind "of" whose first number the sources have with another one, and it with another first:
// 30 of 222, where they have 17 of 222 and 30 of 223.
func (s *statement) brokenShare(q quantity.Quantity, texts []*text) bool {
	first := shareBefore(s.text[:q.Start])
	if first == "" || q.Kind != quantity.Number {
		return false
	}
	other, elsewhere := false, false
	for _, t := range texts {
		for _, p := range t.quantities {
			switch before := shareBefore(t.Text[:p.Start]); {
			case before == "":
			case p.Low == q.Low && before == first:
				return false
			case p.Low == q.Low:
				other = true
			case before == first:
				elsewhere = true
			}
		}
	}
	return other && elsewhere
}

// shareBefore returns the number before a final "of".
func shareBefore(text string) string {
	text, ok := strings.CutSuffix(text[max(0, len(text)-24):], " of ")
	if !ok {
		return ""
	}
	number := text[strings.LastIndexByte(text, ' ')+1:]
	if number == "" || number[0] < '0' || number[0] > '9' {
		return ""
	}
	return number
}

// wholeForPart reports the number behind "of" where the sentence says of it what the source says of the one before: cracks were found
// in 144 cables, for cracks in 23 of the 144 cables.
func (t *text) wholeForPart(s *statement, q quantity.Quantity, p placed) bool {
	u := t.units[p.unit]
	words := t.words[u.from:u.to]
	of := wholeBehind(words, p.Start)
	if q.Kind != quantity.Number || of < 1 || wholeBehind(s.words, q.Start) >= 0 {
		return false
	}
	values := t.inUnit(p.unit)
	part := slices.IndexFunc(values, func(o quantity.Quantity) bool { return o.Kind == quantity.Number && o.End+1 == words[of].start })
	if part < 0 {
		return false
	}
	first := values[part]
	if _, also := s.says(placed{Quantity: first, raw: t.Text[first.Start:first.End]}); also {
		return false
	}
	said := 0
	for _, w := range words[:of] {
		if w.term() != "" && !w.number() && w.end <= first.Start && !t.isName(w.term()) && slices.ContainsFunc(s.terms, func(term weighted) bool { return term.text == w.term() }) {
			said++
		}
	}
	return said >= leastSaid
}

// wholeBehind returns the "of" that a number stands behind: of 144, of the 144, of all 144; -1 when it stands behind none.
func wholeBehind(words []word, start int) int {
	i, _ := slices.BinarySearchFunc(words, start, func(w word, b int) int { return w.start - b })
	for i--; i >= 0; i-- {
		switch words[i].low {
		case "of", "von":
			return i
		case "the", "its", "their", "all", "den", "seinen", "ihren", "allen":
		default:
			return -1
		}
	}
	return -1
}

// shareOf reports that the "of" at i stands behind a share: 45 of, a third of, most of.
func shareOf(words []word, i int) bool {
	return i > 0 && (words[i-1].number() || smallNumbers[words[i-1].low] || parts[words[i-1].low])
}

var parts = set(`half third thirds quarter quarters fifth fifths tenth percent most many some all none few majority hälfte drittel viertel prozent meisten`)

// leastSaid is how many words show that the same is said.
const leastSaid = 2

// restOf returns the words of the clause that says whose the rest is; 0, 0 when there is none.
func restOf(text string, words []word) (from, to int) {
	at := slices.IndexFunc(words, func(w word) bool { return w.low == "rest" || w.low == "remainder" })
	if at < 1 || !beforeNoun[words[at-1].low] || at+1 < len(words) && (words[at+1].low == "of" || words[at+1].low == "des") {
		return 0, 0
	}
	from, to = at, at+1
	for from > 0 && !clauseWords[words[from].low] && !clauseBetween(text, words[from-1].end, words[from].start) {
		from--
	}
	for to < len(words) && !clauseWords[words[to].low] && !clauseBetween(text, words[to-1].end, words[to].start) {
		to++
	}
	return from, to
}

// restInstead reports a value of which the rest is that of what the sentence gives the value to: the state paid two thirds and the
// insurers the rest.
func (t *text) restInstead(s *statement, p placed) bool {
	u := t.units[p.unit]
	words := t.words[u.from:u.to]
	from, to := restOf(t.Text, words)
	if to == 0 || words[from].start < p.End {
		return false
	}
	of := termsOf(words[from:to])
	for term := range termsOf(words[:from]) {
		delete(of, term)
	}
	said, unsaid := false, false
	for _, term := range s.terms {
		said = said || of[term.text]
	}
	for _, w := range words[:from] {
		unsaid = unsaid || w.term() != "" && !w.number() && !s.anchors[w.term()]
	}
	return said && unsaid
}

// losesOrKeeps reports a percentage of which the sources have the rest to a hundred: lost 22% of its capacity, for kept 78%.
func (s *statement) losesOrKeeps(q quantity.Quantity, texts []*text) bool {
	loses := func(words []word) bool { return slices.ContainsFunc(words, func(w word) bool { return losing[w.low] }) }
	keeps := func(words []word) bool {
		return slices.ContainsFunc(words, func(w word) bool { return keeping[w.low] })
	}
	for _, t := range texts {
		for _, p := range t.quantities {
			if p.Kind != quantity.Percent || math.Abs(p.Low+q.Low-100) > 1e-9 || t.near(s, p.unit) < someOfIt {
				continue
			}
			words := t.words[t.units[p.unit].from:t.units[p.unit].to]
			if loses(s.words) && keeps(words) || keeps(s.words) && loses(words) {
				return true
			}
		}
	}
	return false
}

var (
	losing  = set(`lost lose loses losing missing fell dropped gone without verlor verliert fehlen fehlten`)
	keeping = set(`kept keep keeps retained retains retain left remained remains remaining behielt behält blieben bleiben`)
)
