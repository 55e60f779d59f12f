package search

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

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
	runesBefore  = 60 // of a long line before its first match
)

// Search returns the runs with all words of a query in their topic, report, claims, id, tags or batch. If no run has
// all words, it returns those with some. The error wraps ErrNoWords if the query has no words.
func (x *Index) Search(ctx context.Context, q Query) (r Results, err error) {
	terms := parse(q.Text)
	if match(terms, "AND") == "" {
		return r, ErrNoWords
	}
	q.Limit, q.Offset = min(cmp.Or(max(q.Limit, 0), defaultLimit), maxLimit), max(q.Offset, 0)
	if r, err = x.search(ctx, terms, q); err != nil {
		return r, x.failed(ctx, "search", err)
	}
	r.AsOf, r.Behind = x.noted()
	return r, nil
}

func (x *Index) search(ctx context.Context, terms []term, q Query) (Results, error) {
	r := Results{Results: []Result{}}
	if err := x.db.QueryRowContext(ctx, `SELECT count(*) FROM runs`).Scan(&r.Indexed); err != nil {
		return r, err
	}
	query := match(terms, "AND")
	ids, total, err := find(ctx, x.db, query, q)
	if err == nil && total == 0 && len(terms) > 1 {
		r.Partly, query = true, match(terms, "OR")
		ids, total, err = find(ctx, x.db, query, q)
	}
	if err != nil {
		return r, err
	}
	r.Total, r.Partly = total, r.Partly && total > 0
	for _, id := range ids {
		result, err := load(ctx, x.db, id, query)
		if errors.Is(err, sql.ErrNoRows) { // removed meanwhile
			continue
		}
		if err != nil {
			return r, err
		}
		r.Results = append(r.Results, result)
	}
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

// load reads a run that matches a query.
func load(ctx context.Context, db *sql.DB, id int64, query string) (r Result, err error) {
	var state, tags, report, noted, said string
	var at int64
	if err := db.QueryRowContext(ctx, `SELECT run, batch, runs.topic, ref, tags, state, ended, runs.claims,
		highlight(words, 1, char(1), char(2)), highlight(words, 2, char(1), char(2)) FROM words JOIN runs ON id = words.rowid
		WHERE words MATCH ? AND words.rowid = ?`, query, id).Scan(&r.RunID, &r.Batch, &r.Topic, &r.Ref, &tags, &state, &at,
		&noted, &report, &said); err != nil {
		return r, err
	}
	r.State = topicqueue.RunState(state)
	if tags != "" {
		r.Tags = strings.Split(tags, "\n")
	}
	if at != 0 {
		r.EndedAt = time.UnixMilli(at).UTC()
	}
	var claims []claim
	if err := json.Unmarshal([]byte(noted), &claims); err != nil {
		return r, err
	}
	r.Snippets = snippets(report, said, claims)
	return r, nil
}

// candidate is a line with matching words.
type candidate struct {
	at      int // index among the lines
	text    string
	pieces  []Piece
	matches int // different words that match
}

// snippets returns the sentences of the report that match most of the words. It adds claims only if the report has too
// few. said has a line for each claim, and quotes after them.
func snippets(report, said string, claims []claim) []Snippet {
	out := []Snippet{}
	var shown []string
	for _, c := range best(report, maxSnippets) {
		shown = append(shown, c.text)
		out = append(out, newSnippet(Snippet{In: InReport, Sentence: c.text}, c))
	}
	for _, c := range best(said, len(claims)) {
		repeats := func(text string) bool { return strings.Contains(c.text, text) || strings.Contains(text, c.text) }
		if len(out) == maxSnippets || c.at >= len(claims) || slices.ContainsFunc(shown, repeats) {
			continue
		}
		shown = append(shown, c.text)
		claim := claims[c.at]
		out = append(out, newSnippet(Snippet{In: InClaim, Citation: claim.Citation, Source: claim.Source,
			Quote: cmp.Or(claim.Quote, claim.Text)}, c))
	}
	return out
}

func newSnippet(s Snippet, c candidate) Snippet {
	s.Pieces = shorten(c.pieces)
	for _, p := range s.Pieces {
		s.Text += p.Text
	}
	return s
}

// best returns at most n lines with matches, in their order: those in which most words match.
func best(lines string, n int) []candidate {
	var all []candidate
	for i, line := range strings.Split(lines, "\n") {
		if strings.Contains(line, begins) {
			all = append(all, newCandidate(i, line))
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.matches - a.matches })
	all = all[:min(n, len(all))]
	slices.SortFunc(all, func(a, b candidate) int { return a.at - b.at })
	return all
}

func newCandidate(at int, line string) candidate {
	c, words := candidate{at: at, text: signs.Replace(line)}, map[string]bool{}
	for i, part := range strings.Split(line, begins) {
		found, rest, _ := strings.Cut(part, ended)
		if i == 0 {
			found, rest = "", part
		} else {
			words[strings.ToLower(found)] = true
		}
		for _, p := range []Piece{{signs.Replace(found), true}, {signs.Replace(rest), false}} {
			if p.Text != "" {
				c.pieces = append(c.pieces, p)
			}
		}
	}
	c.matches = len(words)
	return c
}

// shorten cuts a line around its first match.
func shorten(pieces []Piece) []Piece {
	size := 0
	for _, p := range pieces {
		size += len(p.Text)
	}
	before := []rune(pieces[0].Text)
	if size > snippetBytes && !pieces[0].Found && len(before) > runesBefore {
		pieces[0].Text = "… " + string(before[len(before)-runesBefore:])
	}
	room := snippetBytes
	for i := range pieces {
		if p := &pieces[i]; len(p.Text) > room {
			p.Text = topicqueue.Clip(p.Text, max(room, len("…")))
			return pieces[:i+1]
		}
		room -= len(pieces[i].Text)
	}
	return pieces
}
