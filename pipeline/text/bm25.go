package text

import (
	"cmp"
	"math"
	"slices"
)

// Document is a document for BM25. Heading may be empty.
type Document struct{ Heading, Text string }

// The constants of BM25. k1 and b are the usual values (Robertson and Zaragoza 2009, section 3.2). headingWeight is the
// value of an occurrence in the heading, in occurrences in the text (BM25F, section 3.6).
const (
	k1            = 1.2
	b             = 0.75
	headingWeight = 2.0
)

// BM25 returns the score of each document for query, in the order of docs. 0 means that the document has no content
// word of the query. Scores have no upper bound and are comparable only within one call. Words are those of Terms;
// repeated words of the query count once. Never fails; time grows with the total length of the documents. For many
// queries, use NewIndex. Source: BM25 and BM25F, Robertson and Zaragoza, "The Probabilistic Relevance Framework"
// (2009).
func BM25(query string, docs []Document) []float64 { return NewIndex(docs).BM25(query) }

// Index holds documents for any number of BM25 queries. Safe for concurrent use.
type Index struct {
	size     int
	postings map[string][]posting
}

// posting is the frequency of a term in a document. An occurrence counts by the weight of its field, and less in a long
// field (the weighted term frequency of BM25F).
type posting struct {
	doc       int
	frequency float64
}

// NewIndex prepares documents for BM25.
func NewIndex(docs []Document) *Index {
	type field struct {
		terms  []string
		weight float64
	}
	fields := make([][2]field, len(docs))
	var total [2]float64 // number of terms in all headings and in all texts
	for i, d := range docs {
		fields[i] = [2]field{{Terms(d.Heading), headingWeight}, {Terms(d.Text), 1}}
		for f := range total {
			total[f] += float64(len(fields[i][f].terms))
		}
	}
	ix := &Index{size: len(docs), postings: map[string][]posting{}}
	for i := range docs {
		frequency := map[string]float64{}
		for f, field := range fields[i] {
			length := float64(len(field.terms)) * float64(len(docs)) / max(1, total[f]) // relative to the average
			for _, t := range field.terms {
				frequency[t] += field.weight / (1 - b + b*length)
			}
		}
		for t, n := range frequency {
			ix.postings[t] = append(ix.postings[t], posting{doc: i, frequency: n})
		}
	}
	return ix
}

// BM25 returns the score of each document of the index for query. See the function BM25.
func (ix *Index) BM25(query string) []float64 {
	scores := make([]float64, ix.size)
	for _, t := range TermSet(query) {
		idf := ix.idf(t)
		for _, p := range ix.postings[t] {
			scores[p.doc] += idf * p.frequency * (k1 + 1) / (p.frequency + k1)
		}
	}
	return scores
}

// idf returns the weight of a term: the rarer in the documents, the higher. It is never negative.
func (ix *Index) idf(term string) float64 {
	n := float64(len(ix.postings[term]))
	return math.Log(1 + (float64(ix.size)-n+0.5)/(n+0.5))
}

// Weighted returns the share of the content words of query that s has, 0 to 1. Each word counts by its inverse document
// frequency in the index. Words that no document has do not count.
func (ix *Index) Weighted(s, query string) float64 {
	has := map[string]bool{}
	for _, t := range Terms(s) {
		has[t] = true
	}
	covered, all := 0.0, 0.0
	for _, t := range TermSet(query) {
		if len(ix.postings[t]) == 0 {
			continue
		}
		all += ix.idf(t)
		if has[t] {
			covered += ix.idf(t)
		}
	}
	if all == 0 {
		return 0
	}
	return covered / all
}

// Coverage returns the share of the distinct content words of query that occur in any document of the index, 0 to 1.
func (ix *Index) Coverage(query string) float64 {
	asked := TermSet(query)
	n := 0
	for _, t := range asked {
		if len(ix.postings[t]) > 0 {
			n++
		}
	}
	return float64(n) / float64(max(1, len(asked)))
}

// Select returns the indexes of the texts that match query best (BM25), in order, as many as have limit bytes together.
// best is the index of the best one.
func Select(query string, texts []string, limit int) (kept []int, best int) {
	docs, order := make([]Document, len(texts)), make([]int, len(texts))
	for i, t := range texts {
		docs[i], order[i] = Document{Text: t}, i
	}
	scores := BM25(query, docs)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range order {
		if limit -= len(texts[i]); limit < 0 {
			break
		}
		kept = append(kept, i)
	}
	slices.Sort(kept)
	return kept, order[0]
}
