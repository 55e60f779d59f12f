package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"
	"unicode"

	"nightdesk/topicqueue"
)

// Query is a search query.
type Query struct {
	Text   string `json:"q" jsonschema:"words; \"words in a row\", beginning*, -unwanted"`
	Batch  string `json:"batch,omitempty" jsonschema:"only runs of this batch" valid:"batch"`
	Limit  int    `json:"limit,omitempty" jsonschema:"maximum number of runs; default 20" valid:"few"`
	Offset int    `json:"offset,omitempty" jsonschema:"leave out this number of runs" valid:"offset"`
}

// Results are the runs that match a query, best first.
type Results struct {
	Total   int       `json:"total"`            // matching runs, including those beyond Limit
	Partly  bool      `json:"partly,omitempty"` // no run has all words; the results have some of them
	Indexed int       `json:"indexed"`          // number of runs searched
	AsOf    time.Time `json:"as_of,omitzero"`   // publications up to this time are included
	Behind  string    `json:"behind,omitempty"` // why later publications may be missing
	Results []Result  `json:"results"`
}

// Result is a matching run.
type Result struct {
	RunID    string              `json:"run_id"`
	Batch    string              `json:"batch"`
	Topic    string              `json:"topic"`
	Ref      string              `json:"id,omitempty"`
	Tags     []string            `json:"tags,omitempty"`
	State    topicqueue.RunState `json:"state"`
	EndedAt  time.Time           `json:"ended_at,omitzero"`
	Snippets []Snippet           `json:"snippets"` // none: the words are in the topic, id, tags or batch
}

// Snippet is a passage with matching words.
type Snippet struct {
	In       string  `json:"in"`                    // report or claim
	Citation string  `json:"citation_id,omitempty"` // of a claim
	Source   string  `json:"source_id,omitempty"`   // of a claim
	Text     string  `json:"text"`
	Pieces   []Piece `json:"-"`               // Text, split at the matching words
	Quote    string  `json:"quote,omitempty"` // of a claim: the quote from its source
	// Sentence is the whole sentence of the report that contains Text.
	Sentence string `json:"-"`
}

// Values of Snippet.In.
const (
	InReport = "report"
	InClaim  = "claim"
)

// Piece is a part of a snippet.
type Piece struct {
	Text  string
	Found bool // part of a match
}

// ErrNoWords means that a query has no word to search for.
var ErrNoWords = errors.New("the query contains no word")

// weights of topic, report and claims when ranking results. A run about Geneva ranks above a run that mentions it.
const weights = "4.0, 1.0, 0.5"

const (
	defaultLimit = 20
	maxLimit     = 100
	maxSnippets  = 3
	snippetBytes = 320
)

// Search returns the runs with all words of a query in their topic, report, claims, id, tags or batch. If no run has
// all words, it returns those with some. The error wraps ErrNoWords if the query has no words.
func (x *Index) Search(ctx context.Context, q Query) (r Results, err error) {
	terms := parse(q.Text)
	if match(terms, "AND") == "" {
		return r, ErrNoWords
	}
	q.Limit, q.Offset = min(cmp.Or(max(q.Limit, 0), defaultLimit), maxLimit), max(q.Offset, 0)
	err = x.use(func(db *sql.DB) error {
		r = Results{Results: []Result{}}
		if err := db.QueryRowContext(ctx, `SELECT count(*) FROM runs`).Scan(&r.Indexed); err != nil {
			return err
		}
		ids, total, err := find(ctx, db, match(terms, "AND"), q)
		if err == nil && total == 0 && len(terms) > 1 {
			r.Partly = true
			ids, total, err = find(ctx, db, match(terms, "OR"), q)
		}
		if err != nil {
			return err
		}
		r.Total, r.Partly = total, r.Partly && total > 0
		for _, id := range ids {
			result, err := load(ctx, db, id, terms)
			if errors.Is(err, sql.ErrNoRows) { // removed meanwhile
				continue
			}
			if err != nil {
				return err
			}
			r.Results = append(r.Results, result)
		}
		return nil
	})
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err != nil {
		return r, fmt.Errorf("search: %w", err)
	}
	r.AsOf, r.Behind = x.noted()
	return r, nil
}

