package sources

import (
	"cmp"
	"slices"
	"unicode"

	"nightdesk/pipeline/text"
)

// Sketch is a sample of the word sequences of a text, by which copies are recognised without keeping the text: the
// smallest hashes of all runs of shingleWords words, in order. Nil for a text that is too short to tell.
// Source: bottom-k MinHash (Broder 1997).
type Sketch []uint64

const (
	shingleWords = 5
	shortest     = 40   // words of a text that can be a copy but for its hash
	sketchSize   = 1024 // hashes kept; 8 kB a text
	contained    = 0.8  // share of the shorter text that stands in the longer one
	fewest       = 8    // hashes from which a share can be told
	neighbours   = 8    // later texts with the same hash that are compared: copies of copies are joined all the same
)

// NewSketch samples a text. Letter case, punctuation and white space do not count; a Chinese or Japanese character is
// a word.
func NewSketch(text string) Sketch {
	words := wordHashes(text)
	if len(words) < shortest {
		return nil
	}
	hashes := make([]uint64, 0, len(words))
	for i := 0; i+shingleWords <= len(words); i++ {
		h := uint64(fnvOffset)
		for _, w := range words[i : i+shingleWords] {
			h = mix(h ^ w)
		}
		hashes = append(hashes, h)
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	return slices.Clone(hashes[:min(len(hashes), sketchSize)])
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// mix spreads a hash over all bits (splitmix64).
func mix(h uint64) uint64 {
	h += 0x9e3779b97f4a7c15
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

// wordHashes returns a hash for each word.
func wordHashes(s string) []uint64 {
	var out []uint64
	h, in := uint64(fnvOffset), false
	end := func() {
		if in {
			out = append(out, h)
		}
		h, in = fnvOffset, false
	}
	for _, r := range s {
		switch {
		case text.Ideograph(r):
			end()
			out = append(out, mix(uint64(r)))
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			h, in = (h^uint64(unicode.ToLower(r)))*fnvPrime, true
		case r == '\'' || r == '’':
		default:
			end()
		}
	}
	end()
	return out
}

// copies reports that one text stands in the other, as far as the samples tell: up to the largest hash that both
// samples are complete to.
func copies(a, b Sketch) bool {
	limit := ^uint64(0)
	for _, s := range []Sketch{a, b} {
		if len(s) == sketchSize {
			limit = min(limit, s[len(s)-1])
		}
	}
	nA, nB, both := 0, 0, 0
	for i, j := 0, 0; ; {
		okA, okB := i < len(a) && a[i] <= limit, j < len(b) && b[j] <= limit
		switch {
		case !okA && !okB:
			smaller := min(nA, nB)
			return smaller >= fewest && float64(both) >= contained*float64(smaller)
		case okA && okB && a[i] == b[j]:
			nA, nB, both = nA+1, nB+1, both+1
			i, j = i+1, j+1
		case !okB || okA && a[i] < b[j]:
			nA++
			i++
		default:
			nB++
			j++
		}
	}
}

// nearPairs returns the pairs of texts that are copies, by way of the hashes that they share.
func nearPairs(sketches []Sketch) [][2]int {
	type posting struct {
		hash uint64
		text int
	}
	var all []posting
	for i, s := range sketches {
		for _, h := range s {
			all = append(all, posting{h, i})
		}
	}
	slices.SortFunc(all, func(a, b posting) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.text, b.text))
	})
	shared := map[[2]int]int{}
	for i, p := range all {
		for j := i + 1; j < len(all) && j <= i+neighbours && all[j].hash == p.hash; j++ {
			shared[[2]int{p.text, all[j].text}]++
		}
	}
	var pairs [][2]int
	for pair, n := range shared {
		if n >= fewest/2 && copies(sketches[pair[0]], sketches[pair[1]]) {
			pairs = append(pairs, pair)
		}
	}
	return pairs // joining them gives the same in any order
}
