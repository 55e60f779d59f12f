package knowledge

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/text"
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
	// in a Hybrid search: score relative to the best passage, 0 to 1
	Share float64
}

// Parameters for collecting and fusing candidates.
const (
	// fieldWeights are the weights of title, section and text in BM25 with weighted fields (BM25F: Robertson, Zaragoza,
	// Taylor 2004; k1 and b are SQLite's, 1.2 and 0.75). Of 114 questions to eleven corpora, the first two passages
	// answer 88 with weights 5 to 12, 86 with 2, 81 with 1, and 74 with 0. More than 4 lets the name of a
	// product that begins each question of a batch outweigh the question.
	fieldWeights = "4, 4, 1"

	wordsWeight   = 0.2  // of the words, if the meaning weighs 1; 0.1 to 0.3 are as good
	enoughWords   = 0.75 // share of the best score by words from which on only the meaning decides
	maxCandidates = 120  // from each ranking
	maxLimit      = 200
	perDocument   = 2    // passages, if other documents have matches
	besideBest    = 0.25 // least share of such a match

	minQuote, maxQuote = 5, 60 // number of words in a query for which passages that contain it verbatim come first
)

// search implements Find, given the passages that match the query best by words, for Hybrid, and those nearest to it.
func (b *finder) search(ctx context.Context, query string, limit int, mode Mode, byWords []hit,
	near neighbours) ([]Passage, error) {
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
		ranked = fuse(byWords, near.hits)
		shares = shareOfBest(ranked)
		if n := len(strings.Fields(query)); minQuote <= n && n <= maxQuote {
			var verbatim []hit
			verbatim, err = b.rank(ctx, "{text} : "+phrase(query), "0, 0, 1", limit)
			for _, h := range verbatim {
				shares[h.id] = 1
			}
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
		found = spread(found)
		best, err := b.whole(ctx, found[0])
		if err != nil {
			return nil, b.failed(ctx, "search", err)
		}
		found = slices.DeleteFunc(found, func(p Passage) bool { return p.within(best) })
		found = slices.Insert(found, 0, best)
	}
	return found[:min(len(found), limit)], nil
}

// A passage is shown with the section around it, because an answer often begins before it or goes on after it: with all
// of a section up to sectionSize bytes, else with the passages before and after it.
const sectionSize = 6000

// whole returns a passage with the section around it, as one passage.
func (b *finder) whole(ctx context.Context, p Passage) (Passage, error) {
	section, err := b.selectPassages(ctx,
		`WHERE p.section = (SELECT section FROM passages WHERE id = ?) ORDER BY p.offset`, p.ID)
	if err != nil || len(section) == 0 {
		return p, err
	}
	end := func(of []Passage) int { last := of[len(of)-1]; return last.Offset + len(last.Text) }
	if end(section)-section[0].Offset > sectionSize {
		at := slices.IndexFunc(section, func(s Passage) bool { return s.ID == p.ID })
		section = section[max(0, at-1):min(at+2, len(section))]
	}
	out := section[0]
	out.ID, out.Score, out.Share = p.ID, p.Score, p.Share
	err = b.read.QueryRowContext(ctx, `SELECT CAST(substr(CAST(text AS BLOB), ?, ?) AS TEXT) FROM documents WHERE key = ?`,
		out.Offset+1, end(section)-out.Offset, out.Document).Scan(&out.Text)
	out.Hash = topicqueue.TextHash(out.Text)
	return out, err
}

func (p Passage) within(q Passage) bool {
	return p.Document == q.Document && q.Offset <= p.Offset && p.Offset+len(p.Text) <= q.Offset+len(q.Text)
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

// spread moves passages beyond the share of a document behind the others that are at least besideBest, and
// passages that only ask after these.
func spread(found []Passage) []Passage {
	documents := map[string]int{}
	var first, later, weak []Passage
	for _, p := range found {
		switch documents[p.Document]++; {
		case p.Share < besideBest || text.Asks(p.Text):
			weak = append(weak, p)
		case documents[p.Document] > perDocument:
			later = append(later, p)
		default:
			first = append(first, p)
		}
	}
	return slices.Concat(first, later, weak)
}
