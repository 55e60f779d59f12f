package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/quantity"
)

// Reading is claims that are understood, for comparing those of two days with each other. Weigh compares claims of one day,
// of which both sides may be true; here the later one stands in the place of the earlier.
type Reading struct{ said []said }

// Read understands claims. What is a name is decided over all of them.
func Read(claims []Claim) Reading {
	r := Reading{said: make([]said, len(claims))}
	for i, c := range claims {
		r.said[i] = understand(c)
		r.said[i].row = rowOf(c)
	}
	confirmNames(r.said, claims)
	return r
}

// Same reports that claims i and j say the same: alike in words, with equal quantities, names, limits and negation.
func (r Reading) Same(i, j int) bool {
	a, b := r.said[i], r.said[j]
	if n, rows := rowShared(a, b); rows {
		return n == len(a.row)
	}
	if b.same(a, ofTwoDays) || a.repeats(b) {
		return true
	}
	return len(a.values)+len(a.times) > 0 && r.Alike(i, j) >= sameTerms && r.SameFigures(i, j) &&
		!(lacks(a.names, b.names) && lacks(b.names, a.names)) && slices.Equal(a.ordinals, b.ordinals) && slices.Equal(a.qualified, b.qualified)
}

// sameTerms is how alike in their words two claims with equal figures are that say the same.
const sameTerms = 0.85

// repeats reports the same words around equal values.
func (s said) repeats(o said) bool {
	return s.canonical != "" && ofTwoDays.equal(s.figures(), o.figures()) && strings.EqualFold(strings.Join(strings.Fields(s.canonical), " "), strings.Join(strings.Fields(o.canonical), " "))
}

// Turn is what has become of a statement.
type Turn struct {
	Kind     string // one of ContradictsValue, ContradictsDate, ContradictsNegation, TurnedName, TurnedWords
	Old, New string // values as written; empty for a negation
}

// Kinds of turns that are no contradictions by themselves.
const (
	TurnedName  = "name"  // a name has come in the place of another one
	TurnedWords = "words" // something else is said with the same names and figures: is planned, was cancelled
)

// SameFigures reports that two claims have equal quantities, and deny both or neither.
func (r Reading) SameFigures(i, j int) bool {
	a, b := r.said[i], r.said[j]
	return ofTwoDays.equal(a.values, b.values) && !disjoint(a.times, b.times) && a.negations%2 == b.negations%2 && len(a.times) == len(b.times)
}

// likeTerms is how alike in their words two sentences of one page must be for one to have taken the place of the other.
const likeTerms = 0.6

// Turned reports that claim j says of the subject of claim i something else.
//
// The claims must name the same subject in the same words and the same time, and differ in one value alone or in their
// negation. Within one page, a sentence may have taken the place of another in other words: then most of them suffice, the
// time may have gone on with the value, and of several values that differ the first is told. Rows of a table have the same label.
func (r Reading) Turned(i, j int, onePage bool) (Turn, bool) {
	a, b := r.said[i], r.said[j]
	if !onePage {
		return turned(a, b, sameSubject(a, b) && sameTime(a, b))
	}
	if _, rows := rowShared(a, b); rows {
		return rowTurned(a, b)
	}
	if t, ok := renamed(a, b); ok {
		return t, true
	}
	if lacks(a.names, b.names) && lacks(b.names, a.names) || a.begins(b) && b.begins(a) || r.Alike(i, j) < likeTerms {
		return Turn{}, false
	}
	if t, ok := turned(a, b, true); ok {
		return t, true
	}
	if t, ok := firstDifference(a, b); ok {
		return t, true
	}
	if len(a.names) == 0 || !slices.Equal(a.names, b.names) || a.negations%2 != b.negations%2 || !ofTwoDays.equal(a.figures(), b.figures()) {
		return Turn{}, false
	}
	return Turn{Kind: TurnedWords}, true
}

// figures are the values of a claim and the times at which it holds: which of them a date is depends on the verb.
func (s said) figures() []value {
	list := slices.Clone(s.values)
	for _, t := range s.times {
		list = append(list, value{Quantity: t})
	}
	return list
}

// Within reports that claim j says what claim i says, and more: it has all of its words, figures and names, and denies neither more nor less.
func (r Reading) Within(i, j int) bool {
	a, b := r.said[i], r.said[j]
	return len(a.terms) >= 2 && !lacks(a.terms, b.terms) && !lacks(a.names, b.names) && !lacks(a.ordinals, b.ordinals) && slices.Equal(a.qualified, b.qualified) &&
		len(ofTwoDays.missing(a.values, b.values)) == 0 && !disjoint(a.times, b.times) && a.negations%2 == b.negations%2
}

// mostNameWords is the number of words of the longest name that takes the place of another one.
const mostNameWords = 5

