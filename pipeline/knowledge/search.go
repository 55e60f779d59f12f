package knowledge

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Mode is a way of searching.
type Mode string

// The modes.
const (
	Naive  Mode = "naive"  // vectors; BM25 over the text of passages in a base without
	Hybrid Mode = "hybrid" // BM25 over text, over titles and headings, words close together and vectors, fused; what holds the whole query comes first, no page fills the answer
)

// Passage is a piece of a document that a citation can point to.
type Passage struct {
	ID       int64    // within this base and until its document changes
	Document string   // key: slash-separated path below the root
	Title    string   // of the document; never empty
	Section  []string // headings from the top down, without the title
	Anchor   string   // fragment that leads to the section, without #; empty = none
	Page     int      // counted from 1; 0 = no pages
	Offset   int      // byte of the document's text (see Base.Text) at which Text begins
	Text     string   // verbatim, UTF-8, in the form of package extract
	Hash     string   // lower-case hex SHA-256 of Text
	Date     string   // YYYY-MM-DD: what the document says, else that of its file
	Score    float64  // higher is better; comparable within one answer only
}

// How candidates are made and fused.
const (
	fuseK         = 60  // of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009)
	maxCandidates = 120 // of each ranking
	maxLimit      = 200
	perSection    = 2 // passages of one section, while others are left

	minQuote, maxQuote = 5, 60 // words of a query that passages may hold as it stands: those come first
)

// search is Find once the nearest passages are known.
func (b *Base) search(ctx context.Context, query string, limit int, mode Mode, near neighbours) ([]Passage, error) {
	words := terms(query)
	limit = min(limit, maxLimit)
	if len(words) == 0 || limit <= 0 {
		return nil, ctx.Err()
	}
	var ranked []hit
	var err error
	switch mode {
	case Naive:
		if near.whole {
			ranked = near.hits
			break
		}
		ranked, err = b.rank(ctx, anyOf("text", words), "0, 0, 1", max(2*limit, 20))
	case Hybrid:
		ranked, err = b.fused(ctx, words)
		if len(near.hits) > 0 {
			ranked = fuse(ranked, near.hits)
		}
		if n := len(strings.Fields(query)); err == nil && minQuote <= n && n <= maxQuote {
			var verbatim []hit
			verbatim, err = b.rank(ctx, "{text} : "+phrase(query), "0, 0, 1", limit)
			ranked = first(verbatim, ranked)
		}
	default:
		return nil, fmt.Errorf("search: unknown mode %q", mode)
	}
	if err != nil {
		return nil, b.failed(ctx, "search", err)
	}
	ranked = ranked[:min(len(ranked), max(4*limit, 40))]
	found, err := b.passages(ctx, ranked)
	if err != nil {
		return nil, b.failed(ctx, "search", err)
	}
	found = withoutCopies(found)
	if mode == Hybrid {
		found = spread(found, limit)
	}
	return found[:min(len(found), limit)], nil
}

// first puts some hits before the others.
func first(some, others []hit) []hit {
	return append(some, slices.DeleteFunc(others, func(h hit) bool {
		return slices.ContainsFunc(some, func(s hit) bool { return s.id == h.id })
	})...)
}

// failed names what was being done; an interruption by the context is reported as its cause.
func (b *Base) failed(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%s in %s: %w", doing, b.path, err)
}

// hit is a passage in a ranking.
type hit struct {
	id    int64
	score float64 // higher is better
}

// rank returns the passages that match an FTS5 query by BM25. weights: of title, section and text.
func (b *Base) rank(ctx context.Context, match, weights string, limit int) ([]hit, error) {
	rows, err := b.read.QueryContext(ctx, `SELECT rowid, -bm25(words, `+weights+`) AS score FROM words
		WHERE words MATCH ? ORDER BY score DESC, rowid LIMIT ?`, match, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []hit
	for rows.Next() {
		var h hit
		if err := rows.Scan(&h.id, &h.score); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, rows.Err()
}

// fused ranks by all that words tell.
func (b *Base) fused(ctx context.Context, words []string) ([]hit, error) {
	queries := []struct {
		match, weights string
		limit          int
	}{
		{anyOf("text", words), "0, 0, 1", maxCandidates},
		{anyOf("title section", words), "1, 1.5, 0", 2 * maxCandidates},
		{together(words), "0, 0, 1", maxCandidates},
	}
	rankings := make([][]hit, len(queries))
	group, groupCtx := errgroup.WithContext(ctx)
	for i, q := range queries {
		if q.match == "" {
			continue
		}
		group.Go(func() (err error) {
			rankings[i], err = b.rank(groupCtx, q.match, q.weights, q.limit)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return fuse(rankings...), nil
}

const passageColumns = `p.id, d.key, d.title, s.path, s.anchor, p.page, p.offset, p.text, p.hash, d.date, d.mtime
	FROM passages p JOIN documents d ON d.id = p.document JOIN sections s ON s.id = p.section`

func scanPassage(rows *sql.Rows) (Passage, error) {
	var p Passage
	var path string
	var mtime int64
	err := rows.Scan(&p.ID, &p.Document, &p.Title, &path, &p.Anchor, &p.Page, &p.Offset, &p.Text, &p.Hash, &p.Date, &mtime)
	p.Section = splitPath(path)
	if p.Date == "" {
		p.Date = time.Unix(0, mtime).UTC().Format(time.DateOnly)
	}
	return p, err
}

func splitPath(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, separator)
}

// selectPassages runs SELECT passageColumns with this end of the statement.
func (b *Base) selectPassages(ctx context.Context, where string, args ...any) ([]Passage, error) {
	rows, err := b.read.QueryContext(ctx, "SELECT "+passageColumns+" "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Passage
	for rows.Next() {
		p, err := scanPassage(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// passages loads hits in their order. One that an ingestion has just removed is missing.
func (b *Base) passages(ctx context.Context, hits []hit) ([]Passage, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	args := make([]any, len(hits))
	order := make(map[int64]int, len(hits))
	for i, h := range hits {
		args[i] = h.id
		order[h.id] = i
	}
	found, err := b.selectPassages(ctx, "WHERE p.id IN (?"+strings.Repeat(",?", len(hits)-1)+")", args...)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Score = hits[order[found[i].ID]].score
	}
	slices.SortFunc(found, func(a, b Passage) int { return cmp.Compare(order[a.ID], order[b.ID]) })
	return found, nil
}

// withoutCopies drops passages whose text an earlier one has.
func withoutCopies(found []Passage) []Passage {
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(p Passage) bool {
		twice := seen[p.Hash]
		seen[p.Hash] = true
		return twice
	})
}

// spread moves what exceeds a document's or a section's share behind all others, in order: several pages that know
// something come before the tenth passage of one of them.
func spread(found []Passage, limit int) []Passage {
	perDocument := max(2, limit/3)
	documents, sections := map[string]int{}, map[string]int{}
	var first, later []Passage
	for _, p := range found {
		section := p.Document + separator + strings.Join(p.Section, separator)
		if documents[p.Document] >= perDocument || sections[section] >= perSection {
			later = append(later, p)
			continue
		}
		documents[p.Document]++
		sections[section]++
		first = append(first, p)
	}
	return append(first, later...)
}
