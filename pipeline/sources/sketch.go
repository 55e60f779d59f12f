package sources

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"nightdesk/pipeline/text"
)

// Sketch is a sample of the word sequences in a text, for recognizing copies without storing the text. It holds the
// smallest hashes of all runs of shingleWords words, in ascending order. It is nil for texts too short to compare.
// Source: bottom-k MinHash (Broder 1997).
type Sketch []uint64

const (
	shingleWords = 5
	shortest     = 40   // minimum words of a text for a sketch; shorter copies are recognized only by their hash
	sketchSize   = 1024 // number of hashes kept; 8 kB per text
	contained    = 0.8  // share of the shorter text that the longer must contain
	fewest       = 8    // minimum number of hashes for computing a share
	neighbours   = 8    // later texts compared per shared hash; sufficient because copies of copies are joined
)

// NewSketch samples a text. It ignores letter case, punctuation and white space. A Chinese or Japanese character counts
// as a word.
func NewSketch(s string) Sketch {
	words := text.Words(s)
	if len(words) < shortest {
		return nil
	}
	hashes := make([]uint64, 0, len(words))
	for i := 0; i+shingleWords <= len(words); i++ {
		hashes = append(hashes, xxhash.Sum64String(strings.Join(words[i:i+shingleWords], " ")))
	}
	slices.Sort(hashes)
	hashes = slices.Compact(hashes)
	return slices.Clone(hashes[:min(len(hashes), sketchSize)])
}

// copies reports whether one text contains the other, judging by the samples. It compares hashes up to the largest
// value to which both samples are complete.
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

// nearPairs returns the pairs of texts that are copies. It compares only texts that share hashes.
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
	return pairs // their order does not affect the joined result
}
