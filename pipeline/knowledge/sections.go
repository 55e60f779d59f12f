package knowledge

import (
	"context"
	"database/sql"
	"strings"
)

// SectionHit is a section that matches a query.
type SectionHit struct {
	Document string
	Title    string   // of the document
	Section  []string // headings from the top down; empty for the text before the first heading
	Anchor   string
	Score    float64 // higher is better; comparable within one answer only
	Passages int     // in the whole section
	Lead     string  // first sentences, at most leadSize bytes; empty if there is no prose
}

const leadSize = 300

// Sections returns at most limit sections that best answer query, best first, which shows the structure of the corpus
// around a topic. A section is ranked by its best passage. query and errors are as for Search.
func (b *finder) Sections(ctx context.Context, query string, limit int) ([]SectionHit, error) {
	words := terms(query)
	limit = min(limit, maxLimit)
	if len(words) == 0 || limit <= 0 {
		return nil, ctx.Err()
	}
	ranked, err := b.rank(ctx, anyOf("title section text", words), fieldWeights, 400)
	if err != nil {
		return nil, b.failed(ctx, "search sections", err)
	}
	hits, err := b.owners(ctx, "section", ranked)
	if err != nil {
		return nil, b.failed(ctx, "search sections", err)
	}
	hits = hits[:min(len(hits), limit)]
	out := make([]SectionHit, 0, len(hits))
	for _, h := range hits {
		var s SectionHit
		var path, text string
		err := b.read.QueryRowContext(ctx, `SELECT d.key, d.title, s.path, s.anchor, s.passages,
			coalesce((SELECT text FROM passages p WHERE p.document = s.document AND p.offset >= s.offset
				ORDER BY p.offset LIMIT 1), '')
			FROM sections s JOIN documents d ON d.id = s.document WHERE s.id = ?`, h.id).
			Scan(&s.Document, &s.Title, &path, &s.Anchor, &s.Passages, &text)
		if err != nil {
			return nil, b.failed(ctx, "search sections", err)
		}
		s.Section, s.Score, s.Lead = splitPath(path), h.score, lead(text)
		out = append(out, s)
	}
	return out, nil
}

// DocumentHit is a document whose title matches a query.
type DocumentHit struct {
	Document, Title string
	Score           float64 // higher is better; comparable within one answer only
}

// Titles returns at most limit documents whose titles best match query, best first. query and errors are as for Search.
func (b *finder) Titles(ctx context.Context, query string, limit int) ([]DocumentHit, error) {
	words := terms(query)
	limit = min(limit, maxLimit)
	if len(words) == 0 || limit <= 0 {
		return nil, ctx.Err()
	}
	ranked, err := b.rank(ctx, anyOf("title", words), "1, 0, 0", 400)
	if err != nil {
		return nil, b.failed(ctx, "search titles", err)
	}
	hits, err := b.owners(ctx, "document", ranked)
	if err != nil {
		return nil, b.failed(ctx, "search titles", err)
	}
	out := make([]DocumentHit, 0, limit)
	for _, h := range hits[:min(len(hits), limit)] {
		d := DocumentHit{Score: h.score}
		err := b.read.QueryRowContext(ctx, `SELECT key, title FROM documents WHERE id = ?`, h.id).Scan(&d.Document, &d.Title)
		if err != nil {
			return nil, b.failed(ctx, "search titles", err)
		}
		out = append(out, d)
	}
	return out, nil
}

// owners returns the sections or documents that contain the ranked passages, each with the score of its best passage,
// best first. kind is "section" or "document".
func (b *finder) owners(ctx context.Context, kind string, ranked []hit) ([]hit, error) {
	if len(ranked) == 0 {
		return nil, nil
	}
	args := make([]any, len(ranked))
	for i, h := range ranked {
		args[i] = h.id
	}
	pairs, err := collect(ctx, b.read, func(rows *sql.Rows, p *[2]int64) error { return rows.Scan(&p[0], &p[1]) },
		`SELECT id, `+kind+` FROM passages WHERE id `+among(len(args)), args...)
	if err != nil {
		return nil, err
	}
	owner := make(map[int64]int64, len(pairs))
	for _, p := range pairs {
		owner[p[0]] = p[1]
	}
	var out []hit
	seen := map[int64]bool{}
	for _, h := range ranked {
		if id, ok := owner[h.id]; ok && !seen[id] {
			seen[id] = true
			out = append(out, hit{id, h.score})
		}
	}
	return out, nil
}

// lead returns the first sentences of the first prose paragraph in text.
func lead(text string) string {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			continue
		case fenced, line == "", line[0] == '|', len(line) < 40 && !strings.ContainsAny(line[len(line)-1:], ".!?"):
			continue
		}
		if len(line) <= leadSize {
			return line
		}
		window := line[:leadSize]
		for _, mark := range []string{". ", "? ", "! ", "。", "; ", ", ", " "} {
			if i := strings.LastIndex(window, mark); i > leadSize/4 {
				return strings.TrimSpace(window[:i+len(mark)])
			}
		}
		return strings.ToValidUTF8(window, "")
	}
	return ""
}
