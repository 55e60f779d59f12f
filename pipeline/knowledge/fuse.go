package knowledge

import (
	"cmp"
	"slices"
)

// fuse adds the scores by words and by vectors, each as a share of its own range (a convex combination: Bruch, Gai,
// Ingber 2023, "An Analysis of Fusion Functions for Hybrid Retrieval"). BM25 begins at 0, cosines at the smallest one;
// a passage that one of the rankings lacks has 0 there. Without vectors the order by words remains. Ties are ordered
// by id.
func fuse(words, near []hit) []hit {
	if len(near) == 0 {
		return words
	}
	sum := map[int64]float64{}
	for _, h := range words {
		sum[h.id] = wordsWeight * min(1, h.score/words[0].score/enoughWords)
	}
	least := near[len(near)-1].score
	for _, h := range near {
		sum[h.id] += (h.score - least) / max(near[0].score-least, 1e-9)
	}
	out := make([]hit, 0, len(sum))
	for id, score := range sum {
		out = append(out, hit{id, score})
	}
	slices.SortFunc(out, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	return out
}
