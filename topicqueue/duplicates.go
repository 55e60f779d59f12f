package topicqueue

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
)

// Duplicates finds those of many titles that name the same topic, as Duplicate has it, in a time that grows with their
// number and not with its square. It keeps hashes, some 70 bytes a title, not the titles. Not safe for concurrent use.
//
// Two sets of words of which 85% are common share one of their rarest words, however these are counted (prefix
// filtering: Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007), and all of their numbers. Only titles that do
// are compared.
type Duplicates struct {
	seed   maphash.Seed
	words  []uint32 // of all titles, as hashes; the lowest bit says that the word must be the same in the other one
	titles []hashedTitle
	df     []uint32 // titles that have a word, by its hash
	scopes []uint8  // titles of a scope with the same numbers, by their hash; at most 2
}

// hashedTitle is what is kept of a title.
type hashedTitle struct {
	key   uint64 // of scope and topic key; 0: blank
	scope uint64 // of scope and numbers
	end   uint32 // of its words
}

// Sizes of the tables of counts, whatever the number of titles. Where two words share a counter both seem less rare.
const (
	wordCounters  = 1 << 18
	scopeCounters = 1 << 20
)

// NewDuplicates returns a finder without titles.
func NewDuplicates() *Duplicates {
	return &Duplicates{seed: maphash.MakeSeed(), df: make([]uint32, wordCounters), scopes: make([]uint8, scopeCounters)}
}

// Add adds the next title. Titles of different scopes are never duplicates.
func (d *Duplicates) Add(title, scope string) {
	var t hashedTitle
	if key := TopicKey(title); key != "" {
		t.key = maphash.String(d.seed, scope+"\x00"+key) | 1
	}
	numbers := []string{scope}
	for w, exact := range titleWords(title) {
		hash := uint32(maphash.String(d.seed, w)) &^ 1
		d.df[wordCounter(hash)]++
		if exact {
			hash |= 1
		}
		d.words = append(d.words, hash)
		if hasDigit(w) {
			numbers = append(numbers, w)
		}
	}
	slices.Sort(numbers[1:])
	t.scope, t.end = maphash.String(d.seed, strings.Join(numbers, "\x00")), uint32(len(d.words))
	if n := &d.scopes[t.scope%scopeCounters]; *n < 2 {
		*n++
	}
	d.titles = append(d.titles, t)
}

func wordCounter(hash uint32) uint32 { return hash >> 1 % wordCounters }

// mostCompared bounds how many titles one is compared with: a list whose titles are all made of a few words takes no
// longer. In such a list a duplicate may be missed; one of the same words never is.
const mostCompared = 500

// place is where titles that may be duplicates of each other meet.
type place struct {
	scope uint64
	word  uint32
}

// Find returns for each title, in the order of Add, the number (from 0) of the earliest one before it that it
// duplicates and that is itself no duplicate; -1 when there is none. title: returns a title by its number again; it is
// asked for those that seem to be duplicates.
func (d *Duplicates) Find(title func(i int) string) []int32 {
	out := make([]int32, len(d.titles))
	first := map[uint64]int32{} // by key, or by words, of titles that are no duplicates
	at := map[place][]int32{}   // the same by each of their rarest words
	last := map[int32]int32{}   // which title they were compared with last
	for i := range d.titles {
		out[i] = -1
		t := d.titles[i]
		if t.key == 0 || d.scopes[t.scope%scopeCounters] < 2 { // no other one has its numbers
			continue
		}
		n, words := int32(i), d.of(i)
		slices.SortFunc(words, d.rarestFirst)
		text, best := "", int32(-1)
		try := func(other int32) {
			if best >= 0 && other >= best {
				return
			}
			if text == "" {
				text = title(i)
			}
			if Duplicate(text, title(int(other))) {
				best = other
			}
		}
		set := d.hashSet(i)
		for _, hash := range []uint64{t.key, set} {
			if other, ok := first[hash]; ok {
				try(other)
			}
		}
		rarest := words[:prefixLength(len(words))]
		left := mostCompared
		for _, w := range rarest {
			for _, other := range at[place{t.scope, w &^ 1}] {
				if left == 0 || best >= 0 && other >= best {
					break // they are in order: no earlier one comes
				}
				if last[other] == n {
					continue
				}
				last[other] = n
				left--
				if d.near(i, int(other)) {
					try(other)
				}
			}
		}
		if out[i] = best; best >= 0 {
			continue
		}
		for _, hash := range []uint64{t.key, set} {
			if _, ok := first[hash]; !ok {
				first[hash] = n
			}
		}
		for _, w := range rarest {
			if d.df[wordCounter(w)] > 1 { // another one has it
				p := place{t.scope, w &^ 1}
				at[p] = append(at[p], n)
			}
		}
	}
	return out
}

// of returns the words of a title.
func (d *Duplicates) of(i int) []uint32 {
	begin := uint32(0)
	if i > 0 {
		begin = d.titles[i-1].end
	}
	return d.words[begin:d.titles[i].end]
}

// rarestFirst is the order of words.
func (d *Duplicates) rarestFirst(a, b uint32) int {
	if x, y := d.df[wordCounter(a)], d.df[wordCounter(b)]; x != y {
		return int(x) - int(y)
	}
	return int(a>>1) - int(b>>1)
}

// hashSet is the same for titles of one scope with the same words, which are in order. It is even, keys are odd.
func (d *Duplicates) hashSet(i int) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, w := range d.of(i) {
		w &^= 1
		_, _ = h.Write([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)})
	}
	return (h.Sum64() ^ d.titles[i].scope) &^ 1
}

// prefixLength is how many of its rarest words a title of n words must share one with a duplicate.
func prefixLength(n int) int {
	if n == 0 {
		return 0
	}
	return n - int(math.Ceil(duplicateSimilarity*float64(n)-1e-9)) + 1
}

// near reports whether two titles of one scope, whose words are in order, may be duplicates. It gives up at the first
// word too many.
func (d *Duplicates) near(i, j int) bool {
	a, b := d.of(i), d.of(j)
	sum := len(a) + len(b)
	// common/(sum-common) >= similarity leaves so many words that only one of them has.
	left := sum - 2*int(math.Ceil(duplicateSimilarity/(1+duplicateSimilarity)*float64(sum)-1e-9))
	if max(len(a)-len(b), len(b)-len(a)) > left {
		return false
	}
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(b) == 0:
			order = -1
		case len(a) == 0:
			order = 1
		default:
			order = d.rarestFirst(a[0], b[0])
		}
		if order == 0 {
			a, b = a[1:], b[1:]
			continue
		}
		var only uint32
		if order < 0 {
			only, a = a[0], a[1:]
		} else {
			only, b = b[0], b[1:]
		}
		if left--; left < 0 || only&1 == 1 {
			return false
		}
	}
	return true
}
