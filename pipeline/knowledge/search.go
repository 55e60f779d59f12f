package knowledge

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// Mode selects a search method.
type Mode string

// The search modes.
const (
	Naive Mode = "naive" // vectors; without vectors, BM25 over the text of passages
	// BM25 over titles, headings and text, fused with vectors; passages that contain the whole query come first
	Hybrid Mode = "hybrid"
)

// Passage is a piece of a document that a citation can refer to.
type Passage struct {
	ID       int64    // unique within this base, until the document changes
	Document string   // document key: slash-separated path below the root
	Title    string   // of the document; never empty
	Section  []string // headings from the top down, without the title
	Anchor   string   // URL fragment of the section, without #; empty if there is none
	Page     int      // counted from 1; 0 if the document has no pages
	Offset   int      // byte offset of Text in the document's text (see Base.Text)
	Text     string   // verbatim UTF-8, as returned by package extract
	Hash     string   // lower-case hex SHA-256 of Text
	Head     string   // topicqueue.HeadOf the document; empty if there is none or Text is the document's first passage
	Date     string   // YYYY-MM-DD, YYYY-MM or YYYY, as stated in the document; empty if it states none
	Byline
	File  string  // absolute path at indexing time; empty for a page, or if an earlier program version did not record it
	Score float64 // higher is better; comparable within one answer only
	// in a Hybrid search: score by words relative to the best passage, 0 to 1; 0 if words did not find the passage
	Share float64
}

// Parameters for collecting and fusing candidates.
const (
	// fieldWeights are the weights of title, section and text in BM25 with weighted fields (BM25F: Robertson, Zaragoza,
	// Taylor 2004; k1 and b are SQLite's, 1.2 and 0.75). Of 114 questions to eleven corpora, the first two passages
	// answer 88 with weights 5 to 12, 86 with 2, 81 with 1, 74 with 0, and 74 with three rankings fused.
	fieldWeights = "5, 5, 1"

	fuseK         = 60  // constant of reciprocal rank fusion (Cormack, Clarke, Buettcher 2009)
	maxCandidates = 120 // from each ranking
	maxLimit      = 200
	perSection    = 3 // passages from one section, if other sections have matches

	minQuote, maxQuote = 5, 60 // number of words in a query for which passages that contain it verbatim come first
)