// renamed reports two sentences with the same words around one name each: The chairman of the board is Ada Lind. Where a sentence begins with the
// name, another name must stand in both, lest two things of which the same is said are taken for one.
func renamed(a, b said) (Turn, bool) {
	one, two := strings.Fields(a.text), strings.Fields(b.text)
	head := 0
	for head < min(len(one), len(two)) && one[head] == two[head] {
		head++
	}
	tail := 0
	for tail < min(len(one), len(two))-head && one[len(one)-1-tail] == two[len(two)-1-tail] {
		tail++
	}
	old, now := one[head:len(one)-tail], two[head:len(two)-tail]
	if !isName(old) || !isName(now) || head+tail < 4 || len(extractive.Terms(strings.Join(slices.Concat(one[:head], one[len(one)-tail:]), " "))) < 2 {
		return Turn{}, false
	}
	if head == 0 && !slices.ContainsFunc(a.names, func(n string) bool { return slices.Contains(b.names, n) }) {
		return Turn{}, false
	}
	return Turn{Kind: TurnedName, Old: bareName(old), New: bareName(now)}, true
}

// isName reports words of which the first and last begin with a capital, and none is a figure.
func isName(words []string) bool {
	if len(words) == 0 || len(words) > mostNameWords {
		return false
	}
	capital := func(word string) bool {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(word, "\"'“„«("))
		return unicode.IsUpper(first) && !plainWord[strings.ToLower(word)]
	}
	return capital(words[0]) && capital(words[len(words)-1]) && !strings.ContainsAny(strings.Join(words, ""), "0123456789")
}

func bareName(words []string) string {
	return strings.TrimRight(strings.Join(words, " "), ".,;:!?)\"'”")
}

// mostAround returns which of the values of a text differs from v and stands between the same words as v does in its own; -1 when none
// differs.
func mostAround(text string, values []value, of string, v value) int {
	best, most := -1, -1
	for i, o := range values {
		if !ofTwoDays.differ(v.Quantity, o.Quantity) {
			continue
		}
		if n := sameAround(text, o.Quantity, of, v.Quantity); n > most {
			best, most = i, n
		}
	}
	return best
}

// sameAround returns how many words stand alike before and behind two quantities, at most four on each side.
func sameAround(a string, v quantity.Quantity, b string, o quantity.Quantity) int {
	const most = 4
	words := func(text string) []string { return strings.FieldsFunc(strings.ToLower(text), notLetter) }
	n := 0
	one, two := words(a[:v.Start]), words(b[:o.Start])
	for k := 1; k <= min(most, len(one), len(two)) && one[len(one)-k] == two[len(two)-k]; k++ {
		n++
	}
	one, two = words(a[v.End:]), words(b[o.End:])
	for k := 0; k < min(most, len(one), len(two)) && one[k] == two[k]; k++ {
		n++
	}
	return n
}

// begins reports that a claim begins with a word, which may be a name, that the other does not have.
func (s said) begins(o said) bool {
	if s.unsure == "" {
		return false
	}
	terms := folded(extractive.Terms(s.unsure))
	return lacks(terms, o.terms)
}

// Alike returns how alike two claims are in their words, from 0 to 1, whatever their quantities; rows of a table, in their cells.
func (r Reading) Alike(i, j int) float64 {
	if n, rows := rowShared(r.said[i], r.said[j]); rows {
		return float64(n) / float64(len(r.said[i].row))
	}
	a, b := r.said[i].terms, r.said[j].terms
	if len(a)+len(b) == 0 {
		return 0
	}
	shared := 0
	for _, t := range a {
		if slices.Contains(b, t) {
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}

func turned(a, b said, comparable bool) (Turn, bool) {
	if !comparable {
		return Turn{}, false
	}
	if a.negations%2 != b.negations%2 {
		certain := len(a.terms) >= 2 && ofTwoDays.equal(a.values, b.values)
		return Turn{Kind: ContradictsNegation}, certain
	}
	va, vb, ok := ofTwoDays.onlyDifference(a.values, b.values)
	if !ok {
		return Turn{}, false
	}
	return turnOf(va.Quantity, va.text, vb.text), true
}

func turnOf(q quantity.Quantity, old, now string) Turn {
	t := Turn{Kind: ContradictsValue, Old: strings.TrimSpace(old), New: strings.TrimSpace(now)}
	if q.Kind == quantity.Date {
		t.Kind = ContradictsDate
	}
	return t
}

// firstDifference returns the first two values of one kind and unit that differ, else the first times that do. Where a value may have
// come in the place of several, such as in joined rows, it is the one between the same words.
func firstDifference(a, b said) (Turn, bool) {
	old := ofTwoDays.missing(a.values, b.values)
	now := ofTwoDays.missing(b.values, a.values)
	for _, v := range old {
		i := mostAround(b.text, now, a.text, v)
		if i < 0 {
			continue
		}
		j := mostAround(a.text, old, b.text, now[i])
		return turnOf(old[j].Quantity, old[j].text, now[i].text), true
	}
	for _, x := range a.times {
		for _, y := range b.times {
			if ofTwoDays.differ(x, y) {
				return turnOf(x, a.text[x.Start:x.End], b.text[y.Start:y.End]), true
			}
		}
	}
	return Turn{}, false
}
