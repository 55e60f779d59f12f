package knowledge

import (
	"cmp"
	"context"
	"slices"
)

// Shelf searches several bases as one, for example attachments before the knowledge base of a run. Scores of different
// bases are not comparable, so results are interleaved: the best of each base, then the second best of each, and so on.
type Shelf []*Base

// Search calls Base.Search on all bases.
func (s Shelf) Search(ctx context.Context, query string, limit int, mode Mode) ([]Passage, error) {
	return interleaved(s, limit, func(b *Base) ([]Passage, error) { return b.Search(ctx, query, limit, mode) })
}

// Item calls Base.Item on all bases.
func (s Shelf) Item(ctx context.Context, name string, limit int) ([]Passage, error) {
	return interleaved(s, limit, func(b *Base) ([]Passage, error) { return b.Item(ctx, name, limit) })
}

// Sections calls Base.Sections on all bases. The best section of each base gets the score 1.
func (s Shelf) Sections(ctx context.Context, query string, limit int) ([]SectionHit, error) {
	return compared(s, limit, func(b *Base) ([]SectionHit, error) { return b.Sections(ctx, query, limit) },
		func(h *SectionHit) *float64 { return &h.Score })
}

// Titles calls Base.Titles on all bases. The best title of each base gets the score 1.
func (s Shelf) Titles(ctx context.Context, query string, limit int) ([]DocumentHit, error) {
	return compared(s, limit, func(b *Base) ([]DocumentHit, error) { return b.Titles(ctx, query, limit) },
		func(h *DocumentHit) *float64 { return &h.Score })
}

// compared queries each base and returns the limit results with the highest scores relative to the best of their base.
func compared[T any](bases []*Base, limit int, ask func(*Base) ([]T, error), score func(*T) *float64) ([]T, error) {
	hits, err := interleaved(bases, len(bases)*limit, func(b *Base) ([]T, error) {
		found, err := ask(b)
		for i := range slices.Backward(found) {
			*score(&found[i]) /= *score(&found[0])
		}
		return found, err
	})
	slices.SortStableFunc(hits, func(a, b T) int { return cmp.Compare(*score(&b), *score(&a)) })
	return hits[:min(len(hits), limit)], err
}

// interleaved queries each base and returns at most limit results: the first of each, then the second, and so on.
func interleaved[T any](bases []*Base, limit int, ask func(*Base) ([]T, error)) ([]T, error) {
	lists := make([][]T, len(bases))
	longest := 0
	for i, b := range bases {
		var err error
		if lists[i], err = ask(b); err != nil {
			return nil, err
		}
		longest = max(longest, len(lists[i]))
	}
	var out []T
	for rank := range longest {
		for _, list := range lists {
			if rank < len(list) && len(out) < limit {
				out = append(out, list[rank])
			}
		}
	}
	return out, nil
}
