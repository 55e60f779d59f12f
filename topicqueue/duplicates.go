package topicqueue

import (
	"hash/maphash"
	"math"
	"slices"
)

// Duplicates finds those of many titles that name the same topic, as Duplicate has it, in a time that grows with their
// number and not with its square. It keeps some 100 bytes a title, not the titles. Not safe for concurrent use.
//
// Two sets of words of which 85% are common share one of their rarest words, however these are counted (prefix filtering:
// Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007), and all of their numbers. Only titles that do are compared.
type Duplicates struct {
	seed  maphash.Seed
	ids   map[string]uint32 // of words
	names []string          // by id
	count []uint32          // titles that have the word, by id
	words []uint32          // of all titles: id<<1, and 1 when it must be the same in the other one
	ends  []int             // where those of a title end
	keys  []uint64          // hash of scope and topic key, by title; 0: blank
	scope []uint64          // hash of scope and numbers
}

// NewDuplicates returns a finder without titles.
func NewDuplicates() *Duplicates {
	return &Duplicates{seed: maphash.MakeSeed(), ids: map[string]uint32{}}
}

// Add adds the next title. Titles of different scopes are never duplicates.
func (d *Duplicates) Add(title, scope string) {
	key, hash := TopicKey(title), uint64(0)
	if key != "" {
		hash = maphash.String(d.seed, scope+"\x00"+key) | 1
	}
	var numbers []string
	for w, exact := range titleWords(title) {
		id, ok := d.ids[w]
		if !ok {
			id = uint32(len(d.names))
			d.ids[w] = id
			d.names, d.count = append(d.names, w), append(d.count, 0)
		}
		d.count[id]++
		mark := id << 1
		if exact {
			mark |= 1
		}
		d.words = append(d.words, mark)
		if hasDigit(w) {
			numbers = append(numbers, w)
		}
	}
	slices.Sort(numbers)
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, part := range append(numbers, scope) {
		_, _ = h.WriteString(part)
		_ = h.WriteByte(0)
	}
	d.ends, d.keys, d.scope = append(d.ends, len(d.words)), append(d.keys, hash), append(d.scope, h.Sum64())
}

// mostCompared bounds how many titles one is compared with: a list whose titles are all made of a few words takes no longer.
// In such a list a duplicate may be missed; one of the same words never is.
const mostCompared = 500

// place is where titles that may be duplicates of each other meet.
type place struct {
	scope uint64
	word  uint32
}

// Find returns for each title, in the order of Add, the number (from 0) of the earliest one before it that it duplicates
// and that is itself no duplicate; -1 when there is none.
func (d *Duplicates) Find() []int32 {
	rank := d.rankWords()
	out := make([]int32, len(d.ends))
	byKey, bySet := map[uint64]int32{}, map[uint64]int32{}
	at := map[place][]int32{} // titles that are no duplicates, by each of their rarest words
	compared := make([]int32, len(d.ends))
	for i := range d.ends {
		n, words := int32(i), d.of(i)
		slices.SortFunc(words, func(a, b uint32) int { return int(rank[a>>1]) - int(rank[b>>1]) })
		set := d.hashSet(i)
		first := int32(-1)
		take := func(other int32) {
			if first < 0 || other < first {
				first = other
			}
		}
		if other, ok := byKey[d.keys[i]]; ok && d.keys[i] != 0 {
			take(other)
		}
		if other, ok := bySet[set]; ok && len(words) > 0 && d.keys[i] != 0 {
			take(other)
		}
		rarest := words[:prefixLength(len(words))]
		left := mostCompared
		for _, w := range rarest {
			for _, other := range at[place{d.scope[i], w >> 1}] {
				if left == 0 || first >= 0 && other > first {
					break // they are in order: no earlier one comes
				}
				if compared[other] == n+1 {
					continue
				}
				compared[other] = n + 1
				left--
				if d.same(i, int(other), rank) {
					take(other)
				}
			}
		}
		if out[i] = first; first >= 0 || d.keys[i] == 0 {
			continue
		}
		byKey[d.keys[i]] = n
		if len(words) > 0 {
			bySet[set] = n
		}
		for _, w := range rarest {
			p := place{d.scope[i], w >> 1}
			at[p] = append(at[p], n)
		}
	}
	return out
}

// of returns the words of a title.
func (d *Duplicates) of(i int) []uint32 {
	begin := 0
	if i > 0 {
		begin = d.ends[i-1]
	}
	return d.words[begin:d.ends[i]]
}

// rankWords numbers the words by id, the rarest first.
func (d *Duplicates) rankWords() []uint32 {
	order := make([]uint32, len(d.names))
	for id := range order {
		order[id] = uint32(id)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return int(d.count[a]) - int(d.count[b]) })
	rank := make([]uint32, len(order))
	for r, id := range order {
		rank[id] = uint32(r)
	}
	return rank
}

// hashSet is the same for titles of one scope with the same words.
func (d *Duplicates) hashSet(i int) uint64 {
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, w := range d.of(i) {
		id := w >> 1
		_, _ = h.Write([]byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)})
	}
	return h.Sum64() ^ d.scope[i]
}

// prefixLength is how many of its rarest words a title of n words must share one with a duplicate.
func prefixLength(n int) int {
	if n == 0 {
		return 0
	}
	return n - int(math.Ceil(duplicateSimilarity*float64(n)-1e-9)) + 1
}

// same is Duplicate of two titles of one scope, whose words are sorted by rank. It gives up at the first word too many.
func (d *Duplicates) same(i, j int, rank []uint32) bool {
	a, b := d.of(i), d.of(j)
	sum := len(a) + len(b)
	// common/(sum-common) >= similarity leaves so many words that only one of them has.
	left := sum - 2*int(math.Ceil(duplicateSimilarity/(1+duplicateSimilarity)*float64(sum)-1e-9))
	if max(len(a)-len(b), len(b)-len(a)) > left {
		return false
	}
	if !eachOnly(a, b, rank, func(w uint32, _ bool) bool {
		left--
		return left >= 0 && w&1 == 0
	}) {
		return false
	}
	var onlyA, onlyB []string
	eachOnly(a, b, rank, func(w uint32, inA bool) bool {
		if inA {
			onlyA = append(onlyA, d.names[w>>1])
		} else {
			onlyB = append(onlyB, d.names[w>>1])
		}
		return true
	})
	return !slices.ContainsFunc(onlyA, func(w string) bool { return opposed(w, onlyB) })
}

// eachOnly calls visit for each word that only one of two titles has, until it returns false, and returns that.
func eachOnly(a, b, rank []uint32, visit func(w uint32, inA bool) bool) bool {
	for len(a) > 0 || len(b) > 0 {
		inA := len(b) == 0 || len(a) > 0 && rank[a[0]>>1] < rank[b[0]>>1]
		var w uint32
		switch {
		case inA:
			w, a = a[0], a[1:]
		case len(a) == 0 || rank[b[0]>>1] < rank[a[0]>>1]:
			w, b = b[0], b[1:]
		default:
			a, b = a[1:], b[1:]
			continue
		}
		if !visit(w, inA) {
			return false
		}
	}
	return true
}
