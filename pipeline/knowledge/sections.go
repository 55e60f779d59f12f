package knowledge

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
)

// SectionHit is a section that has something to say about a query.
type SectionHit struct {
	Document string
	Title    string   // of the document
	Section  []string // headings from the top down; empty = what stands before the first heading
	Anchor   string
	Score    float64 // higher is better; comparable within one answer only
	Passages int     // in the whole section
	Lead     string  // its first sentences, at most leadSize bytes; empty when it begins with code or a table
}

const leadSize = 300

// Rarity returns how much a word tells texts of the base apart, from 0 (it stands everywhere) to 1 (in one passage, or
// nowhere): the logarithm of the geometric mean of the shares of documents and of passages that hold it, in any
// inflection and also in titles and headings. known is false when none does. Of several words, as Search finds them
// in one, all must be there.
func (b *Base) Rarity(ctx context.Context, word string) (rarity float64, known bool, err error) {
	words := terms(word)
	if len(words) == 0 {
		return 1, false, ctx.Err()
	}
	for i := range words {
		words[i] = quoted(words[i])
	}
	var documents, passages, allDocuments, allPassages float64
	err = b.read.QueryRowContext(ctx, `SELECT count(DISTINCT p.document), count(*), (SELECT count(*) FROM documents), (SELECT count(*) FROM passages)
		FROM words JOIN passages p ON p.id = words.rowid WHERE words MATCH ?`, strings.Join(words, " AND ")).
		Scan(&documents, &passages, &allDocuments, &allPassages)
	if err != nil {
		return 0, false, b.failed(ctx, "count a word", err)
	}
	if passages == 0 {
		return 1, false, nil
	}
	once := 0.5 / math.Sqrt(allDocuments*allPassages) // half of a single passage, so that one of one is no zero
	share := math.Sqrt(documents / allDocuments * passages / allPassages)
	return min(1, math.Log(share)/math.Log(once)), true, nil
}

// Sections returns at most limit sections that answer query best, best first: the corpus' own structure around a
// topic. A section counts by its best passages and by its heading. query and errors as Search.
func (b *Base) Sections(ctx context.Context, query string, limit int) ([]SectionHit, error) {
	words := terms(query)
	limit = min(limit, maxLimit)
	if len(words) == 0 || limit <= 0 {
		return nil, ctx.Err()
	}
	ranked, err := b.rank(ctx, anyOf("title section text", words), "3, 4, 1", 400)
	if err != nil {
		return nil, b.failed(ctx, "search sections", err)
	}
	hits, err := b.bySection(ctx, ranked)
	if err != nil {
		return nil, b.failed(ctx, "search sections", err)
	}
	slices.SortStableFunc(hits, func(a, b sectionScore) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id))
	})
	hits = hits[:min(len(hits), limit)]
	out := make([]SectionHit, 0, len(hits))
	for _, h := range hits {
		var s SectionHit
		var path, text string
		err := b.read.QueryRowContext(ctx, `SELECT d.key, d.title, s.path, s.anchor, s.passages,
			coalesce((SELECT text FROM passages p WHERE p.document = s.document AND p.offset >= s.offset ORDER BY p.offset LIMIT 1), '')
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

type sectionScore struct {
	id    int64
	score float64
	seen  int
}

// bySection adds up the scores of a section's passages, each further one counting half as much.
func (b *Base) bySection(ctx context.Context, ranked []hit) ([]sectionScore, error) {
	if len(ranked) == 0 {
		return nil, nil
	}
	score := make(map[int64]float64, len(ranked))
	args := make([]any, len(ranked))
	for i, h := range ranked {
		score[h.id] = h.score
		args[i] = h.id
	}
	rows, err := b.read.QueryContext(ctx, `SELECT id, section FROM passages WHERE id IN (?`+strings.Repeat(",?", len(args)-1)+`)`, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	section := map[int64]int64{}
	for rows.Next() {
		var passage, s int64
		if err := rows.Scan(&passage, &s); err != nil {
			return nil, err
		}
		section[passage] = s
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	var out []sectionScore
	index := map[int64]int{}
	for _, h := range ranked { // best first
		id, ok := section[h.id]
		if !ok {
			continue
		}
		i, ok := index[id]
		if !ok {
			i = len(out)
			index[id] = i
			out = append(out, sectionScore{id: id})
		}
		out[i].score += score[h.id] * math.Pow(0.5, float64(out[i].seen))
		out[i].seen++
	}
	return out, nil
}

// lead returns the first sentences of the first paragraph of prose in text.
func lead(text string) string {
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
			continue
		case fenced || line == "" || line[0] == '|' || len(line) < 40 && !strings.ContainsAny(line[len(line)-1:], ".!?"):
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
