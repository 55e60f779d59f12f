package extractive_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"nightdesk/pipeline/extractive"
)

func BenchmarkRank10KB(b *testing.B) {
	text := strings.Repeat(journal, 10*1024/len(journal)+1)[:10*1024]
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		extractive.Rank([]string{text}, "How do the rollback journal and the write-ahead log work?", 8)
	}
}

func BenchmarkRank20Passages(b *testing.B) {
	passages := make([]string, 20)
	for i := range passages {
		passages[i] = fmt.Sprintf("Passage %d.\n\n%s", i, journal)
	}
	b.ReportAllocs()
	for b.Loop() {
		extractive.Rank(passages, "How do the rollback journal and the write-ahead log work?", 12)
	}
}

func BenchmarkSeen5000(b *testing.B) {
	// Words by rank, as in a text: few frequent ones, many rare ones.
	random := rand.New(rand.NewPCG(1, 2))
	common := rand.NewZipf(random, 1.1, 3, 4000)
	lines := make([]string, 5000)
	for i := range lines {
		for range 16 {
			lines[i] += fmt.Sprintf("w%c%c%c ", 'a'+rune(common.Uint64()%16), 'a'+rune(common.Uint64()/16%16), 'a'+rune(common.Uint64()/256))
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		var seen extractive.Seen
		for _, l := range lines {
			seen.Add(l)
		}
	}
}

func BenchmarkSentences(b *testing.B) {
	b.SetBytes(int64(len(journal)))
	b.ReportAllocs()
	for b.Loop() {
		extractive.Sentences(journal)
	}
}

// Text without a stop, a space or a line end must not take time that grows with its square.
func BenchmarkHostile(b *testing.B) {
	for _, s := range []string{"(", "a.", "\"a ", "“", "x", "。", ". ", "A. ", "the ", "\n", "- a\n", "a\nB", "(AB)"} {
		text := strings.Repeat(s, 200_000/len(s))
		b.Run(fmt.Sprintf("%q", s), func(b *testing.B) {
			for b.Loop() {
				extractive.Rank([]string{text}, "a b journal", 5)
			}
		})
	}
}
