package support

import (
	"math"
	"slices"

	"nightdesk/pipeline/quantity"
)

// generic words are counted in place of others: people for workers.
var generic = set(`time peopl person men man women woman other more less member victim thing case item unit`)

// countsOtherThings reports a number of something else: 12 of Ganymede are no 12 instruments, where the source counts ten
// instruments; 65 basis points are no branches.
func (t *text) countsOtherThings(s *statement, noun string, q quantity.Quantity, p placed) bool {
	if noun == "" || generic[noun] || p.Kind == quantity.Date {
		return false
	}
	if _, there := slices.BinarySearch(t.postings[noun], p.unit); there {
		own := nounBehind(t.words, p.End)
		return own != "" && own != noun && !generic[own] && p.Kind == quantity.Number && slices.ContainsFunc(t.inUnit(p.unit), func(o quantity.Quantity) bool {
			return o.Kind == quantity.Number && o.Low != p.Low && nounBehind(t.words, o.End) == noun
		})
	}
	if c, ok := t.cells[p.Start]; ok && (c.head[noun] || hanOnly(noun) || len(shared(c.label, s.anchors)) > 0) {
		return false
	}
	if own := nounBehind(t.words, p.End); bare(p.Quantity) && (generic[own] || own == "" && p.unit > 0 && t.inPosting(noun, p.unit-1)) {
		return false // five stations were planned; two will do
	}
	return !bare(p.Quantity) || slices.ContainsFunc(t.counts[noun], func(v float64) bool { return v != q.Low })
}

var (
	limitsMost  = set(`limit limits limited maximum max most cap capped allows allowed up capacity ceiling until within höchstens maximal begrenzt`)
	limitsLeast = set(`minimum min least requires required need needs newer floor mindestens`)
)

// limits reports a unit that says in another word that its number is a limit: limits a frame to 16 KB.
func (t *text) limits(b quantity.Bound, u int) bool {
	list := limitsMost
	if b == quantity.AtLeast {
		list = limitsLeast
	}
	for _, w := range t.words[t.units[u].from:t.units[u].to] {
		if list[w.low] && b != quantity.Exact && b != quantity.About {
			return true
		}
	}
	return false
}

// countsOther reports that a word follows a bare number at once which the sentence does not have: its unit.
func (s *statement) countsOther(t *text, p placed) bool {
	i, _ := slices.BinarySearchFunc(t.words, p.End, func(w word, b int) int { return w.start - b })
	if i >= len(t.words) || t.words[i].start-p.End > 1 || t.Text[p.End:t.words[i].start] == "\n" || t.words[i].term() == "" || t.words[i].number() {
		return false
	}
	for _, w := range s.words {
		if w.term() == t.words[i].term() {
			return false
		}
	}
	return true
}

// counted are what a sentence counts by itself: how many reasons it lists is no fact of a source.
var counted = set(`reason way approach type factor source studi claim step option point aspect section find categori kind compon question
	paper report articl document argument group main key major method theme area issu differ condit element thing case exampl passag statement side respect`)

// counts reports a small number that counts what the sentence itself enumerates: three reasons, both sides.
func (s *statement) counts(q quantity.Quantity, st map[string]bool) bool {
	if q.Kind != quantity.Number || q.Low != q.High || q.Low > 12 || q.Low != math.Trunc(q.Low) {
		return false
	}
	n := 0
	for _, w := range s.words {
		if w.start < q.End {
			continue
		}
		if n++; n > 3 {
			break
		}
		if st[w.term()] {
			return true
		}
		if len(w.terms) == 0 {
			break
		}
	}
	return false
}

// countsUnsaid reports a small number of things that no source calls so: the three countries, which it names one by one.
func (s *statement) countsUnsaid(q quantity.Quantity, texts []*text) bool {
	noun := smallNoun(s.words, q.End)
	return q.Kind == quantity.Number && q.Low == q.High && q.Low <= 12 && q.Low == math.Trunc(q.Low) && noun != "" &&
		!slices.ContainsFunc(texts, func(t *text) bool { return t.has[noun] || t.aboutTerms[noun] })
}
