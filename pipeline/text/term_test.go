package text_test

import (
	"slices"
	"testing"

	"nightdesk/pipeline/text"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"stems without stop words", "The workers are waiting for the queues.", []string{"worker", "wait", "queue"}},
		{"code", "Use sync.Mutex or getElementById", []string{"use", "sync.mutex", "sync", "mutex", "getelementbyid", "get", "element", "id"}},
		{"numbers", "1,500 m, 64KB, 3.11 and 2024-01-31", []string{"1500", "64", "kb", "3.11", "2024", "01", "31"}},
		{"hyphens", "write-ahead logging", []string{"write", "ahead", "log"}},
		{"capitals are no stop words", "IT in the US", []string{"it", "us"}},
		{"letters", "vitamin C", []string{"vitamin", "c"}},
		{"signs", "C++ and C#", []string{"c++", "c#"}},
		{"apostrophes", "the company's l’eau", []string{"compani", "eau"}},
		{"chinese", "热泵在冬天如何除霜？", []string{"热泵", "冬天", "天如", "如何", "何除", "除霜"}},
		{"other languages", "Der Vertrag ist für die Stadt wichtig", []string{"vertrag", "die", "stadt", "wichtig"}},
		{"only stop words", "what is the", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := text.Terms(test.in); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSimilarity(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, a, b           string
		similarity, coverage float64
	}{
		{"same words", "The lock is held by a worker", "A worker holds the lock", 2.0 / 3, 2.0 / 3},
		{"nothing in common", "rain", "sun", 0, 0},
		{"half of the query", "The index is scanned", "index size", 0.5, 0.5},
		{"nothing asked", "rain", "what is the", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := text.Similarity(test.a, test.b); got != test.similarity || got != text.Similarity(test.b, test.a) {
				t.Errorf("similarity %v, want %v", got, test.similarity)
			}
			if got := text.Coverage(test.a, test.b); got != test.coverage {
				t.Errorf("coverage %v, want %v", got, test.coverage)
			}
		})
	}
}
