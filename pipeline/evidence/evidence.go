// Package evidence weighs what the claims of a run say together: which of them say the same, how many sources of
// separate origin state it, and where sources contradict each other. It asks no model.
//
// It does not say which side is right, nor whether a claim stands in its source, nor whether sources of separate origin
// are independent of each other: one may repeat in its own words what it has from the other. Entry points: Collect,
// then Weigh. Words are compared, never understood: what says the same in
// other words counts as another statement, and a contradiction in other words is for a model to find. All functions are
// pure and safe for concurrent use; foreign text may make them find nothing, never fail.
package evidence

import (
	"cmp"
	"slices"
	"strings"

	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/sources"
	"nightdesk/topicqueue"
)

// Claim is a claim with the source that it stands in.
type Claim struct {
	topicqueue.Claim
	Source topicqueue.Source
}

// statement is what the claim says: its text, else its quote.
func (c Claim) statement() string {
	return cmp.Or(topicqueue.OneLine(c.Text), topicqueue.OneLine(c.Quote))
}

// Collect returns the claims of these traces, in order.
func Collect(traces []topicqueue.ToolTrace) []Claim {
	var claims []Claim
	for _, t := range traces {
		for _, c := range t.Claims {
			claims = append(claims, Claim{c, t.Source})
		}
	}
	return claims
}

// Sources returns the sources of the claims, each once, in order.
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

// Weighed is what claims say together.
type Weighed struct {
	Statements     []Statement     `json:"statements"` // every claim belongs to one; in the order of their first claims
	Contradictions []Contradiction `json:"contradictions"`
	Origin         map[string]int  `json:"-"` // of claims, by id; those of programs have none
}

// Statement is what one or several claims say.
type Statement struct {
	Claims  []string `json:"claims"`  // claim ids
	Support int      `json:"support"` // sources of separate origin that state or confirm it, at least 1
}

// Contradiction is two statements that cannot both be true, from sources that are no copies of each other.
type Contradiction struct {
	Kind string `json:"kind"`          // value, date or, where a model has found it in the words, words
	Why  string `json:"why,omitempty"` // what a model says that differs, and what may explain it
	A    Side   `json:"a"`             // the side with more support; of equal ones the earlier
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
	Value     string   `json:"value,omitempty"` // as its source writes it: 1.2 million; empty where the words differ
	Statement string   `json:"statement"`       // of the first claim
	Quote     string   `json:"quote"`           // verbatim
	Claims    []string `json:"claims"`
	Citations []string `json:"citations"` // of these claims, each once
	Support   int      `json:"support"`
}

// Weigh compares all claims with each other. sketches: of the texts of sources, by source id; a missing one makes its
// source a copy only by hash and address. judged: the pairs of claims that a model has found to contradict each
// other, of all claims that it has seen, by id. Of others, contradictions are those with the same words and another
// value. Deterministic. A thousand claims take about a second.
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

// Origins counts the separate origins of these claims, by id. What a program of the run has computed is none.
func (w Weighed) Origins(claims map[string]bool) int {
	separate := map[int]bool{}
	for id := range claims {
		if origin, ok := w.Origin[id]; ok {
			separate[origin] = true
		}
	}
	return len(separate)
}

// Support returns by claim id how many sources of separate origin state what the claim says.
func (w Weighed) Support() map[string]int {
	support := map[string]int{}
	for _, s := range w.Statements {
		for _, id := range s.Claims {
			support[id] = s.Support
		}
	}
	return support
}

// weighing is the work of Weigh.
type weighing struct {
	claims []Claim
	said   []said
	family []int // by claim
	origin []int // by claim
	pairs  [][2]int
	backed [][]int // by claim: others that have all its values, in whatever words
	root   []int   // by claim: first claim that says the same
	groups [][]int // by root: claims, in order; nil for others
}

