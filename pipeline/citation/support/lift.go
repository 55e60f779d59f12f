package support

import (
	"context"
	"fmt"
	"math"
)

// Embed makes vectors of texts, of one length, in their order.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// Pair is a sentence with the passage that its verdict points at.
type Pair struct{ Sentence, Passage string }

// alike is the cosine from which sentence and passage say the same. Sentences of one article on different matters reach 0.6
// to 0.7 with the usual models.
const alike = 0.82

// CanLift reports a verdict that only the choice of words leaves open: meaning may settle it, but never a number, a name or
// a negation that is not borne out.
func CanLift(v Verdict) bool {
	return v.Result == Unverified && v.Reason == ReasonWords && v.Source != "" && v.End > v.Start
}

// Lift asks an embedding model which pairs mean the same, in one question. The error is that of embed.
func Lift(ctx context.Context, embed Embed, pairs []Pair) ([]bool, error) {
	same := make([]bool, len(pairs))
	if len(pairs) == 0 {
		return same, nil
	}
	texts := make([]string, 0, 2*len(pairs))
	for _, p := range pairs {
		texts = append(texts, p.Sentence, p.Passage)
	}
	vectors, err := embed(ctx, texts)
	if err != nil {
		return nil, fmt.Errorf("compare %d sentences with their passages: %w", len(pairs), err)
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("compare %d sentences with their passages: %d vectors for %d texts", len(pairs), len(vectors), len(texts))
	}
	for i := range pairs {
		same[i] = cosine(vectors[2*i], vectors[2*i+1]) >= alike
	}
	return same, nil
}

func cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, x, y float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		x += float64(a[i]) * float64(a[i])
		y += float64(b[i]) * float64(b[i])
	}
	if x == 0 || y == 0 {
		return 0
	}
	return dot / math.Sqrt(x*y)
}
