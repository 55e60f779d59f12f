package extractive

import "slices"

// Seen is a set of sentences that recognises repetitions, in the sense of Same, over a whole report. The zero value
// is empty and ready. Not safe for concurrent use.
type Seen struct {
	statements []statement
	holding    map[posting][]int32 // statements that hold a term
	looked     []int32             // for each statement the last search that compared it
	searches   int32
	st         stemmer
}

// posting is a term within the statements of the same numbers and negation: others are never the same.
type posting struct {
	numbers string
	negated bool
	term    string
}

func (s statement) posting(term string) posting { return posting{s.numbers, s.negated, term} }

// Add takes text into the set and reports true, unless the set holds the same already: then it reports false and the
// set stays as it is. A text without content words is never the same as another.
//
// Only the rarest of its terms are looked up: two statements that are the same share so many terms that at least one
// of these is among them. 5,000 sentences of one report take well under a second.
func (s *Seen) Add(text string) bool {
	st := s.statement(text)
	if s.find(st) >= 0 {
		return false
	}
	if s.holding == nil {
		s.holding = map[posting][]int32{}
	}
	n := int32(len(s.statements))
	s.statements = append(s.statements, st)
	s.looked = append(s.looked, 0)
	for _, t := range st.terms {
		p := st.posting(t)
		s.holding[p] = append(s.holding[p], n)
	}
	return true
}

// Find returns the ordinal of the first added text that is the same as this one, counted from 0 over the texts that
// Add took in; -1 when there is none.
func (s *Seen) Find(text string) int { return s.find(s.statement(text)) }

func (s *Seen) statement(text string) statement {
	if s.st == nil {
		s.st = stemmer{}
	}
	return newStatement(text, s.st)
}

func (s *Seen) find(st statement) int {
	n := len(st.terms)
	if n == 0 {
		return -1
	}
	s.searches++
	// The fewest terms that another statement shares with this one if they are the same: by sameInside when the other
	// is the shorter, by sameDice (overlap >= d/(2-d) of either) otherwise.
	fewest := int(min(sameInside*sameLength, sameDice/(2-sameDice)) * float64(n))
	lists := make([][]int32, n)
	for i, t := range st.terms {
		lists[i] = s.holding[st.posting(t)]
	}
	slices.SortFunc(lists, func(a, b []int32) int { return len(a) - len(b) })
	best := -1
	for _, list := range lists[:min(n, n-fewest+1)] {
		for _, i := range list {
			if best >= 0 && int(i) >= best {
				break // lists are in order
			}
			if s.looked[i] == s.searches {
				continue
			}
			s.looked[i] = s.searches
			if st.same(s.statements[i]) {
				best = int(i)
			}
		}
	}
	return best
}
