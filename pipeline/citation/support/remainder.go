package support

import (
	"math"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
)

// Some sentences of sources ask to be computed with: Transnord owns 65%, Südrohr the rest; 0.6 billion less than in 2022;
// 2.1 of the 3.4 gigawatts; between 780 and 1,020 metres; two burnt out and five were damaged.

var (
	resting      = set(`rest remainder remaining others remained übrigen übrige restlichen restliche 其余 剩余 余下`)
	comparing    = set(`more less fewer above below higher lower longer shorter cheaper dearer larger smaller mehr weniger höher niedriger teurer billiger günstiger länger kürzer times mal fold`)
	comparingHan = []string{"增加", "减少", "提高", "下降", "增长", "上升", "多", "少", "高", "低"}
	apiece       = set(`each apiece je jeweils`)
	adding       = set(`and or und oder both plus`)
)

// asked reports a value that comes out where a source sentence asks to be computed with. missing: no source has its number.
func (s *statement) asked(q quantity.Quantity, missing bool, texts []*text, ws []window) bool {
	if q.Kind == quantity.Date || q.Low != q.High || q.Low <= 0 {
		return false
	}
	d := derivation{q: q, announced: true, written: writtenValue(s.text[q.Start:q.End])}
	for _, t := range texts {
		for _, values := range append(s.operands(t, ws), t.beforeRest()...) {
			if _, inTable := t.cells[values[0].Start]; !inTable && (d.remains(t, values) || missing && d.shareOf(append(values[:len(values):len(values)], t.valuesIn(values[0].unit+1)...)) || d.differs(t, values) || d.each(t, values) || s.counted(d, t, values)) {
				return true
			}
		}
	}
	return false
}

// beforeRest returns the values of the sentences before those that begin with the rest.
func (t *text) beforeRest() [][]placed {
	var out [][]placed
	for _, u := range t.postings["rest"] {
		if first := t.units[u].from; u == 0 || len(out) == mostRests || !resting[t.words[first].low] && !resting[t.words[min(first+1, len(t.words)-1)].low] {
			continue
		}
		if values := t.valuesIn(u - 1); len(values) > 0 {
			out = append(out, values)
		}
	}
	return out
}

// valuesIn returns the quantities of a unit.
func (t *text) valuesIn(u int) []placed {
	if u >= len(t.units) {
		return nil
	}
	at, _ := slices.BinarySearchFunc(t.quantities, t.units[u].start, func(p placed, b int) int { return p.Start - b })
	end := at
	for end < len(t.quantities) && t.quantities[end].unit == u {
		end++
	}
	return t.quantities[at:end]
}

// mostRests bounds the sentences about the rest of something that are looked at.
const mostRests = 6

// remains computes what is left: of all where the rest is spoken of, also one sentence later, and of a whole that is named.
func (d derivation) remains(t *text, values []placed) bool {
	u := values[0].unit
	if t.unitSays(u, resting) || u+1 < len(t.units) && t.unitSays(u+1, resting) {
		sum, most := 0.0, 0.0
		for i, a := range values {
			if !d.same(a) {
				continue
			}
			sum, most = sum+a.Low, max(most, a.Low)
			if sum > most && d.is(most-(sum-most)) { // 74 without 41 and 25
				return true
			}
			if d.q.Kind == quantity.Percent && (d.is(100-a.Low) || d.is(100-sum)) {
				return true
			}
			if slices.ContainsFunc(values[i+1:], func(b placed) bool { return d.same(b) && d.is(math.Abs(a.Low-b.Low)) }) {
				return true
			}
		}
	}
	if d.q.Kind == quantity.Percent { // 61% for it, 27% against: 12% are left
		sum, parts := 0.0, 0
		for _, a := range values {
			if d.same(a) {
				sum, parts = sum+a.Low, parts+1
			}
		}
		if parts > 1 && math.Abs(100-sum-d.q.Low) < 1e-9 {
			return true
		}
	}
	for i, b := range values {
		if d.same(b) && b.Low != b.High && d.is(b.High-b.Low) {
			return true
		}
		if i == 0 || d.q.Kind == quantity.Number && d.q.Low < 10 || !d.same(b) || !d.same(values[i-1]) || !d.is(b.Low-values[i-1].Low) {
			continue
		}
		if words := strings.Fields(t.Text[values[i-1].End:b.Start]); len(words) > 0 && len(words) <= 2 && (words[0] == "of" || words[0] == "der" || words[0] == "von") {
			return true
		}
	}
	return false
}

