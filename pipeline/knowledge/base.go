// Package knowledge builds and searches knowledge bases. A knowledge base is one SQLite file that holds the text of a
// directory of documents, cut into passages that a citation can refer to.
//
// Create opens a base for Ingest, which processes only changed files. Search, Item and Sections query it. With
// SetEmbedder, Embed computes vectors for passages and Search also finds paraphrases; without an embedder, or when the
// model fails, search uses words only. Publish stores the content of a base as an immutable version, and Fetch
// downloads a version to another machine. Any number of goroutines and processes may read a base during an ingestion.
//
// The package does not depend on queues, the web or models, except through the Downloader and the Embedder that it is
// given. Package extract handles file formats.
package knowledge

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// format is the version of the file layout. Bases with another format cannot be read.
const format = 1

// extraction is the version of the rules for extracting and cutting text, stored as a suffix of each document's hash.
// Raise it when the same document would yield different passages; the next Ingest then reads all documents again.
const extraction = "-4"

// ErrFormat reports that a file is not a knowledge base of the supported format.
var ErrFormat = errors.New("not a knowledge base of this version")

const schema = `
CREATE TABLE meta(
	key TEXT PRIMARY KEY,    -- also file/ID: the path of a document, by/ID: its byline
	value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents(
	id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, title TEXT NOT NULL,
	date TEXT NOT NULL,      -- the document's own, YYYY-MM-DD, YYYY-MM or YYYY; empty: it has none
	size INTEGER NOT NULL,   -- bytes of the file
	mtime INTEGER NOT NULL,  -- of the file, nanoseconds
	hash TEXT NOT NULL,      -- SHA-256 of the file, and extraction
	passages INTEGER NOT NULL, bytes INTEGER NOT NULL, text TEXT NOT NULL);
CREATE TABLE sections(
	id INTEGER PRIMARY KEY, document INTEGER NOT NULL, path TEXT NOT NULL, -- headings, separated by char(31)
	anchor TEXT NOT NULL, offset INTEGER NOT NULL, passages INTEGER NOT NULL);
CREATE INDEX sections_document ON sections(document, offset);
CREATE TABLE passages(
	id INTEGER PRIMARY KEY, document INTEGER NOT NULL, section INTEGER NOT NULL, page INTEGER NOT NULL,
	offset INTEGER NOT NULL, size INTEGER NOT NULL, hash TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX passages_document ON passages(document, offset, size);
CREATE TABLE labels(
	name TEXT NOT NULL, rank INTEGER NOT NULL, document INTEGER NOT NULL, section INTEGER NOT NULL,
	offset INTEGER NOT NULL, anchor TEXT NOT NULL);
CREATE INDEX labels_name ON labels(name, rank, document, offset);
CREATE INDEX labels_document ON labels(document);
CREATE VIRTUAL TABLE words USING fts5(title, section, text, content='', contentless_delete=1,
	tokenize='porter unicode61 remove_diacritics 2');
`

// Base is one knowledge base. Base itself covers content, ingestion and versions; finder and meanings answer queries.
// It is safe for concurrent use.
type Base struct {
	store
	meanings
	finder
	download Downloader // nil if there is none
}

// store is the SQLite file of a base.
type store struct {
	path  string
	read  *sql.DB
	write *sql.DB // limited to one connection, because SQLite allows one writer
}

// Open opens an existing knowledge base. The error wraps fs.ErrNotExist or ErrFormat. The caller closes the base.
func Open(path string) (*Base, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open knowledge base: %w", err)
	}
	return open(path, "rw")
}

// Create opens a knowledge base for ingestion. It creates the file and its directory if they do not exist.
func Create(path string) (*Base, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("create knowledge base: %w", err)
	}
	b, err := open(path, create)
	if !errors.Is(err, errBlank) {
		return b, err
	}
	if b, err = connect(path, create); err != nil {
		return nil, err
	}
	if err = b.init(); err != nil {
		return nil, errors.Join(fmt.Errorf("create knowledge base %s: %w", path, err), b.Close())
	}
	return b, nil
}

// errBlank reports that a file has no tables yet. It wraps ErrFormat; only Create handles it separately.
var errBlank = fmt.Errorf("%w: the file is empty", ErrFormat)

