package knowledge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// Document is one document of a base.
type Document struct {
	Key   string // slash-separated path below its root
	Title string
	Date  string // as in Passage.Date
	Byline
	Passages int
	Bytes    int       // size of its extracted text
	ModTime  time.Time // of its file, UTC
}

// Info describes a base as a whole.
type Info struct {
	Name string `json:"name"`
	// 16 hex digits of a hash over all keys, contents and the embedding model; equal bases have equal versions. Empty if
	// nothing was ingested yet.
	Version   string    `json:"version"`
	Documents int       `json:"documents"`
	Passages  int       `json:"passages"`
	Bytes     int64     `json:"bytes"` // of extracted text
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"` // time of the last content change
	Embedding Embedding `json:"embedding"`
}

// Documents returns all documents, sorted by key.
func (b *Base) Documents(ctx context.Context) ([]Document, error) {
	out, err := collect(ctx, b.read, func(rows *sql.Rows, d *Document) error {
		var mtime int64
		err := rows.Scan(&d.Key, &d.Title, &d.Date, &d.Passages, &d.Bytes, &mtime, &d.Byline)
		d.ModTime = time.Unix(0, mtime).UTC()
		return err
	}, `SELECT key, title, date, passages, bytes, mtime, `+bylineColumn+` FROM documents d ORDER BY key`)
	if err != nil {
		return nil, b.failed(ctx, "list documents", err)
	}
	return out, nil
}

// Text returns the whole extracted text of a document, to which Passage.Offset refers. The error wraps ErrNotFound if
// the base has no document with this key.
func (b *Base) Text(ctx context.Context, key string) (string, error) {
	var text string
	err := b.read.QueryRowContext(ctx, `SELECT text FROM documents WHERE key = ?`, key).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("document %q: %w", key, ErrNotFound)
	}
	if err != nil {
		return "", b.failed(ctx, "read document", err)
	}
	return text, nil
}

// Info returns the name, version and counts of the base.
func (b *Base) Info(ctx context.Context) (Info, error) {
	name, _, _ := strings.Cut(filepath.Base(b.path), "@") // the name of a fetched file ends in @ and its version
	i := Info{Name: strings.TrimSuffix(name, suffix)}
	var created, updated string
	err := b.read.QueryRowContext(ctx, `SELECT
		(SELECT value FROM meta WHERE key = 'version'), (SELECT value FROM meta WHERE key = 'created'),
		(SELECT value FROM meta WHERE key = 'updated'), count(*), coalesce(sum(passages), 0), coalesce(sum(bytes), 0)
		FROM documents`).
		Scan(&i.Version, &created, &updated, &i.Documents, &i.Passages, &i.Bytes)
	if err != nil {
		return Info{}, b.failed(ctx, "describe the knowledge base", err)
	}
	if i.Embedding, err = b.state(ctx); err != nil {
		return Info{}, err
	}
	i.Created, err = time.Parse(time.RFC3339, created)
	if err == nil {
		i.Updated, err = time.Parse(time.RFC3339, updated)
	}
	if err != nil {
		return Info{}, b.failed(ctx, "describe the knowledge base", err)
	}
	return i, nil
}

// Passages returns all passages of a document in order, or none if the base has no document with this key.
func (b *Base) Passages(ctx context.Context, key string) ([]topicqueue.Source, error) {
	found, err := b.selectPassages(ctx, "WHERE d.key = ? ORDER BY p.offset, p.id", key)
	if err != nil {
		return nil, b.failed(ctx, "read document", err)
	}
	sources := make([]topicqueue.Source, len(found))
	for i, p := range found {
		sources[i] = p.Source(time.Now().UTC())
	}
	return sources, nil
}

// Hashes returns the hash of each document, over file content and extraction rules, by key.
func (b *Base) Hashes(ctx context.Context) (map[string]string, error) {
	known, err := b.known(ctx)
	if err != nil {
		return nil, b.failed(ctx, "list documents", err)
	}
	hashes := make(map[string]string, len(known))
	for key, s := range known {
		hashes[key] = s.hash
	}
	return hashes, nil
}