func newWeighing(claims []Claim, sketches map[string]sources.Sketch) *weighing {
	w := &weighing{claims: claims, said: make([]said, len(claims)), family: make([]int, len(claims)), origin: make([]int, len(claims))}
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

// group joins claims that say the same. A claim joins the first statement whose first claim says the same, so that
// likeness is not handed on from claim to claim.
func (w *weighing) group() {
	w.root, w.groups = make([]int, len(w.claims)), make([][]int, len(w.claims))
	partners := make([][]int, len(w.claims))
	for _, p := range w.pairs { // the smaller index first, in order
		partners[p[1]] = append(partners[p[1]], p[0])
	}
	for i := range w.claims {
		w.root[i] = i
		for _, j := range partners[i] {
			if w.root[j] == j && same(w.said[j], w.said[i]) {
				w.root[i] = j
				break
			}
		}
		w.groups[w.root[i]] = append(w.groups[w.root[i]], i)
	}
}

// support counts the origins of a group, as sources.Origins tells them apart. What a program of the run has computed is
// not one of them beside the sources that it was computed from.
func (w *weighing) support(group []int) int {
	origins := map[int]bool{}
	add := func(claim int) {
		if !w.computed(claim) {
			origins[w.origin[claim]] = true
		}
	}
	for _, i := range group {
		add(i)
		for _, j := range w.backed[i] {
			add(j)
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

// contradictions returns each pair of statements that contradict each other once, the best supported first.
func (w *weighing) contradictions(judged []topicqueue.Contradiction, seen map[string]bool) []Contradiction {
	found := []Contradiction{}
	told := map[[2]int]bool{}
	add := func(i, j int, c Contradiction, a, b string) {
		key := [2]int{min(w.root[i], w.root[j]), max(w.root[i], w.root[j])}
		if key[0] == key[1] || told[key] || w.family[i] == w.family[j] {
			return
		}
		told[key] = true
		if c.A, c.B = w.side(i, a), w.side(j, b); c.B.Support > c.A.Support {
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
		b, knownB := at[j.B]
		if knownA && knownB {
			kind, valueA, valueB := valuesOf(w.said[a], w.said[b])
			add(a, b, Contradiction{Kind: kind, Why: j.Why}, valueA, valueB)
		}
	}
	form := w.forms()
	for _, p := range w.pairs {
		both := seen[w.claims[p[0]].ID] && seen[w.claims[p[1]].ID]
		if a, b := w.said[p[0]], w.said[p[1]]; !both && contradict(a, b) && !form[strings.Join(a.words, " ")] {
			kind, valueA, valueB := valuesOf(a, b)
			add(p[0], p[1], Contradiction{Kind: kind}, valueA, valueB)
		}
	}
	slices.SortStableFunc(found, func(a, b Contradiction) int {
		return cmp.Compare(b.A.Support+b.B.Support, a.A.Support+a.B.Support)
	})
	return found
}

// manyValues is how many values make a form of a sentence: sources that contradict each other rarely give four.
const manyValues = 4

// forms returns the words, sorted, with which claims of so many families each give a value of their own. These
// are forms that are filled in, such as the reports of many stations: each speaks of its own subject.
func (w *weighing) forms() map[string]bool {
	said := map[string][]int{} // by words: claims, one of each family and value
	equal := func(i, j int) bool {
		a, _ := w.said[i].values()
		b, _ := w.said[j].values()
		return w.family[i] == w.family[j] || slices.EqualFunc(sorted(a), sorted(b), quantity.Agree)
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

// side shows claim i with all that say the same.
func (w *weighing) side(i int, value string) Side {
	group := w.groups[w.root[i]]
	s := Side{Value: strings.TrimSpace(value), Statement: w.claims[i].statement(), Quote: topicqueue.OneLine(w.claims[i].Quote), Claims: w.ids(group), Support: w.support(group)}
	s.Citations = append(s.Citations, w.claims[i].CitationID) // the one whose words are shown comes first
	for _, claim := range group {
		if id := w.claims[claim].CitationID; !slices.Contains(s.Citations, id) {
			s.Citations = append(s.Citations, id)
		}
	}
	return s
}

// candidates returns the pairs of claims that share enough words to be about one thing, in order. Words that half of
// the claims have tell little and would make everything a pair: they count only for short claims.
func candidates(list []said) [][2]int {
	holding := map[string][]int32{}
	for i, s := range list {
		for _, t := range s.terms {
			holding[t] = append(holding[t], int32(i))
		}
	}
	common := max(60, len(list)/5)
	var pairs [][2]int
	shared := make([]int32, len(list))
	for i, s := range list {
		var touched []int32
		for _, t := range s.terms {
			if len(holding[t]) > common {
				continue
			}
			for _, j := range holding[t] {
				if int(j) >= i {
					break
				}
				if shared[j] == 0 {
					touched = append(touched, j)
				}
				shared[j]++
			}
		}
		slices.Sort(touched)
		for _, j := range touched {
			if shared[j] >= 2 || min(len(s.terms), len(list[j].terms)) <= 3 {
				pairs = append(pairs, [2]int{int(j), i})
			}
			shared[j] = 0
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return pairs
}
