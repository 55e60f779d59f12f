package knowledge_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
)

var (
	retrievalDocs   = flag.String("retrieval.docs", "", "directory of the HTML manual of PostgreSQL 15: measures TestRetrieval")
	retrievalServer = flag.String("retrieval.server", "", "embedding server for TestRetrieval, such as http://127.0.0.1:11434/v1")
	retrievalModel  = flag.String("retrieval.model", "", "embedding model of that server")
)

// question has a passage that answers it: one of the document that holds these words.
type question struct{ text, document, words string }

func questions(t *testing.T) []question {
	t.Helper()
	raw, err := os.ReadFile("testdata/retrieval.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var out []question
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 3 {
			t.Fatalf("%q is no question with document and words", line)
		}
		out = append(out, question{f[0], f[1], strings.ToLower(f[2])})
	}
	return out
}

// quality is how well a way of searching finds the known passages.
type quality struct {
	first, five, ten int     // questions whose passage is the first, among the first five, among the first ten
	rank             float64 // mean of 1/place, 0 beyond ten
}

func (q quality) String() string {
	return fmt.Sprintf("first %d, in five %d, in ten %d, mean reciprocal rank %.3f", q.first, q.five, q.ten, q.rank)
}

func measure(t *testing.T, b *knowledge.Base, set []question, mode knowledge.Mode, vectors bool) quality {
	t.Helper()
	var q quality
	for _, ask := range set {
		a, err := b.Find(t.Context(), ask.text, 10, mode)
		if err != nil || a.Degraded != nil || a.Vectors != vectors {
			t.Fatalf("%q: %+v, %v", ask.text, a, err)
		}
		place := 1 + slices.IndexFunc(a.Passages, func(p knowledge.Passage) bool {
			return strings.HasSuffix(p.Document, ask.document) && strings.Contains(strings.ToLower(strings.Join(strings.Fields(p.Text), " ")), ask.words)
		})
		if place == 0 {
			continue
		}
		q.ten++
		q.rank += 1 / float64(place) / float64(len(set))
		if place <= 5 {
			q.five++
		}
		if place == 1 {
			q.first++
		}
	}
	return q
}

// TestRetrieval: words and vectors together find more of the known passages than each alone. It needs a manual and an
// embedding model that are not ours to ship: see the flags.
func TestRetrieval(t *testing.T) {
	if *retrievalDocs == "" || *retrievalModel == "" {
		t.Skip("-retrieval.docs and -retrieval.model are not given")
	}
	set := questions(t)
	if len(set) < 50 {
		t.Fatalf("%d questions", len(set))
	}
	b := create(t)
	if _, err := b.Ingest(t.Context(), []string{*retrievalDocs}, nil); err != nil {
		t.Fatal(err)
	}
	bm25 := measure(t, b, set, knowledge.Naive, false)
	words := measure(t, b, set, knowledge.Hybrid, false)
	e, err := llm.NewEmbedder(llm.EmbedderSettings{Model: *retrievalModel, BaseURL: *retrievalServer})
	if err != nil {
		t.Fatal(err)
	}
	b.SetEmbedder(e)
	embed(t, b)
	near := measure(t, b, set, knowledge.Naive, true)
	both := measure(t, b, set, knowledge.Hybrid, true)
	t.Logf("%d questions\nBM25:              %s\nwords, hybrid:     %s\nvectors:           %s\nwords and vectors: %s",
		len(set), bm25, words, near, both)
	if both.five <= bm25.five || both.five <= near.five {
		t.Errorf("together %d in five, BM25 alone %d, vectors alone %d", both.five, bm25.five, near.five)
	}
}