func open(path, mode string) (*Base, error) {
	b, err := connect(path, mode)
	if err != nil {
		return nil, err
	}
	var version, tables int
	err = b.read.QueryRow(`SELECT (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_master)`).Scan(&version, &tables)
	switch {
	case err != nil && code(err) == codeNotADatabase:
		err = fmt.Errorf("%w: %s is no SQLite file", ErrFormat, path)
	case err != nil:
		err = fmt.Errorf("open knowledge base %s: %w", path, err)
	case tables == 0:
		err = errBlank
	case version != format:
		err = fmt.Errorf("%w: %s has format %d and this program needs %d; remove it and ingest the documents again",
			ErrFormat, path, version, format)
	default:
		return b, nil
	}
	return nil, errors.Join(err, b.Close())
}

// create is the connection mode that creates a missing file. The mode "rw" returns an error instead, even if the file
// is removed later, because an empty file in its place would be mistaken for a base.
const create = "rwc"

// connect opens the connection pools for reading and writing.
func connect(path, mode string) (*Base, error) {
	file := "file:" + (&url.URL{Path: path}).EscapedPath() + "?mode=" + mode
	const pragmas = "&_pragma=synchronous(NORMAL)&_pragma=cache_size(-32000)"
	read, err := sql.Open("sqlite", file+"&_pragma=busy_timeout(5000)"+pragmas)
	if err != nil {
		return nil, fmt.Errorf("open knowledge base %s: %w", path, err)
	}
	write, err := sql.Open("sqlite", file+"&_pragma=busy_timeout(500)"+pragmas+"&_txlock=immediate")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open knowledge base %s: %w", path, err), read.Close())
	}
	read.SetMaxOpenConns(4)
	write.SetMaxOpenConns(1)
	b := &Base{store: store{path: path, read: read, write: write}}
	b.meanings.store = &b.store
	b.finder = finder{&b.store, &b.meanings}
	return b, nil
}

// init creates the tables unless another process has already done so.
func (b *store) init() error {
	// WAL mode lets readers continue while one writer writes. The file stores the mode, so it is set only here. SQLite
	// does not wait for locks during this change, so it is retried while another process makes the same change.
	for {
		_, err := b.write.Exec(`PRAGMA journal_mode = WAL`)
		if err == nil {
			break
		}
		if code(err) != codeBusy {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
	return b.update(context.Background(), func(tx *sql.Tx) error {
		var tables int
		if err := tx.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&tables); err != nil || tables > 0 {
			return err
		}
		if _, err := tx.Exec(schema + fmt.Sprintf("PRAGMA user_version = %d;", format)); err != nil {
			return err
		}
		now := time.Now().UTC().Format(time.RFC3339)
		_, err := tx.Exec(`INSERT INTO meta VALUES ('created', ?), ('updated', ?), ('version', '')`, now, now)
		return err
	})
}

// Close closes the connections of the base.
func (b *store) Close() error { return errors.Join(b.read.Close(), b.write.Close()) }

const (
	codeBusy         = 5
	codeNotADatabase = 26
)

// code returns SQLite's primary result code, or 0 if err is not from SQLite.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// update runs change in one write transaction. It waits for other writers until ctx ends.
func (b *store) update(ctx context.Context, change func(*sql.Tx) error) error {
	for {
		tx, err := b.write.BeginTx(ctx, nil)
		if code(err) == codeBusy && ctx.Err() == nil {
			continue // each attempt waits inside SQLite only briefly, so that the end of ctx is noticed soon
		}
		if err != nil {
			return err
		}
		if err = change(tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	}
}

// querier is a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// collect returns the rows of a query, each read by scan.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows, *T) error, query string,
	args ...any) ([]T, error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var row T
		if err := scan(rows, &row); err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	return out, rows.Err()
}

// column reads a row with one column, for collect.
func column[T any](rows *sql.Rows, to *T) error { return rows.Scan(to) }

// among returns "IN (?, ...)" for n arguments.
func among(n int) string { return "IN (?" + strings.Repeat(",?", n-1) + ")" }

// failed adds the operation and the path to err. If ctx has ended, it returns the cause instead.
func (b *store) failed(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%s in %s: %w", doing, b.path, err)
}

// ErrNotFound reports that a base does not contain the requested item.
var ErrNotFound = fmt.Errorf("not in the knowledge base: %w", fs.ErrNotExist)
