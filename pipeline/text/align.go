package text

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// Difference is the difference between two texts. Units that both texts have, in any place, are in none of its lists.
type Difference struct {
	Changed   []Pair
	New       []Unit // of the new text
	Withdrawn []Unit // of the old text
}

// Pair is a unit of the old text and the unit that replaced it.
type Pair struct{ Old, New Unit }

// Minimum likeness of two units for one to replace the other, from 0 to 1.
const (
	alike      = 0.5  // after the same neighbour
	aloneAlike = 0.35 // if both are the only differences there
	farAlike   = 0.7  // elsewhere in the text
)

// mostCompared limits the work on rewritten texts: pairs of units.
const mostCompared = 1 << 18

// Align compares two versions of a text, unit by unit. Units with equal words are the same, wherever they are. The
// others are paired by likeness, the most alike first. Units after the same neighbour may be less alike than others,
// where a neighbour is a unit that occurs once in each text. Labels are never paired or reported. Never fails.
func Align(old, now string) Difference {
	a, b := newSide(old), newSide(now)
	a.leave(b.marks)
	b.leave(a.marks)
	if len(a.left)+len(b.left) == 0 {
		return Difference{}
	}
	var d Difference
	paired := [2]map[int]bool{{}, {}} // by start
	for _, p := range newLikeness(a, b).pairs() {
		d.Changed = append(d.Changed, p)
		paired[0][p.Old.Start], paired[1][p.New.Start] = true, true
	}
	wordsA, wordsB := " "+strings.Join(Words(old), " ")+" ", " "+strings.Join(Words(now), " ")+" "
	for _, u := range a.left {
		if !paired[0][u.Start] && !u.standsIn(old, wordsB) {
			d.Withdrawn = append(d.Withdrawn, u.Unit)
		}
	}
	for _, u := range b.left {
		if !paired[1][u.Start] && !u.standsIn(now, wordsA) {
			d.New = append(d.New, u.Unit)
		}
	}
	slices.SortFunc(d.Changed, func(x, y Pair) int { return cmp.Compare(x.New.Start, y.New.Start) })
	return d
}

// standsIn reports whether the words of unit u of s are consecutive in words. The other text may split sentences
// differently.
func (u Unit) standsIn(s, words string) bool {
	return strings.Contains(words, " "+strings.Join(Words(s[u.Start:u.End]), " ")+" ")
}

// side is one of the compared texts.
type side struct {
	text  string
	units []Unit
	marks map[uint64]int // number of units by mark
	left  []leftUnit     // reportable units that the other text does not have
	alone map[uint64]int // number of left units by neighbour
}

// leftUnit is a unit with what it is compared by: its words, or its cells if it is a row.
type leftUnit struct {
	Unit
	after uint64 // mark of its neighbour above; 0: none
	row   bool
	cells []string
	words []string
	terms []string
	sum   float64 // total weight of its terms
}

func newSide(s string) *side {
	out := &side{text: s, units: Units(s), marks: map[uint64]int{}, alone: map[uint64]int{}}
	for _, u := range out.units {
		out.marks[u.Mark]++
	}
	return out
}

func (s *side) leave(others map[uint64]int) {
	after := uint64(0)
	for _, u := range s.units {
		switch {
		case others[u.Mark] == 1 && s.marks[u.Mark] == 1:
			after = u.Mark
		case u.Form != Label && others[u.Mark] == 0:
			s.left = append(s.left, leftUnit{Unit: u, after: after, row: u.Form == Row})
			s.alone[after]++
		}
	}
}

// likeness measures how alike the left units of two texts are. For sentences, it is the mean of their shared rare words
// and their longest common subsequence; all figures count as equal. For rows with the same name, it is the share of
// equal cells.
type likeness struct {
	old, now *side
	idf      map[string]float64
}

func newLikeness(old, now *side) *likeness {
	l := &likeness{old: old, now: now, idf: map[string]float64{}}
	named := map[string]int{}
	for _, s := range []*side{old, now} {
		for _, u := range s.units {
			for _, term := range TermSet(s.text[u.Start:u.End]) {
				l.idf[term]++
			}
		}
		for _, u := range s.left {
			named[fieldName(s.text[u.Start:u.End])]++
		}
	}
	for t, n := range l.idf {
		l.idf[t] = math.Log(1 + float64(len(old.units)+len(now.units))/n)
	}
	for _, s := range []*side{old, now} {
		for i := range s.left {
			u := &s.left[i]
			l.prepare(u, s.text[u.Start:u.End], named)
		}
	}
	return l
}

