package knowledge

import (
	"cmp"
	"slices"
)

// fuse combines rankings, each best first, by reciprocal rank fusion (Cormack, Clarke, Buettcher 2009). The leader of
// one of two rankings becomes first or second. Equal scores share a rank, because all passages of a section match its
// heading equally well and their text must decide between them. Ties are ordered by id.
func fuse(rankings ...[]hit) []hit {
	sum := map[int64]float64{}
	for _, ranked := range rankings { // in fixed order, because floating-point sums depend on it
		place, last := 0, 0.0
		for i, h := range ranked {
			if i == 0 || h.score != last {
				place, last = place+1, h.score
			}
			sum[h.id] += 1 / float64(fuseK+place)
		}
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
