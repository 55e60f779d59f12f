package text

import "math"

// Document is what BM25 ranks. Heading may be empty.
type Document struct{ Heading, Text string }

// The constants of BM25. k1 and b are the usual values (Robertson and Zaragoza 2009, section 3.2); headingWeight
// says how many occurrences in the text one in the heading is worth (BM25F, section 3.6).
const (
	k1            = 1.2
	b             = 0.75
	headingWeight = 2.0
)

// BM25 returns the score of each document for query, in the order of docs. 0 means that the document has no content
// word of the query; scores have no upper bound and compare only within one call. Words are those of Terms, a word
// that the query repeats counts once. Never fails; time grows with the total length of the documents. NewIndex is
// for many queries. Source: BM25 and BM25F, Robertson and Zaragoza, "The Probabilistic Relevance Framework" (2009).
func BM25(query string, docs []Document) []float64 { return NewIndex(docs).BM25(query) }

// Index holds documents for any number of BM25 queries. Safe for concurrent use.
type Index struct {
	size     int
	postings map[string][]posting
}

// posting says how often a term stands in a document: an occurrence in a field counts by the field's weight and
// less in a long field (the weighted term frequency of BM25F).
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
	var total [2]float64 // terms in all headings, in all texts
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
			length := float64(len(field.terms)) * float64(len(docs)) / max(1, total[f]) // in average lengths
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
		found := ix.postings[t]
		n := float64(len(found))
		idf := math.Log(1 + (float64(ix.size)-n+0.5)/(n+0.5)) // never negative
		for _, p := range found {
			scores[p.doc] += idf * p.frequency * (k1 + 1) / (p.frequency + k1)
		}
	}
	return scores
}

// Coverage returns the share of the distinct content words of query that some document of the index has, 0 to 1.
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
