package knowledge

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"nightdesk/topicqueue"
)

// Answer is what Find found, and how.
type Answer struct {
	Passages []Passage
	Vectors  bool  // vectors had a say
	Degraded error // why they had none although the base has some and there is a model; nil = as it should be
}

const (
	queryTime  = 10 * time.Second // for the vector of a query; after that words must do
	leastShare = 20_000           // passages for which another goroutine pays
)

// finder searches the passages of a base, by their words and, where it can, by their meanings, and looks things up by
// name.
type finder struct {
	*store
	meanings *meanings
}

// Search is Find for those who only want the passages. That vectors could not be used is logged.
func (b *finder) Search(ctx context.Context, query string, limit int, mode Mode) ([]Passage, error) {
	a, err := b.Find(ctx, query, limit, mode)
	if a.Degraded != nil {
		zerolog.Ctx(ctx).Warn().Err(a.Degraded).Str("knowledge_base", b.path).Msg("knowledge base searched by words only")
	}
	return a.Passages, err
}

// Find returns at most limit passages that answer query best, best first; ties by ID, so that the same base gives the
// same answer. query: natural language of any length in any script; nothing in it is syntax. The same text is returned
// once. By words, no hit is an empty list; by vectors there is mostly one that is nearest.
//
// Vectors are used when the base has some and SetEmbedder gave a model: for Naive when every passage has one, for
// Hybrid also when some have none. A model that fails or takes longer than ten seconds, or is another one than that of
// the base, is no error: the answer is by words and says so in Degraded. Errors are those of SQLite, an unknown mode
// and context.Cause(ctx).
func (b *finder) Find(ctx context.Context, query string, limit int, mode Mode) (Answer, error) {
	var a Answer
	var near neighbours
	if limit > 0 && len(terms(query)) > 0 {
		near, a.Degraded = b.meanings.near(ctx, query, max(2*limit, maxCandidates))
		if ctx.Err() != nil {
			return Answer{}, context.Cause(ctx)
		}
	}
	a.Vectors = near.whole || mode == Hybrid && len(near.hits) > 0
	var err error
	a.Passages, err = b.search(ctx, query, limit, mode, near)
	return a, err
}

// Like returns at most limit passages that have most words of a text, best first, with their Share. Vectors have no
// say. The error is as for Find.
func (b *finder) Like(ctx context.Context, text string, limit int) ([]topicqueue.Source, error) {
	found, err := b.search(ctx, text, limit, Naive, neighbours{})
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
	whole bool // there are some, and every passage was looked at
}

// vectorIndex is the vectors of a base in memory.
type vectorIndex struct {
	matrix
	model string
	state string // of the base when they were read
	whole bool   // no passage is without
}

// search is nearest over all passages, on all processors when it is worth while.
func (x *vectorIndex) search(query packed, limit int) []hit {
	shares := max(1, min(runtime.GOMAXPROCS(0), len(x.ids)/leastShare))
	if shares == 1 {
		return x.nearest(query, 0, len(x.ids), limit)
	}
	parts := make([][]hit, shares)
	var group errgroup.Group
	for i := range shares {
		group.Go(func() error {
			parts[i] = x.nearest(query, i*len(x.ids)/shares, (i+1)*len(x.ids)/shares, limit)
			return nil
		})
	}
	_ = group.Wait() // the functions return no errors
	return merge(parts, limit)
}

// vectorCache keeps the vectors of a base in memory between searches: a byte for each dimension of each passage.
type vectorCache struct {
	mu    sync.Mutex // one reads, the others wait for it
	index *vectorIndex
}

// current returns the vectors as they are in the base now.
func (c *vectorCache) current(ctx context.Context, db database) (*vectorIndex, error) {
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
		c.index = nil // while the new one is read, memory holds one
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
