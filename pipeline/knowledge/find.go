package knowledge

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"nightdesk/topicqueue"
)

// Answer is the result of Find.
type Answer struct {
	Passages []Passage
	Vectors  bool  // whether vectors contributed to the ranking
	Degraded error // why available vectors were not used; nil if nothing went wrong
}

// queryTime is the limit for computing the vector of a query, and those of candidates; after that, only words are
// searched, and the vectors made so far are kept.
const queryTime = 10 * time.Second

// finder searches the passages of a base by words and, if possible, by vectors, and looks items up by name.
type finder struct {
	*store
	meanings *meanings
}

// Search is like Find but returns only the passages. It logs a warning if the vectors could not be used.
func (b *finder) Search(ctx context.Context, query string, limit int, mode Mode) ([]Passage, error) {
	a, err := b.Find(ctx, query, limit, mode)
	if a.Degraded != nil {
		zerolog.Ctx(ctx).Warn().Err(a.Degraded).Str("knowledge_base", b.path).Msg("knowledge base searched by words only")
	}
	return a.Passages, err
}

// Find returns at most limit passages that best answer query, best first. Ties are ordered by ID, so equal bases give
// equal answers. query is natural language of any length in any script and has no special syntax. Passages with equal
// text are returned once. A search by words may find nothing; a search by vectors nearly always finds something.
//
// Vectors are used if the base has some and SetEmbedder has set a model. Naive requires a vector for every passage;
// Hybrid accepts passages without one. If the model fails, takes longer than ten seconds or differs from that of the
// base, Find searches by words and sets Degraded instead of returning an error. Errors come from SQLite or an unknown
// mode, or are context.Cause(ctx).
func (b *finder) Find(ctx context.Context, query string, limit int, mode Mode) (Answer, error) {
	var a Answer
	var byWords []hit
	var near neighbours
	var err error
	if words := terms(query); limit > 0 && len(words) > 0 && (mode == Hybrid || b.meanings.embedder != nil) {
		byWords, err = b.rank(ctx, anyOf("title section text", words), fieldWeights, maxCandidates)
		if err != nil {
			return Answer{}, b.failed(ctx, "search", err)
		}
		near, a.Degraded = b.near(ctx, query, byWords, max(2*limit, maxCandidates))
		if ctx.Err() != nil {
			return Answer{}, context.Cause(ctx)
		}
	}
	a.Vectors = near.whole || mode == Hybrid && len(near.hits) > 0
	a.Passages, err = b.search(ctx, query, limit, mode, byWords, near)
	return a, err
}

// near ranks passages by their vectors, after it has made those of the first candidates by words.
func (b *finder) near(ctx context.Context, query string, byWords []hit, limit int) (neighbours, error) {
	if b.meanings.embedder == nil {
		return neighbours{}, nil
	}
	if err := b.meanings.embedFirst(ctx, byWords[:min(len(byWords), embedCandidates)]); err != nil {
		// what has a vector from an earlier search would come before what has none
		return neighbours{}, fmt.Errorf("make the vectors of candidates: %w", err)
	}
	return b.meanings.near(ctx, query, limit)
}

// Like returns at most limit passages that share the most words with a text, best first, with Share set. It does not
// use vectors. Errors are as for Find.
func (b *finder) Like(ctx context.Context, text string, limit int) ([]topicqueue.Source, error) {
	found, err := b.search(ctx, text, limit, Naive, nil, neighbours{})
	sources := make([]topicqueue.Source, len(found))
	for i, p := range found {
		sources[i] = p.Source(time.Now().UTC())
		sources[i].Share = p.Score / found[0].Score
	}
	return sources, err
}

// neighbours are the passages nearest to a query.
type neighbours struct {
	hits  []hit
	whole bool // there are hits, and every passage was compared
}

// vectorIndex holds the vectors of a base in memory.
type vectorIndex struct {
	matrix
	model string
	state string // state of the base when the vectors were read
	whole bool   // every passage has a vector
}

// vectorCache keeps the vectors of a base in memory between searches, using one byte per dimension and passage.
type vectorCache struct {
	mu    sync.Mutex // one caller loads while the others wait
	index *vectorIndex
}

// current returns the vectors that are in the base now.
func (c *vectorCache) current(ctx context.Context, db *sql.DB) (*vectorIndex, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	there, err := hasVectors(ctx, db)
	if err != nil || !there {
		return &vectorIndex{}, err
	}
	var state string
	var passages int
	if err := db.QueryRowContext(ctx,
		`SELECT (SELECT value FROM meta WHERE key = 'vectors'), (SELECT count(*) FROM passages)`).Scan(&state,
		&passages); err != nil {
		return nil, err
	}
	if c.index == nil || c.index.state != state {
		c.index = nil // free the old index before loading the new one, to hold only one in memory
		index, err := loadVectors(ctx, db)
		if err != nil {
			return nil, err
		}
		c.index = index
	}
	index := *c.index
	index.whole = len(index.ids) == passages
	return &index, nil
}
