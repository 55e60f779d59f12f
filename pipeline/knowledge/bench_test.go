package knowledge_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"nightdesk/pipeline/knowledge"
)

// corpus10k is 100 documents of 100 sections with one passage of 150 words each, the words drawn as natural language
// has them: few often, many rarely.
func corpus10k() files {
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.1, 8, 20_000)
	f := files{}
	for d := range 100 {
		var b strings.Builder
		fmt.Fprintf(&b, "# Document %d\n\n", d)
		for s := range 100 {
			fmt.Fprintf(&b, "## Section %s of %d\n\n", word(zipf.Uint64()), s)
			for w := range 150 {
				b.WriteString(word(zipf.Uint64()))
				if w%15 == 14 {
					b.WriteString(".\n")
				} else {
					b.WriteByte(' ')
				}
			}
			b.WriteByte('\n')
		}
		f[fmt.Sprintf("doc%03d.md", d)] = b.String()
	}
	return f
}

// word returns the n-th word of an invented language.
func word(n uint64) string {
	syllables := []string{"ka", "ro", "mi", "ten", "lu", "sa", "vor", "ne", "pil", "dar", "go", "shi", "mel", "ta", "bru", "en"}
	out := syllables[n%16] + syllables[n/16%16]
	for n /= 256; n > 0; n /= 16 {
		out += syllables[n%16]
	}
	return out
}

func BenchmarkIngest10k(b *testing.B) {
	dir := b.TempDir()
	corpus10k().write(b, dir)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i++
		base, err := knowledge.Create(filepath.Join(b.TempDir(), fmt.Sprintf("%d.sqlite", i)))
		if err != nil {
			b.Fatal(err)
		}
		report, err := base.Ingest(b.Context(), []string{dir}, nil)
		if err != nil || report.Added != 100 {
			b.Fatal(report, err)
		}
		if err := base.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSearch10k(b *testing.B) {
	base := ingested(b, corpus10k())
	if info, err := base.Info(b.Context()); err != nil || info.Passages != 10_000 {
		b.Fatal(info, err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	zipf := rand.NewZipf(random, 1.1, 8, 20_000)
	var queries []string
	for range 64 {
		var words []string
		for range 4 {
			words = append(words, word(20+zipf.Uint64())) // the most frequent ones would be stop words
		}
		queries = append(queries, "How does the "+strings.Join(words, " ")+" work?")
	}
	for _, mode := range []knowledge.Mode{knowledge.Naive, knowledge.Hybrid} {
		b.Run(string(mode), func(b *testing.B) {
			b.ReportAllocs()
			var took []time.Duration
			for b.Loop() {
				start := time.Now()
				found, err := base.Search(b.Context(), queries[len(took)%len(queries)], 10, mode)
				if err != nil || len(found) == 0 {
					b.Fatal(len(found), err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
