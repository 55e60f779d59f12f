// Package evidence compares the claims of a run: which of them state the same, how many independent sources support
// them, and where sources contradict each other. It calls no model.
//
// It does not decide which side is right or whether a source supports a claim. Sources of separate origin may still
// depend on each other, because one may paraphrase the other. The comparison is by words, not by meaning: a paraphrase
// counts as a different statement, and only a model can find a contradiction in different words. Entry points: Collect,
// then Weigh. All functions are pure and safe for concurrent use. Unusual input makes them find nothing, but never
// fail.
package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/sources"
	"nightdesk/topicqueue"
)

// Sources returns the distinct sources of the claims, in order.
func Sources(claims []Claim) []topicqueue.Source {
	var list []topicqueue.Source
	seen := map[string]bool{}
	for _, c := range claims {
		if !seen[c.Source.ID] {
			seen[c.Source.ID] = true
			list = append(list, c.Source)
		}
	}
	return list
}

// Weighed is the result of comparing claims.
type Weighed struct {
	Statements     []Statement     `json:"statements"` // in the order of their first claims; every claim belongs to one
	Contradictions []Contradiction `json:"contradictions"`
	Origin         map[string]int  `json:"-"` // origin by claim id; program output has none
}

// Statement is a statement that one or more claims make.
type Statement struct {
	Claims  []string `json:"claims"`  // claim ids
	Support int      `json:"support"` // independent sources that state or confirm it, at least 1
}

// Contradiction is a pair of statements that cannot both be true, from sources that are not copies of each other.
type Contradiction struct {
	Kind string `json:"kind"`          // value, date, or words
	Why  string `json:"why,omitempty"` // the difference and possible reasons, by a model
	A    Side   `json:"a"`             // side with more support; if equal, the earlier
	B    Side   `json:"b"`
}

// Kinds of contradictions.
const (
	ContradictsValue = "value"
	ContradictsDate  = "date"
	ContradictsWords = "words"
)

// Side is one side of a contradiction.
type Side struct {
	Value     string   `json:"value,omitempty"` // as written: 1.2 million; empty if the words differ
	Statement string   `json:"statement"`       // of the first claim
	Quote     string   `json:"quote"`           // verbatim
	Claims    []string `json:"claims"`
	Citations []string `json:"citations"` // distinct citations of the claims
	Support   int      `json:"support"`
}

// Weigh compares all claims with each other. sketches: sketches of sources' texts by source id; without one, copies of
// a source are detected only by hash and address. judged: pairs of claims that a model found contradictory. seen: ids
// of all claims that this model was shown. Other pairs contradict each other if they have the same words and a
// different value. Weigh is deterministic. A thousand claims take about a second.
func Weigh(
	claims []Claim, sketches map[string]sources.Sketch, judged []topicqueue.Contradiction, seen map[string]bool,
) Weighed {
	w := newWeighing(claims, sketches)
	w.group()
	origins := map[string]int{}
	for i, c := range claims {
		if !w.computed(i) {
			origins[c.ID] = w.origin[i]
		}
	}
	return Weighed{Statements: w.statements(), Contradictions: w.contradictions(judged, seen), Origin: origins}
}

// Origins counts the distinct origins of these claims, by claim id. Program output does not count.
func (w Weighed) Origins(claims map[string]bool) int {
	separate := map[int]bool{}
	for id := range claims {
		if origin, ok := w.Origin[id]; ok {
			separate[origin] = true
		}
	}
	return len(separate)
}

// Support returns the number of independent sources of each claim's statement, by claim id.
func (w Weighed) Support() map[string]int {
	support := map[string]int{}
	for _, s := range w.Statements {
		for _, id := range s.Claims {
			support[id] = s.Support
		}
	}
	return support
}

// weighing is the state of Weigh.
type weighing struct {
	claims []Claim
	said   []said
	family []int // by claim
	origin []int // by claim
	pairs  [][2]int
	backed [][]int // by claim: others that have all its values
	root   []int   // by claim: first claim of its statement
	groups [][]int // by root: claims, in order; nil for others
}

func newWeighing(claims []Claim, sketches map[string]sources.Sketch) *weighing {
	n := len(claims)
	w := &weighing{claims: claims, said: make([]said, n), family: make([]int, n), origin: make([]int, n)}
	list := Sources(claims)
	at := make(map[string]int, len(list))
	inOrder := make([]sources.Sketch, len(list))
	for i, s := range list {
		at[s.ID], inOrder[i] = i, sketches[s.ID]
	}
	families := sources.Families(list, inOrder)
	origins := sources.Origins(list, families)
	for i, c := range claims {
		w.family[i], w.origin[i] = families[at[c.Source.ID]], origins[at[c.Source.ID]]
		w.said[i] = understand(c)
	}
	w.pairs, w.backed = candidates(w.said), make([][]int, len(claims))
	for _, p := range w.pairs {
		for _, of := range [][2]int{p, {p[1], p[0]}} {
			if confirms(w.said[of[0]], w.said[of[1]]) {
				w.backed[of[0]] = append(w.backed[of[0]], of[1])
			}
		}
	}
	return w
}

