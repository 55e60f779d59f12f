// Package wordvec makes vectors of texts from a file of static word vectors, for knowledge bases without an embedding
// server: GloVe's text files, and the .vec files of word2vec and fastText. An Embedder is a knowledge.Embedder.
//
// The vector of a text is the mean of those of its words, frequent words counting less, without what all texts have in
// common. It knows which words are related, not what a sentence says. Begin with New.
package wordvec

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"sync"
	"time"
)

// Embedder makes vectors of texts. The file is read when the first is asked for, once. Safe for concurrent use.
type Embedder struct {
	path string
	head head
	name string

	once  sync.Once
	table *table
	stats Stats
	err   error
}

// Stats says what was loaded.
type Stats struct {
	Words      int           // that have a vector
	Skipped    int           // lines whose word is no single word of UTF-8, or was there before
	Dimensions int           // of a vector
	Bytes      int           // of memory that the vectors take, without their words
	Took       time.Duration // to load them
}

// New looks at the file and names the model: by the content that is used, so that vectors of two files are never
// compared. path: GloVe's text format or that of word2vec and fastText, plain or gzipped; the first 400,000 words are
// used, which these files have in the order of their frequency. It reads the file once without keeping it.
//
// The error names file and line. It lasts: the same file gives it again.
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
	// The 1 is that of the method: whoever changes what a vector is made of raises it.
	e.name = fmt.Sprintf("wordvec1-%s@%d", hex.EncodeToString(sum[:8]), e.head.dimensions)
	return e, nil
}

// Model returns a name that vectors of other files do not have.
func (e *Embedder) Model() string { return e.name }

// Load reads the file if that has not been done yet. It takes seconds, and a second caller waits for the first. The
// error names file and line and lasts as long as the Embedder.
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

// Embed returns one vector of length 1 for each text, in their order. A text without a known word has a vector of
// zeros, which is near to nothing. Errors are those of Load and context.Cause(ctx).
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

// EmbedQuery is Embed of one text.
func (e *Embedder) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	vectors, err := e.Embed(ctx, []string{query})
	if err != nil {
		return nil, err
	}
	return vectors[0], nil
}

// vector returns the vector of a text.
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

// remove takes the part of v that has the direction of unit out of it.
func remove(v, unit []float64) {
	var along float64
	for i, x := range v {
		along += x * unit[i]
	}
	before := norm(v)
	for i := range v {
		v[i] -= along * unit[i]
	}
	if norm(v) < 1e-6*before { // what rounding leaves has no meaning
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
