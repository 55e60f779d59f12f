package text

import "slices"

// Similarity compares two texts by their content words: 0 for no common words, 1 for the same words. Symmetric. The
// order of words, repetitions and stop words do not count. Two texts without content words score 0. Source: Dice
// coefficient on sets (Dice 1945, Sørensen 1948).
func Similarity(a, b string) float64 {
	ta, tb := TermSet(a), TermSet(b)
	if len(ta)+len(tb) == 0 {
		return 0
	}
	return 2 * float64(common(ta, tb)) / float64(len(ta)+len(tb))
}

// Coverage returns the share of the distinct content words of query that occur in s, 0 to 1 (coordination level
// matching). It returns 0 for a query without content words.
func Coverage(s, query string) float64 {
	asked := TermSet(query)
	if len(asked) == 0 {
		return 0
	}
	return float64(common(TermSet(s), asked)) / float64(len(asked))
}

// TermSet returns the distinct Terms of s, sorted.
func TermSet(s string) []string {
	ts := Terms(s)
	slices.Sort(ts)
	return slices.Compact(ts)
}

// common returns the number of elements that two sorted sets share.
func common(a, b []string) (n int) {
	for _, t := range a {
		if _, has := slices.BinarySearch(b, t); has {
			n++
		}
	}
	return n
}