// find returns the matching rows, and their number without the limit.
func find(ctx context.Context, db *sql.DB, match string, q Query) (ids []int64, total int, err error) {
	where, args := `words MATCH ?`, []any{match}
	if q.Batch != "" {
		where, args = where+` AND rowid IN (SELECT id FROM runs WHERE batch = ?)`, append(args, q.Batch)
	}
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM words WHERE `+where, args...).Scan(&total); err != nil {
		return nil, 0, err
	}
	rows, err := db.QueryContext(ctx, `SELECT rowid FROM words WHERE `+where+
		` ORDER BY bm25(words, `+weights+`), rowid DESC LIMIT ? OFFSET ?`, append(args, q.Limit, q.Offset)...)
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, 0, err
		}
		ids = append(ids, id)
	}
	return ids, total, rows.Err()
}

func load(ctx context.Context, db *sql.DB, id int64, terms []term) (r Result, err error) {
	var state, tags, report, noted string
	var ended int64
	if err := db.QueryRowContext(ctx, `SELECT run, batch, topic, ref, tags, state, ended, report, claims FROM runs
		WHERE id = ?`, id).Scan(&r.RunID, &r.Batch, &r.Topic, &r.Ref, &tags, &state, &ended, &report, &noted); err != nil {
		return r, err
	}
	r.State = topicqueue.RunState(state)
	if tags != "" {
		r.Tags = strings.Split(tags, "\n")
	}
	if ended != 0 {
		r.EndedAt = time.UnixMilli(ended).UTC()
	}
	var claims []claim
	if err := json.Unmarshal([]byte(noted), &claims); err != nil {
		return r, err
	}
	r.Snippets = snippets(strings.Split(report, "\n"), claims, terms)
	return r, nil
}

// candidate is a line that matches some of the terms.
type candidate struct {
	at    int    // index among the lines
	terms uint32 // bit set of its terms
	found [][2]int
}

// snippets returns the sentences of the report that match most of the terms. It adds claims only if the report has too
// few.
func snippets(report []string, claims []claim, terms []term) []Snippet {
	out := []Snippet{}
	m := newMarker(terms)
	var shown []string
	for _, c := range m.best(report, maxSnippets) {
		text := report[c.at]
		shown = append(shown, text)
		s := Snippet{In: InReport, Sentence: text}
		s.Text, s.Pieces = cut(text, c.found)
		out = append(out, s)
	}
	var texts []string
	for _, c := range claims {
		texts = append(texts, c.Text)
	}
	for _, c := range m.best(texts, len(texts)) {
		claim := claims[c.at]
		repeats := func(text string) bool {
			return strings.Contains(claim.Text, text) || strings.Contains(text, claim.Text)
		}
		if len(out) == maxSnippets || slices.ContainsFunc(shown, repeats) {
			continue
		}
		shown = append(shown, claim.Text)
		s := Snippet{In: InClaim, Citation: claim.Citation, Source: claim.Source, Quote: cmp.Or(claim.Quote, claim.Text)}
		s.Text, s.Pieces = cut(claim.Text, c.found)
		out = append(out, s)
	}
	return out
}

// marker finds the words of a query in lines.
type marker struct {
	terms []term
	first [256]bool // bytes with which a wanted word may begin
}

func newMarker(terms []term) *marker {
	m := &marker{}
	for _, t := range terms {
		if !t.not {
			m.terms = append(m.terms, t)
			for _, w := range t.words {
				m.first[w[0]] = true
				m.first[w[0]&^0x20] = m.first[w[0]&^0x20] || w[0] >= 'a' && w[0] <= 'z'
			}
		}
	}
	for b := 0x80; b < 0x100; b++ { // accented letters are folded, so a byte here may be a plain letter
		m.first[b] = true
	}
	return m
}

// best returns at most n lines in their order: those with the most terms, plus lines with terms that these lack.
func (m *marker) best(lines []string, n int) []candidate {
	var all, out []candidate
	for i, line := range lines {
		if terms, found := m.mark(line); terms != 0 {
			all = append(all, candidate{i, terms, found})
		}
	}
	count := func(c candidate) int { return bits.OnesCount32(c.terms) }
	slices.SortStableFunc(all, func(a, b candidate) int { return count(b) - count(a) })
	var have uint32
	for _, c := range all {
		if len(out) < n && (count(c) == count(all[0]) || c.terms&^have != 0) {
			out, have = append(out, c), have|c.terms
		}
	}
	slices.SortFunc(out, func(a, b candidate) int { return a.at - b.at })
	return out
}

// mark returns the terms of a line and their positions, in order and without overlaps.
func (m *marker) mark(line string) (terms uint32, found [][2]int) {
	var tokens []token
	// Even an irrelevant word separates the words of a phrase.
	each(line, func(first byte) bool { return m.first[first] }, func(t token) { tokens = append(tokens, t) })
	for n, t := range m.terms {
		for i := range tokens {
			if end, ok := t.at(line, tokens[i:]); ok {
				found, terms = append(found, [2]int{tokens[i].start, end}), terms|1<<n
			}
		}
	}
	slices.SortFunc(found, func(a, b [2]int) int { return cmp.Or(a[0]-b[0], b[1]-a[1]) })
	var joined [][2]int
	for _, f := range found {
		if n := len(joined); n > 0 && f[0] <= joined[n-1][1] {
			joined[n-1][1] = max(joined[n-1][1], f[1])
			continue
		}
		joined = append(joined, f)
	}
	return terms, joined
}

// at reports whether a term matches at the first of the given tokens, and where it ends.
func (t term) at(line string, tokens []token) (end int, ok bool) {
	if len(tokens) < len(t.words) {
		return 0, false
	}
	for i, word := range t.words {
		token := tokens[i]
		if i > 0 && !token.wide && strings.ContainsFunc(line[tokens[i-1].end:token.start], inWord) {
			return 0, false // another word is between them
		}
		switch last := i == len(t.words)-1; {
		case token.word == word:
		case last && t.prefix && strings.HasPrefix(fold(line[token.start:token.end]), word):
			if token.wide { // a single character, found as the start of a pair
				return token.start + len(firstRune(line[token.start:])), true
			}
		default:
			return 0, false
		}
	}
	return tokens[len(t.words)-1].end, true
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

// cut shortens a line around the first match. It returns the text, and the text split into pieces.
func cut(line string, found [][2]int) (string, []Piece) {
	start, end := 0, len(line)
	if end > snippetBytes {
		start = max(0, found[0][0]-snippetBytes/3)
		start = min(start, len(line)-snippetBytes)
		start = boundary(line, start)
		end = min(len(line), start+snippetBytes)
		if end < len(line) {
			end = max(boundary(line, end), found[0][1])
		}
	}
	var pieces []Piece
	add := func(text string, is bool) {
		if text != "" {
			pieces = append(pieces, Piece{text, is})
		}
	}
	at := start
	if start > 0 {
		add("… ", false)
	}
	for _, f := range found {
		if f[0] < at || f[1] > end {
			continue
		}
		add(line[at:f[0]], false)
		add(line[f[0]:f[1]], true)
		at = f[1]
	}
	add(line[at:end], false)
	if end < len(line) {
		add(" …", false)
	}
	var b strings.Builder
	for _, p := range pieces {
		b.WriteString(p.Text)
	}
	return b.String(), pieces
}

// boundary returns the start of a word at or before byte at of a line.
func boundary(line string, at int) int {
	for i := at; i > 0 && at-i < 40; i-- {
		if line[i-1] < 0x80 && unicode.IsSpace(rune(line[i-1])) {
			return i
		}
	}
	for at > 0 && line[at]&0xc0 == 0x80 {
		at--
	}
	return at
}
