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
	alike      = 0.5  // between the same neighbours
	aloneAlike = 0.35 // if both are the only differences there
	farAlike   = 0.7  // elsewhere in the text, or in another text
)

// maxGap limits the work on one rewritten part: old units times new units.
const maxGap = 1 << 18

// Align compares two versions of a text, unit by unit. Units with equal words are the same, wherever they are. The
// other units between the same neighbours are paired in order, so that the total likeness is highest. The rest are
// paired with very similar units elsewhere. Labels are never paired or reported. Never fails.
//
// Sources: neighbours by the longest increasing sequence of unique units (patience diff, Cohen 2003), pairs by global
// alignment (Needleman and Wunsch 1970).
func Align(old, now string) Difference {
	a, b := newSide(old), newSide(now)
	a.leave(b.marks)
	b.leave(a.marks)
	if len(a.left)+len(b.left) == 0 {
		return Difference{}
	}
	l := newLikeness(append(a.texts(a.left), b.texts(b.left)...), append(a.texts(nil), b.texts(nil)...))
	var d Difference
	taken := [2]map[int]bool{{}, {}}
	pair := func(i, j int) {
		taken[0][i], taken[1][j] = true, true
		d.Changed = append(d.Changed, Pair{a.units[a.left[i]], b.units[b.left[j]]})
	}
	for _, g := range gaps(a, b) {
		for _, p := range l.align(g, len(a.left)) {
			pair(p[0], p[1])
		}
	}
	var restA, restB []int
	for i := range a.left {
		if !taken[0][i] {
			restA = append(restA, i)
		}
	}
	for j := range b.left {
		if !taken[1][j] {
			restB = append(restB, j)
		}
	}
	for _, p := range l.nearest(restA, restB, len(a.left)) {
		pair(p[0], p[1])
	}
	wordsA, wordsB := " "+strings.Join(Words(old), " ")+" ", " "+strings.Join(Words(now), " ")+" "
	for _, i := range restA {
		if u := a.units[a.left[i]]; !taken[0][i] && !u.standsIn(old, wordsB) {
			d.Withdrawn = append(d.Withdrawn, u)
		}
	}
	for _, j := range restB {
		if u := b.units[b.left[j]]; !taken[1][j] && !u.standsIn(now, wordsA) {
			d.New = append(d.New, u)
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
	left  []int          // indexes of reportable units that the other text does not have
}

func newSide(s string) *side {
	out := &side{text: s, units: Units(s), marks: map[uint64]int{}, left: []int{}}
	for _, u := range out.units {
		out.marks[u.Mark]++
	}
	return out
}

func (s *side) leave(others map[uint64]int) {
	for i, u := range s.units {
		if u.Form != Label && others[u.Mark] == 0 {
			s.left = append(s.left, i)
		}
	}
}

// texts returns the texts of the units with these sorted indexes; nil means all.
func (s *side) texts(some []int) (list []unitText) {
	for i, u := range s.units {
		if _, of := slices.BinarySearch(some, i); of || some == nil {
			list = append(list, unitText{s.text[u.Start:u.End], u.Form == Row})
		}
	}
	return list
}

// gap holds the unmatched units between two neighbours that both texts have, as indexes of left.
type gap struct{ old, now []int }

// gaps returns the gaps in which both texts have unmatched units.
func gaps(a, b *side) []gap {
	at := map[uint64]int{}
	for j, u := range b.units {
		at[u.Mark] = j
	}
	var places [][2]int // units that occur once in each text
	for i, u := range a.units {
		if j, ok := at[u.Mark]; ok && a.marks[u.Mark] == 1 && b.marks[u.Mark] == 1 {
			places = append(places, [2]int{i, j})
		}
	}
	places = append(increasing(places), [2]int{len(a.units), len(b.units)})
	var out []gap
	i, j := 0, 0
	for _, p := range places {
		var g gap
		for ; i < len(a.left) && a.left[i] < p[0]; i++ {
			g.old = append(g.old, i)
		}
		for ; j < len(b.left) && b.left[j] < p[1]; j++ {
			g.now = append(g.now, j)
		}
		if len(g.old) > 0 && len(g.now) > 0 {
			out = append(out, g)
		}
	}
	return out
}

// increasing returns the longest subsequence of places that increases in the second number. places increase in the
// first number.
func increasing(places [][2]int) [][2]int {
	var ends []int // by length: index of the place with the smallest second number that ends such a sequence
	before := make([]int, len(places))
	for i, p := range places {
		n, _ := slices.BinarySearchFunc(ends, p[1], func(e, second int) int { return cmp.Compare(places[e][1], second) })
		before[i] = -1
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	var out [][2]int
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = before[i] {
			out = append(out, places[i])
		}
	}
	slices.Reverse(out)
	return out
}

// unitText is the text of a unit, for comparison.
type unitText struct {
	text string
	row  bool
}

// likeness measures how alike units are. For sentences, it is the mean of their shared rare words and their longest
// common subsequence; all figures count as equal. For rows with the same name, it is the share of equal cells.
type likeness struct {
	units []likeUnit
	idf   map[string]float64
}

type likeUnit struct {
	row   bool
	cells []string
	words []string
	terms []string
	sum   float64 // total weight of its terms
}

// newLikeness prepares the comparison of texts. among: all texts, from which the rarity of words is computed.
func newLikeness(texts, among []unitText) *likeness {
	l := &likeness{units: make([]likeUnit, len(texts)), idf: map[string]float64{}}
	named := map[string]int{}
	for _, t := range among {
		for _, term := range TermSet(t.text) {
			l.idf[term]++
		}
	}
	for _, t := range texts {
		if name := fieldName(t.text); name != "" {
			named[name]++
		}
	}
	for t, n := range l.idf {
		l.idf[t] = math.Log(1 + float64(len(among))/n)
	}
	for i, t := range texts {
		u := &l.units[i]
		if u.row = t.row; t.row {
			u.cells = cells(t.text)
			continue
		}
		if name := fieldName(t.text); name != "" && named[name] <= 2 { // once in each text: it is the same field
			u.row, u.cells = true, []string{name, strings.Join(Words(t.text), " ")}
			continue
		}
		u.words = Words(t.text)
		for k, w := range u.words {
			if strings.ContainsFunc(w, unicode.IsDigit) {
				u.words[k] = "0"
			}
		}
		u.terms = slices.DeleteFunc(TermSet(t.text), func(t string) bool { return strings.ContainsFunc(t, unicode.IsDigit) })
		for _, t := range u.terms {
			u.sum += l.idf[t]
		}
	}
	return l
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

func (l *likeness) of(i, j int) float64 {
	a, b := l.units[i], l.units[j]
	if a.row != b.row {
		return 0
	}
	if a.row {
		return rowsAlike(a.cells, b.cells)
	}
	shared := 0.0
	for x, y := 0, 0; x < len(a.terms) && y < len(b.terms); {
		switch c := cmp.Compare(a.terms[x], b.terms[y]); {
		case c == 0:
			shared += l.idf[a.terms[x]]
			x++
			y++
		case c < 0:
			x++
		default:
			y++
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

// align pairs the units of a gap in order, so that the total likeness is highest. shift: index of the first new unit in
// l.
func (l *likeness) align(g gap, shift int) [][2]int {
	n, m := len(g.old), len(g.now)
	if n*m > maxGap {
		return nil // nearest finds the very similar units
	}
	least := alike
	if n == 1 && m == 1 {
		least = aloneAlike
	}
	best := make([][]float64, n+1) // highest total likeness from these units on
	scores := make([][]float64, n)
	best[n] = make([]float64, m+1)
	for i := n - 1; i >= 0; i-- {
		best[i], scores[i] = make([]float64, m+1), make([]float64, m)
		for j := m - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if s := l.of(g.old[i], shift+g.now[j]); s >= least {
				scores[i][j] = s
				best[i][j] = max(best[i][j], s+best[i+1][j+1])
			}
		}
	}
	var pairs [][2]int
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case scores[i][j] > 0 && best[i][j] == scores[i][j]+best[i+1][j+1]:
			pairs = append(pairs, [2]int{g.old[i], g.now[j]})
			i++
			j++
		case best[i][j] == best[i+1][j]:
			i++
		default:
			j++
		}
	}
	return pairs
}

// nearest pairs very similar units, the most similar first. shift: index of the first new unit in l.
func (l *likeness) nearest(old, now []int, shift int) [][2]int {
	type match struct {
		old, now int
		score    float64
	}
	sharing := map[string][]int{} // new units by term or name
	keys := func(u likeUnit) []string {
		if u.row {
			return u.cells[:1]
		}
		return u.terms
	}
	for _, j := range now {
		for _, k := range keys(l.units[shift+j]) {
			sharing[k] = append(sharing[k], j)
		}
	}
	var found []match
	work := 0
	for _, i := range old {
		tried := map[int]bool{}
		for _, k := range keys(l.units[i]) {
			for _, j := range sharing[k] {
				if tried[j] || work > maxGap {
					continue
				}
				tried[j] = true
				work++
				if s := l.of(i, shift+j); s >= farAlike {
					found = append(found, match{i, j, s})
				}
			}
		}
	}
	slices.SortStableFunc(found, func(x, y match) int { return cmp.Compare(y.score, x.score) })
	var pairs [][2]int
	takenOld, takenNow := map[int]bool{}, map[int]bool{}
	for _, m := range found {
		if !takenOld[m.old] && !takenNow[m.now] {
			takenOld[m.old], takenNow[m.now] = true, true
			pairs = append(pairs, [2]int{m.old, m.now})
		}
	}
	return pairs
}