// group joins claims that state the same. A claim joins the first statement whose first claim matches, so that small
// differences do not accumulate.
func (w *weighing) group() {
	w.root, w.groups = make([]int, len(w.claims)), make([][]int, len(w.claims))
	for i := range w.claims {
		w.root[i] = i
	}
	for _, p := range w.pairs { // in the order of the second
		first, alone := w.root[p[0]] == p[0], w.root[p[1]] == p[1]
		if first && alone && same(w.said[p[0]], w.said[p[1]]) {
			w.root[p[1]] = p[0]
		}
	}
	for i, root := range w.root {
		w.groups[root] = append(w.groups[root], i)
	}
}

// support counts the distinct origins of a group and of the claims that confirm it. Program output does not count,
// because it is computed from other sources.
func (w *weighing) support(group []int) int {
	origins := map[int]bool{}
	for _, i := range group {
		for _, j := range append([]int{i}, w.backed[i]...) {
			if !w.computed(j) {
				origins[w.origin[j]] = true
			}
		}
	}
	return max(1, len(origins))
}

func (w *weighing) computed(claim int) bool {
	return w.claims[claim].Source.Kind == topicqueue.SourceCode
}

func (w *weighing) statements() []Statement {
	list := []Statement{}
	for _, group := range w.groups {
		if len(group) > 0 {
			list = append(list, Statement{Claims: w.ids(group), Support: w.support(group)})
		}
	}
	return list
}

func (w *weighing) ids(group []int) []string {
	ids := make([]string, len(group))
	for i, claim := range group {
		ids[i] = w.claims[claim].ID
	}
	return ids
}

// contradictions returns the distinct pairs of contradictory statements, best supported first.
func (w *weighing) contradictions(judged []topicqueue.Contradiction, seen map[string]bool) []Contradiction {
	found := []Contradiction{}
	told := map[[2]int]bool{}
	add := func(i, j int, why string) {
		key := [2]int{min(w.root[i], w.root[j]), max(w.root[i], w.root[j])}
		if key[0] == key[1] || told[key] || w.family[i] == w.family[j] {
			return
		}
		told[key] = true
		kind, a, b := valuesOf(w.said[i], w.said[j])
		c := Contradiction{Kind: kind, Why: why, A: w.side(i, a), B: w.side(j, b)}
		if c.B.Support > c.A.Support {
			c.A, c.B = c.B, c.A
		}
		found = append(found, c)
	}
	at := map[string]int{}
	for i, c := range w.claims {
		at[c.ID] = i
	}
	for _, j := range judged {
		a, knownA := at[j.A]
		if b, knownB := at[j.B]; knownA && knownB {
			add(a, b, j.Why)
		}
	}
	form := w.forms()
	for _, p := range w.pairs {
		both := seen[w.claims[p[0]].ID] && seen[w.claims[p[1]].ID]
		if a, b := w.said[p[0]], w.said[p[1]]; !both && contradict(a, b) && !form[strings.Join(a.words, " ")] {
			add(p[0], p[1], "")
		}
	}
	slices.SortStableFunc(found, func(a, b Contradiction) int {
		return cmp.Compare(b.A.Support+b.B.Support, a.A.Support+a.B.Support)
	})
	return found
}

// manyValues is the number of values that identify a sentence template. Contradictory sources rarely have four.
const manyValues = 4

// forms returns the sorted words for which claims of at least manyValues families have different values. Such sentences
// are templates, as in reports of many stations, each about its own subject.
func (w *weighing) forms() map[string]bool {
	said := map[string][]int{} // by words: one claim of each family and value
	equal := func(i, j int) bool {
		a, b := sorted(w.said[i].values), sorted(w.said[j].values)
		return w.family[i] == w.family[j] || slices.EqualFunc(a, b, quantity.Agree)
	}
	for i, s := range w.said {
		key := strings.Join(s.words, " ")
		if !slices.ContainsFunc(said[key], func(j int) bool { return equal(i, j) }) {
			said[key] = append(said[key], i)
		}
	}
	forms := map[string]bool{}
	for words, claims := range said {
		forms[words] = len(claims) >= manyValues
	}
	return forms
}

// side returns a side: claim i with all claims of its statement.
func (w *weighing) side(i int, value string) Side {
	group := w.groups[w.root[i]]
	shown := w.claims[i]
	s := Side{Value: strings.TrimSpace(value), Statement: shown.Statement(), Quote: topicqueue.OneLine(shown.Quote),
		Claims: w.ids(group), Support: w.support(group)}
	s.Citations = append(s.Citations, shown.CitationID) // citation of the shown claim first
	for _, claim := range group {
		if id := w.claims[claim].CitationID; !slices.Contains(s.Citations, id) {
			s.Citations = append(s.Citations, id)
		}
	}
	return s
}

// candidates returns the pairs of claims with enough shared words to be about the same thing, the
// smaller index first, in the order of the larger. A pair needs
// two shared words, or one if either claim has at most three. Very common words are ignored, because they would pair
// everything.
func candidates(list []said) [][2]int {
	uses := map[string]int{}
	for _, s := range list {
		for _, t := range s.terms {
			uses[t]++
		}
	}
	common := max(60, len(list)/5)
	var pairs [][2]int
	holding := map[string][]int{}
	for i, s := range list {
		shared := make(map[int]int)
		for _, t := range s.terms {
			if uses[t] > common {
				continue
			}
			for _, j := range holding[t] {
				shared[j]++
			}
			holding[t] = append(holding[t], i)
		}
		for _, j := range slices.Sorted(maps.Keys(shared)) {
			if shared[j] >= 2 || min(len(s.terms), len(list[j].terms)) <= 3 {
				pairs = append(pairs, [2]int{j, i})
			}
		}
	}
	return pairs
}
