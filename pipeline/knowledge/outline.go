package knowledge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Part is a section of a document with its own text: what stands between its heading and the next one.
type Part struct {
	Section []string // headings from the top down, without the title; empty = what stands before the first heading
	Anchor  string
	Text    string // verbatim; may be empty
}

// Outline returns a document's title and its sections in order; together their texts are the whole document. The error
// wraps ErrNotFound when the base has no document of this key, else it is as for Search.
func (b *Base) Outline(ctx context.Context, key string) (title string, parts []Part, err error) {
	var id int64
	var text string
	err = b.read.QueryRowContext(ctx, `SELECT id, title, text FROM documents WHERE key = ?`, key).Scan(&id, &title, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil, fmt.Errorf("document %q: %w", key, ErrNotFound)
	}
	if err != nil {
		return "", nil, b.failed(ctx, "read document", err)
	}
	rows, err := b.read.QueryContext(ctx, `SELECT path, anchor, offset FROM sections WHERE document = ? ORDER BY offset, id`, id)
	if err != nil {
		return "", nil, b.failed(ctx, "read outline", err)
	}
	defer rows.Close()
	last := 0
	for rows.Next() {
		var p Part
		var path string
		var offset int
		if err := rows.Scan(&path, &p.Anchor, &offset); err != nil {
			return "", nil, b.failed(ctx, "read outline", err)
		}
		offset = min(max(offset, last), len(text))
		if n := len(parts); n > 0 {
			parts[n-1].Text = text[last:offset]
		}
		p.Section, last = splitPath(path), offset
		parts = append(parts, p)
	}
	if err := rows.Err(); err != nil {
		return "", nil, b.failed(ctx, "read outline", err)
	}
	if n := len(parts); n > 0 {
		parts[n-1].Text = text[last:]
	}
	return title, parts, nil
}
