package topicqueue

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
)

// Duplicates finds titles that name the same topic, as defined by Duplicate, among many. It takes less than quadratic
// time. It keeps hashes, about 70 bytes per title, not the titles. Not safe for concurrent use.
//
// Two sets of words with 85% in common share one of their rarest words, however rarity is counted (prefix filtering:
// Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007). Duplicates also share all numbers. Only titles that
// meet both conditions are compared.
type Duplicates struct {
	seed   maphash.Seed
	words  []uint32 // word hashes of all titles; lowest bit set: a duplicate must have the same word
	titles []hashedTitle
	df     []uint32 // number of titles per word, by word hash
	scopes []uint8  // number of titles per scope and numbers, by their hash; at most 2
}

// hashedTitle is the stored form of a title.
type hashedTitle struct {
	key   uint64 // hash of scope and topic key; 0: blank title
	scope uint64 // hash of scope and numbers
	end   uint32 // end of its words in Duplicates.words
}

// Sizes of the counter tables, whatever the number of titles. Words that share a counter seem less rare.
const (
	wordCounters  = 1 << 18
	scopeCounters = 1 << 20
)

// NewDuplicates returns an empty Duplicates.
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

// mostCompared is the maximum number of titles that one title is compared with. It bounds the time for titles made of
// a few words. In such a list a duplicate may be missed, but not one with the same words.
const mostCompared = 500

// place is an index key under which possible duplicates meet.
type place struct {
	scope uint64
	word  uint32
}

// Find returns for each title, in the order of Add, the number of the earliest title that it duplicates and that is
// not a duplicate itself; -1 if there is none. Numbers count from 0. title returns a title by its number; Find calls
// it only for likely duplicates.
func (d *Duplicates) Find(title func(i int) string) []int32 {
	out := make([]int32, len(d.titles))
	first := map[uint64]int32{} // titles that are not duplicates, by key or by hash of words
	at := map[place][]int32{}   // the same titles, by each of their rarest words
	last := map[int32]int32{}   // number of the title that each was last compared with
	for i := range d.titles {
		out[i] = -1
		t := d.titles[i]
		if t.key == 0 || d.scopes[t.scope%scopeCounters] < 2 { // no other title has the same numbers
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
					break // titles are in order, so no earlier one follows
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
			if d.df[wordCounter(w)] > 1 { // another title has the word
				p := place{t.scope, w &^ 1}
				at[p] = append(at[p], n)
			}
		}
	}
	return out
}

// of returns the words of title i.
func (d *Duplicates) of(i int) []uint32 {
	begin := uint32(0)
	if i > 0 {
		begin = d.titles[i-1].end
	}
	return d.words[begin:d.titles[i].end]
}

// rarestFirst compares words by rarity, then by hash.
func (d *Duplicates) rarestFirst(a, b uint32) int {
	if x, y := d.df[wordCounter(a)], d.df[wordCounter(b)]; x != y {
		return int(x) - int(y)
	}
	return int(a>>1) - int(b>>1)
}

// hashSet returns a hash of scope and words, which must be in order. It is even; keys are odd.
func (d *Duplicates) hashSet(i int) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, w := range d.of(i) {
		w &^= 1
		_, _ = h.Write([]byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)})
	}
	return (h.Sum64() ^ d.titles[i].scope) &^ 1
}

// prefixLength returns how many of the rarest words of an n-word title must include a word of any duplicate.
func prefixLength(n int) int {
	if n == 0 {
		return 0
	}
	return n - int(math.Ceil(duplicateSimilarity*float64(n)-1e-9)) + 1
}

// near reports whether titles i and j of one scope, whose words are in order, may be duplicates. It stops as soon as
// too many words differ.
func (d *Duplicates) near(i, j int) bool {
	a, b := d.of(i), d.of(j)
	sum := len(a) + len(b)
	// common/(sum-common) >= similarity limits the number of words that only one title has.
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
