package knowledge_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm/llmtest"
)

// BenchmarkVectors10k measures a search in 10,000 passages with vectors of 384 numbers, without the time of the model.
func BenchmarkVectors10k(b *testing.B) {
	base := ingested(b, corpus10k())
	model := llmtest.Embeddings{Dimensions: 384}
	base.SetEmbedder(fakeEmbedder{
		embed: func(_ context.Context, texts []string) ([][]float32, error) {
			out := make([][]float32, len(texts))
			for i, t := range texts {
				out[i] = model.Vector(t)
			}
			return out, nil
		},
		query: func(_ context.Context, text string) ([]float32, error) { return model.Vector(text), nil },
	})
	start := time.Now()
	embed(b, base)
	b.Logf("stored 10,000 vectors in %s", time.Since(start).Round(time.Millisecond))
	start = time.Now()
	find(b, base, "kaka", knowledge.Naive)
	b.Logf("first search, which loads them, in %s", time.Since(start).Round(time.Millisecond))
	for _, mode := range []knowledge.Mode{knowledge.Naive, knowledge.Hybrid} {
		b.Run(string(mode), func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				n := uint64(len(took) % 64)
				start := time.Now()
				a, err := base.Find(b.Context(), fmt.Sprintf("How does the %s %s %s work?", word(300+n), word(900+3*n), word(40+n)), 10, mode)
				if err != nil || !a.Vectors || len(a.Passages) == 0 {
					b.Fatal(a, err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
