// Package wordvec computes text vectors from a file of static word vectors, for knowledge bases without an embedding
// server. It supports GloVe text files and the .vec files of word2vec and fastText. Embedder implements
// knowledge.Embedder.
//
// The vector of a text is the mean of its word vectors, with less weight on frequent words and without the component
// common to all texts. Such vectors capture related words but not the meaning of sentences. The entry point is New.
package wordvec

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"sync"
	"time"
)

// Embedder computes vectors of texts. It loads the file once, at the first use. Safe for concurrent use.
type Embedder struct {
	path string
	head head
	name string

	once  sync.Once
	table *table
	stats Stats
	err   error
}

// Stats describes the loaded vectors.
type Stats struct {
	Words      int           // number of words with a vector
	Skipped    int           // number of lines with a duplicate word or one that is not a single word in UTF-8
	Dimensions int           // dimensions of a vector
	Bytes      int           // memory used by the vectors, without their words
	Took       time.Duration // time to load them
}

// New inspects the file and derives the model name from the content used, so that vectors of different files are never
// compared. The file is in GloVe's text format or that of word2vec and fastText, plain or gzipped. Only the first
// 400,000 words are used; such files are sorted by word frequency. New reads the file once without keeping its content.
//
// The error names file and line. It is permanent: the same file always causes it.
func New(path string) (*Embedder, error) {
	e := &Embedder{path: path}
	var lines, bytes int
	sum, err := scan(path, func(number int, line []byte) (err error) {
		lines, bytes = number, bytes+len(line)
		if number == 1 {
			e.head, err = parseHead(line)
		}
		return err
	})
	e.head.numbers = min(lines*e.head.dimensions, bytes/2)
	if err != nil {
		return nil, err
	}
	// The 1 is the version of the method. Raise it when the computation of vectors changes.
	e.name = fmt.Sprintf("wordvec1-%s@%d", hex.EncodeToString(sum[:8]), e.head.dimensions)
	return e, nil
}

// Model returns a name that is unique to the content of the file.
func (e *Embedder) Model() string { return e.name }

// Load reads the file if it is not loaded yet. It takes seconds, and concurrent callers wait for the first. The error
// names file and line and is permanent for this Embedder.
func (e *Embedder) Load() (Stats, error) {
	e.once.Do(func() {
		start := time.Now()
		e.table, e.err = load(e.path, e.head, e.name)
		if e.err != nil {
			return
		}
		e.stats = Stats{Words: len(e.table.index), Skipped: e.table.skipped, Dimensions: e.head.dimensions,
			Bytes: len(e.table.values) + 4*len(e.table.scales), Took: time.Since(start)}
	})
	return e.stats, e.err
}

// Embed returns one vector of length 1 per text, in order. A text without a known word has a zero vector, which is
// similar to no other. Errors are those of Load and context.Cause(ctx).
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if _, err := e.Load(); err != nil {
		return nil, err
	}
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		out[i] = e.table.vector(t)
	}
	return out, nil
}

// EmbedQuery returns the vector of one text.
func (e *Embedder) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vectors, err := e.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

func (t *table) vector(text string) []float32 {
	sum := make([]float64, t.dimensions)
	for w := range t.known(text) {
		t.add(sum, w, 1)
	}
	remove(sum, t.common)
	out := make([]float32, t.dimensions)
	if length := norm(sum); length > 0 {
		for i, x := range sum {
			out[i] = float32(x / length)
		}
	}
	return out
}

// remove subtracts from v its component in the direction of unit.
func remove(v, unit []float64) {
	var along float64
	for i, x := range v {
		along += x * unit[i]
	}
	before := norm(v)
	for i := range v {
		v[i] -= along * unit[i]
	}
	if norm(v) < 1e-6*before { // only rounding errors remain
		clear(v)
	}
}

func norm(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}
