package knowledge

import (
	"context"
	"errors"
	"fmt"
)

// Embedder computes vectors that are close to each other for texts of similar meaning. *llm.Embedder implements it.
// Implementations must be safe for concurrent use.
type Embedder interface {
	// Embed returns one vector per text, in order, all of the same length. A nil vector marks a text that the model
	// rejects; the next Base.Embed sends it again. With an error, no vectors are returned.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns the vector of a query, comparable with the vectors of Embed.
	EmbedQuery(ctx context.Context, query string) ([]float32, error)
	// Model identifies the vector space: vectors are comparable if and only if their model names are equal.
	Model() string
}

// ErrModel reports that the vectors of a base were made with another embedding model than the current one.
var ErrModel = errors.New("vectors of another embedding model")

// meanings searches passages by their vectors, if the base has any.
type meanings struct {
	*store
	embedder Embedder // nil if there is none
	vectors  vectorCache
}

// SetEmbedder sets the model that Embed and Search use; nil means none. Call it before the base is used.
func (b *meanings) SetEmbedder(e Embedder) { b.embedder = e }

// The vector tables are created with the first vector, so a base without vectors does not have them. Equal texts share
// a vector. The meta value 'vectors' is a random text that changes with the vectors; users of a cached copy compare it.
// The trigger keeps tables and value consistent whenever a passage is removed, because its id may be reused.
const vectorSchema = `
CREATE TABLE IF NOT EXISTS vectors(
	id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, -- SHA-256 of the text that was embedded
	scale REAL NOT NULL, vector BLOB NOT NULL);       -- int8 times scale; of length 1 together
CREATE TABLE IF NOT EXISTS embedded(passage INTEGER PRIMARY KEY, vector INTEGER NOT NULL);
CREATE TRIGGER IF NOT EXISTS embedded_passage AFTER DELETE ON passages
	WHEN EXISTS (SELECT 1 FROM embedded WHERE passage = old.id) BEGIN
	DELETE FROM embedded WHERE passage = old.id;
	UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'vectors';
END;
INSERT OR IGNORE INTO meta VALUES ('vectors', ''), ('embedding_model', ''), ('embedding_dimensions', '0');
`

const newVectorState = `UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'vectors'`

// Embedding describes how many passages of a base have vectors.
type Embedding struct {
	Model      string `json:"model,omitempty"` // model that made the vectors; empty if there are none
	Dimensions int    `json:"dimensions,omitempty"`
	Passages   int    `json:"passages"` // number with a vector
	Missing    int    `json:"missing"`  // number without a vector, found by their words only
}

// state returns the embedding state of the base.
func (b *meanings) state(ctx context.Context) (Embedding, error) {
	e, err := readEmbedding(ctx, b.read)
	if err != nil {
		return e, b.failed(ctx, "read the state of embedding", err)
	}
	return e, nil
}

func readEmbedding(ctx context.Context, q querier) (Embedding, error) {
	var e Embedding
	there, err := hasVectors(ctx, q)
	if err != nil || !there {
		return e, errors.Join(err, q.QueryRowContext(ctx, `SELECT count(*) FROM passages`).Scan(&e.Missing))
	}
	err = q.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE key = 'embedding_model'),
		(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'embedding_dimensions'),
		(SELECT count(*) FROM embedded), (SELECT count(*) FROM passages)`).
		Scan(&e.Model, &e.Dimensions, &e.Passages, &e.Missing)
	e.Missing -= e.Passages
	return e, err
}

// hasVectors reports whether the vector tables exist.
func hasVectors(ctx context.Context, q querier) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'embedded'`).Scan(&n)
	return n > 0, err
}

// near ranks passages by their vectors. It returns nothing if the base has no vectors.
func (b *meanings) near(ctx context.Context, query string, limit int) (neighbours, error) {
	index, err := b.vectors.current(ctx, b.read)
	if err != nil {
		return neighbours{}, b.failed(ctx, "load the vectors", err)
	}
	if len(index.ids) == 0 {
		return neighbours{}, nil
	}
	if index.model != b.embedder.Model() {
		return neighbours{}, b.otherModel(Embedding{Model: index.model})
	}
	queryCtx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	vector, err := b.embedder.EmbedQuery(queryCtx, query)
	switch {
	case err != nil:
		return neighbours{}, fmt.Errorf("embed the query: %w", err)
	case len(vector) != index.dimensions || !finite(vector):
		return neighbours{}, fmt.Errorf("%w: the query's has %d dimensions, those of %s have %d", ErrModel, len(vector),
			b.path, index.dimensions)
	}
	hits := index.nearest(pack(vector), limit)
	return neighbours{hits: hits, whole: index.whole && len(hits) > 0}, nil
}
