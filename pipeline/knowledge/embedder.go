package knowledge

import (
	"context"
	"errors"
	"fmt"
)

// Embedder turns texts into vectors that are near each other when the texts mean the same. *llm.Embedder is one.
// Safe for concurrent use.
type Embedder interface {
	// Embed returns one vector for each text, in order, all of one length. A nil vector stands for a text that the
	// model will not take; it is asked for again at the next Base.Embed. An error means that there are no vectors.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery returns the vector of a query, to be compared with those of Embed.
	EmbedQuery(ctx context.Context, query string) ([]float32, error)
	// Model names what vectors can be compared: equal names, comparable vectors.
	Model() string
}

// ErrModel means that the vectors of a base were made with another embedding model than the one in use.
var ErrModel = errors.New("vectors of another embedding model")

// meanings finds passages by their vectors, once there are any.
type meanings struct {
	*store
	embedder Embedder // nil = none
	vectors  vectorCache
}

// SetEmbedder gives the base the model that Embed and Search use; nil for none. It must be called before the base is
// used.
func (b *meanings) SetEmbedder(e Embedder) { b.embedder = e }

// The tables of vectors are made when the first is stored, so that a base without any has none. Equal texts share a
// vector. The state is a random text that changes with the vectors: who keeps them in memory compares it. The trigger
// keeps both true whoever removes a passage: its id may be given to another one.
const vectorSchema = `
CREATE TABLE IF NOT EXISTS vectors(
	id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, -- SHA-256 of the text that was embedded
	scale REAL NOT NULL, vector BLOB NOT NULL);       -- int8 times scale; of length 1 together
CREATE TABLE IF NOT EXISTS embedded(passage INTEGER PRIMARY KEY, vector INTEGER NOT NULL);
CREATE TRIGGER IF NOT EXISTS embedded_passage AFTER DELETE ON passages WHEN EXISTS (SELECT 1 FROM embedded WHERE passage = old.id) BEGIN
	DELETE FROM embedded WHERE passage = old.id;
	UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'vectors';
END;
INSERT OR IGNORE INTO meta VALUES ('vectors', ''), ('embedding_model', ''), ('embedding_dimensions', '0');
`

const newVectorState = `UPDATE meta SET value = hex(randomblob(8)) WHERE key = 'vectors'`

// Embedding says how far the passages of a base have vectors.
type Embedding struct {
	Model      string `json:"model,omitempty"` // that made the vectors; empty = there are none
	Dimensions int    `json:"dimensions,omitempty"`
	Passages   int    `json:"passages"` // that have a vector
	Missing    int    `json:"missing"`  // that have none and are found by their words only
}

// state reads how far the passages have vectors.
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
		(SELECT count(*) FROM embedded), (SELECT count(*) FROM passages)`).Scan(&e.Model, &e.Dimensions, &e.Passages, &e.Missing)
	e.Missing -= e.Passages
	return e, err
}

// hasVectors reports whether the tables of vectors are there.
func hasVectors(ctx context.Context, q querier) (bool, error) {
	var n int
	err := q.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'embedded'`).Scan(&n)
	return n > 0, err
}

// near ranks passages by vectors. It returns nothing when there are none or no model.
func (b *meanings) near(ctx context.Context, query string, limit int) (neighbours, error) {
	if b.embedder == nil {
		return neighbours{}, nil
	}
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
	hits := index.search(pack(vector), limit)
	return neighbours{hits: hits, whole: index.whole && len(hits) > 0}, nil
}