// search implements Find, given the passages nearest to the query.
func (b *finder) search(ctx context.Context, query string, limit int, mode Mode, near neighbours) ([]Passage, error) {
	words := terms(query)
	limit = min(limit, maxLimit)
	if len(words) == 0 || limit <= 0 {
		return nil, ctx.Err()
	}
	var ranked []hit
	var shares map[int64]float64
	var err error
	switch mode {
	case Naive:
		if near.whole {
			ranked = near.hits
			break
		}
		ranked, err = b.rank(ctx, anyOf("text", words), "0, 0, 1", max(2*limit, 20))
	case Hybrid:
		if ranked, err = b.rank(ctx, anyOf("title section text", words), fieldWeights, maxCandidates); err != nil {
			break
		}
		shares = shareOfBest(ranked)
		if ranked, err = b.namedFirst(ctx, words, ranked); err != nil {
			break
		}
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
	for i, p := range found {
		found[i].Share = shares[p.ID]
	}
	found = withoutCopies(found)
	if mode == Hybrid && len(found) > 0 {
		beside, err := b.beside(ctx, found[0])
		if err != nil {
			return nil, b.failed(ctx, "search", err)
		}
		found = withBeside(spread(found, limit), beside)
	}
	return found[:min(len(found), limit)], nil
}

// besideShare is the minimum Share of an adjacent passage, as a fraction of the best passage's Share.
const besideShare = 0.9

// beside returns the passages before and after p in its section. Their ids are adjacent.
func (b *finder) beside(ctx context.Context, p Passage) ([]Passage, error) {
	return b.selectPassages(ctx, `WHERE p.section = (SELECT section FROM passages WHERE id = ?1)
		AND p.id IN (?1 - 1, ?1 + 1) ORDER BY p.id`, p.ID)
}

// withBeside inserts the adjacent passages after the best one, because an answer often starts before or continues after
// it. In the evaluation with 114 questions, six passages answer 99 questions with this step and 95 without it.
func withBeside(found, beside []Passage) []Passage {
	best := found[0]
	out := []Passage{best}
	for _, p := range beside {
		p.Score, p.Share = best.Score, besideShare*best.Share
		if i := slices.IndexFunc(found, func(f Passage) bool { return f.ID == p.ID }); i >= 0 {
			p.Share = max(p.Share, found[i].Share)
		}
		out = append(out, p)
	}
	for _, p := range found[1:] {
		if !slices.ContainsFunc(out, func(o Passage) bool { return o.ID == p.ID }) {
			out = append(out, p)
		}
	}
	return out
}

// first returns some followed by the other hits that are not in some.
func first(some, others []hit) []hit {
	return append(some, slices.DeleteFunc(others, func(h hit) bool {
		return slices.ContainsFunc(some, func(s hit) bool { return s.id == h.id })
	})...)
}

// hit is one passage of a ranking.
type hit struct {
	id    int64
	score float64 // higher is better
}

// rank returns the passages that match an FTS5 query, ranked by BM25. weights are those of title, section and text.
func (b *finder) rank(ctx context.Context, match, weights string, limit int) ([]hit, error) {
	return collect(ctx, b.read, func(rows *sql.Rows, h *hit) error { return rows.Scan(&h.id, &h.score) },
		`SELECT rowid, -bm25(words, `+weights+`) AS score FROM words
			WHERE words MATCH ? ORDER BY score DESC, rowid LIMIT ?`, match, limit)
}

// shareOfBest returns the score of each hit relative to the best one.
func shareOfBest(ranked []hit) map[int64]float64 {
	shares := make(map[int64]float64, len(ranked))
	for _, h := range ranked {
		shares[h.id] = h.score / ranked[0].score
	}
	return shares
}

// namedFirst moves passages with the rarest query word to the front if that word occurs in a document title, because it
// then names the subject of the query. Elsewhere, the rarest word is just as often one that only the user chose.
func (b *finder) namedFirst(ctx context.Context, words []string, ranked []hit) ([]hit, error) {
	rarest, fewest := "", 0
	for _, w := range words {
		n, err := b.count(ctx, "{title section text} : "+quoted(w))
		if err != nil {
			return nil, err
		}
		if n > 0 && (fewest == 0 || n < fewest) {
			rarest, fewest = w, n
		}
	}
	if rarest == "" {
		return ranked, nil
	}
	if n, err := b.count(ctx, "{title} : "+quoted(rarest)); err != nil || n == 0 {
		return ranked, err
	}
	having, err := b.rank(ctx, "{title section text} : "+quoted(rarest), fieldWeights, fewest)
	if err != nil {
		return nil, err
	}
	has := make(map[int64]bool, len(having))
	for _, h := range having {
		has[h.id] = true
	}
	slices.SortStableFunc(ranked, func(a, b hit) int {
		switch {
		case has[a.id] == has[b.id]:
			return 0
		case has[a.id]:
			return -1
		}
		return 1
	})
	return ranked, nil
}

// count returns the number of passages that match an FTS5 query.
func (b *finder) count(ctx context.Context, match string) (n int, err error) {
	err = b.read.QueryRowContext(ctx, `SELECT count(*) FROM words WHERE words MATCH ?`, match).Scan(&n)
	return n, err
}

const passageColumns = `p.id, d.key, d.title, s.path, s.anchor, p.page, p.offset, p.text, p.hash, d.date,
	coalesce((SELECT f.text FROM passages f WHERE f.document = p.document AND f.offset < p.offset
		ORDER BY f.offset LIMIT 1), ''),
	coalesce((SELECT value FROM meta WHERE meta.key = 'file/' || d.id), ''), ` + bylineColumn + `
	FROM passages p JOIN documents d ON d.id = p.document JOIN sections s ON s.id = p.section`

func scanPassage(rows *sql.Rows, p *Passage) error {
	var path string
	err := rows.Scan(&p.ID, &p.Document, &p.Title, &path, &p.Anchor, &p.Page, &p.Offset, &p.Text, &p.Hash,
		&p.Date, &p.Head, &p.File, &p.Byline)
	p.Head = topicqueue.HeadOf(p.Head)
	p.Section = splitPath(path)
	return err
}

func splitPath(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, separator)
}

// selectPassages selects passageColumns with the given rest of the statement.
func (b *finder) selectPassages(ctx context.Context, where string, args ...any) ([]Passage, error) {
	return collect(ctx, b.read, scanPassage, "SELECT "+passageColumns+" "+where, args...)
}

// passages loads the hits in their order. Passages removed by a concurrent ingestion are missing.
func (b *finder) passages(ctx context.Context, hits []hit) ([]Passage, error) {
	if len(hits) == 0 {
		return nil, nil
	}
	args := make([]any, len(hits))
	order := make(map[int64]int, len(hits))
	for i, h := range hits {
		args[i] = h.id
		order[h.id] = i
	}
	found, err := b.selectPassages(ctx, "WHERE p.id "+among(len(hits)), args...)
	if err != nil {
		return nil, err
	}
	for i := range found {
		found[i].Score = hits[order[found[i].ID]].score
	}
	slices.SortFunc(found, func(a, b Passage) int { return cmp.Compare(order[a.ID], order[b.ID]) })
	return found, nil
}

// withoutCopies drops passages with the same text as an earlier one.
func withoutCopies(found []Passage) []Passage {
	seen := map[string]bool{}
	return slices.DeleteFunc(found, func(p Passage) bool {
		twice := seen[p.Hash]
		seen[p.Hash] = true
		return twice
	})
}

// spread moves passages beyond the share of a document or section to the end, in order. Passages from several documents
// therefore come before the tenth passage of one document.
func spread(found []Passage, limit int) []Passage {
	perDocument := max(2, 2*limit/3)
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