// differs computes with a value by which another one is said to be more or less.
func (d derivation) differs(t *text, values []placed) bool {
	for _, by := range values {
		before := t.Text[t.units[by.unit].start:by.Start]
		if !d.same(by) && !strings.HasPrefix(d.q.Unit, by.Unit+"/") || !comparing[wordBehind(t.Text, by.End)] && !slices.ContainsFunc(comparingHan, func(w string) bool { return strings.HasSuffix(before, w) }) {
			continue
		}
		for _, a := range values {
			if a.Start != by.Start && d.same(a) && (d.is(a.Low+by.Low) || d.is(math.Abs(a.Low-by.Low)) || d.by(writtenValue(a.raw), writtenValue(by.raw))) {
				return true
			}
		}
	}
	return false
}

// by compares numbers without their units: 86 crowns a year, 9 crowns more.
func (d derivation) by(a, difference float64) bool {
	return d.written > 0 && (a+difference == d.written || a-difference == d.written)
}

// each computes with a number of things that have as much each, or that differ by as much.
func (d derivation) each(t *text, values []placed) bool {
	if !t.unitSays(values[0].unit, apiece) {
		return false
	}
	for _, n := range values {
		if n.Kind != quantity.Number || n.Low < 2 || n.Low > 20 {
			continue
		}
		for i, a := range values {
			if d.same(a) && (d.is(n.Low*a.Low) || slices.ContainsFunc(values[i+1:], func(b placed) bool { return d.same(b) && d.is(n.Low*math.Abs(a.Low-b.Low)) })) {
				return true
			}
		}
	}
	return false
}

// shareOf computes a share of a number: a quarter of the 2,800.
func (d derivation) shareOf(values []placed) bool {
	for _, share := range values {
		if share.Kind != quantity.Percent {
			continue
		}
		if slices.ContainsFunc(values, func(a placed) bool {
			return d.same(a) && a.Low > 10 && a.Kind != quantity.Percent && d.is(a.Low*share.Low/100)
		}) {
			return true
		}
	}
	return false
}

// counted computes with numbers of the same things: what is left of them, and two kinds of them that the sentence names.
func (s *statement) counted(d derivation, t *text, values []placed) bool {
	nouns := nounsBehind(s.words, d.q.End)
	if d.q.Kind != quantity.Number || len(nouns) == 0 {
		return false
	}
	both := slices.ContainsFunc(s.words, func(w word) bool { return adding[w.low] })
	for _, a := range values {
		if a.Kind != quantity.Number || !nouns[nounBehind(t.words, a.End)] {
			continue
		}
		for _, b := range values {
			if b.Start == a.Start || b.Kind != quantity.Number || !nouns[nounBehind(t.words, b.End)] && !counting[wordBehind(t.Text, b.End)] {
				continue
			}
			if both && a.Low+b.Low == d.q.Low || d.q.Low >= 10 && a.Low-b.Low == d.q.Low {
				return true
			}
		}
	}
	return false
}

// nounsBehind returns the content words that follow a number at once, at most two: damaged houses.
func nounsBehind(words []word, end int) map[string]bool {
	out := map[string]bool{}
	for range 2 {
		noun := nounBehind(words, end)
		if noun == "" {
			break
		}
		out[noun] = true
		i, _ := slices.BinarySearchFunc(words, end, func(w word, b int) int { return w.start - b })
		end = words[i].end
	}
	return out
}

// restWords is how many words of a sentence about the rest tell whose it is.
const restWords = 9

// ofRest reports that the sources say of something in the sentence that the rest is its: the rest came from the friends.
func (s *statement) ofRest(texts []*text) bool {
	for _, t := range texts {
		if s.wide && t.ofRestWide(s) {
			return true
		}
		for _, u := range t.postings["rest"] {
			words := t.words[t.units[u].from:t.units[u].to]
			if from, to := restOf(t.Text, words); slices.ContainsFunc(words[from:to], func(w word) bool { return w.term() != "rest" && s.anchors[w.term()] }) {
				return true
			}
			if resting[words[min(1, len(words)-1)].low] && slices.ContainsFunc(words[:min(len(words), restWords)], func(w word) bool { return w.term() != "" && w.term() != "rest" && s.anchors[w.term()] }) {
				return true
			}
		}
	}
	return false
}

// ofRestWide is ofRest for a script without spaces.
func (t *text) ofRestWide(s *statement) bool {
	for _, term := range s.terms[:min(len(s.terms), restWords)] {
		for _, u := range t.postings[term.text][:min(len(t.postings[term.text]), mostRests)] {
			if unit := t.Text[t.units[u].start:t.units[u].end]; strings.Contains(unit, "其余") || strings.Contains(unit, "剩余") {
				return true
			}
		}
	}
	return false
}

// unitSays reports a unit with one of these words.
func (t *text) unitSays(u int, words map[string]bool) bool {
	return slices.ContainsFunc(t.words[t.units[u].from:t.units[u].to], func(w word) bool { return words[w.low] })
}