// prepare sets what a unit is compared by. named: number of units by field name.
func (l *likeness) prepare(u *leftUnit, s string, named map[string]int) {
	if u.row {
		u.cells = cells(s)
		return
	}
	if name := fieldName(s); name != "" && named[name] <= 2 { // once in each text: it is the same field
		u.row, u.cells = true, []string{name, strings.Join(Words(s), " ")}
		return
	}
	hasDigit := func(w string) bool { return strings.ContainsFunc(w, unicode.IsDigit) }
	u.words = Words(s)
	for k, w := range u.words {
		if hasDigit(w) {
			u.words[k] = "0"
		}
	}
	u.terms = slices.DeleteFunc(TermSet(s), hasDigit)
	for _, t := range u.terms {
		u.sum += l.idf[t]
	}
}

// fieldName returns the name of a line "name: value", or "" for other texts.
func fieldName(s string) string {
	name, value, ok := strings.Cut(s, ":")
	if words := CountWords(name); !ok || words == 0 || words > maxFieldName || CountWords(value) == 0 {
		return ""
	}
	return strings.Join(Words(name), " ")
}

const maxFieldName = 4 // words

// cells returns the normalized cells of a table row, or fields of a record.
func cells(row string) []string {
	sign := "|"
	if strings.HasPrefix(row, "{") {
		sign = ","
	}
	var out []string
	for cell := range strings.SplitSeq(strings.Trim(row, "|{} \n\t"), sign) {
		out = append(out, strings.Join(Words(cell), " "))
	}
	return out
}

func (l *likeness) of(a, b leftUnit) float64 {
	if a.row != b.row {
		return 0
	}
	if a.row {
		return rowsAlike(a.cells, b.cells)
	}
	shared := 0.0
	for _, t := range a.terms {
		if _, has := slices.BinarySearch(b.terms, t); has {
			shared += l.idf[t]
		}
	}
	rare := 1.0
	if a.sum+b.sum > 0 {
		rare = 2 * shared / (a.sum + b.sum)
	}
	return (rare + 2*float64(commonSequence(a.words, b.words))/float64(len(a.words)+len(b.words))) / 2
}

// rowsAlike compares rows that have the same name in the first cell.
func rowsAlike(a, b []string) float64 {
	if a[0] != b[0] || a[0] == "" {
		return 0
	}
	equal := 0
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			equal++
		}
	}
	return (1 + float64(equal)/float64(max(len(a), len(b)))) / 2
}

// commonSequence returns the length of the longest common subsequence of the first 200 words of a and b.
func commonSequence(a, b []string) int {
	const most = 200
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	row := make([]int, len(b)+1)
	for _, w := range a {
		diagonal := 0
		for j, v := range b {
			above := row[j+1]
			if w == v {
				row[j+1] = diagonal + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			diagonal = above
		}
	}
	return row[len(b)]
}

// pairs pairs units, the most alike first. Only units that share a word or a name are compared.
func (l *likeness) pairs() (pairs []Pair) {
	type match struct {
		old, now int
		score    float64
	}
	sharing := map[string][]int{} // new units by term or name
	keys := func(u leftUnit) []string {
		if u.row {
			return u.cells[:1]
		}
		return u.terms
	}
	for j, u := range l.now.left {
		for _, k := range keys(u) {
			sharing[k] = append(sharing[k], j)
		}
	}
	var found []match
	compared := 0
	for i, u := range l.old.left {
		tried := map[int]bool{}
		for _, k := range keys(u) {
			for _, j := range sharing[k] {
				if tried[j] || compared > mostCompared {
					continue
				}
				tried[j] = true
				compared++
				if score := l.of(u, l.now.left[j]); score >= l.least(u, l.now.left[j]) {
					found = append(found, match{i, j, score})
				}
			}
		}
	}
	slices.SortFunc(found, func(x, y match) int {
		return cmp.Or(cmp.Compare(y.score, x.score), x.old-y.old, x.now-y.now)
	})
	takenOld, takenNow := map[int]bool{}, map[int]bool{}
	for _, m := range found {
		if !takenOld[m.old] && !takenNow[m.now] {
			takenOld[m.old], takenNow[m.now] = true, true
			pairs = append(pairs, Pair{l.old.left[m.old].Unit, l.now.left[m.now].Unit})
		}
	}
	return pairs
}

// least returns the likeness that two units need.
func (l *likeness) least(a, b leftUnit) float64 {
	switch {
	case a.after != b.after:
		return farAlike
	case l.old.alone[a.after] == 1 && l.now.alone[b.after] == 1:
		return aloneAlike
	}
	return alike
}
