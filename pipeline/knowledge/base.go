// Package knowledge builds and searches knowledge bases: a directory of documents becomes one SQLite file that holds
// their text, cut into passages that a citation can point to.
//
// Create opens a base for Ingest, which touches only what changed; Search, Item and Sections answer questions. With
// SetEmbedder, Embed gives passages vectors and Search finds what is said in other words; without, or when the model
// fails, words do. Publish stores what a base holds as an immutable version, Fetch makes it a file on another machine.
// A base may be read while it is ingested, by any number of goroutines and processes.
//
// It does not know queues or the web, nor models, beyond the Downloader and the Embedder that it is given. Formats are
// the business of package extract.
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
	"time"

	"modernc.org/sqlite"
)

// format numbers the layout of the file. A base of another format cannot be read.
const format = 1

// extraction ends the hash of a document and numbers the rules by which its text was extracted and cut. Raise it when
// the same document would yield other passages: then the next Ingest reads all documents again.
const extraction = "-3"

// ErrFormat means that a file is not a knowledge base of this version of the program.
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

// Base is one knowledge base: what is in it, its ingestion and its versions; finder and meanings answer questions. It
// is safe for concurrent use.
type Base struct {
	store
	meanings
	finder
	download Downloader // nil = none
}

// store is the file of a base.
type store struct {
	path  string
	read  *sql.DB
	write *sql.DB // one connection: SQLite has one writer
}

// Open opens an existing knowledge base. The error wraps fs.ErrNotExist or ErrFormat. The caller closes the base.
func Open(path string) (*Base, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open knowledge base: %w", err)
	}
	return open(path, "rw")
}

// Create opens a knowledge base for ingestion and makes it, with its directory, when there is none.
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

// errBlank means that a file has no tables yet. Outside Create it is an ErrFormat like any other.
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

// create is the mode of a connection that makes the file when there is none. With "rw" that is an error, also when the
// file is removed later: an empty one in its place would be taken for a base.
const create = "rwc"

// connect opens the pools.
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

// init makes the tables, unless another process was faster.
func (b *store) init() error {
	// WAL lets readers go on while one writer writes. The file remembers it; the change itself waits for nobody, so
	// it is asked for here alone and again while another process does the same.
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

// Close ends all use of the base.
func (b *store) Close() error { return errors.Join(b.read.Close(), b.write.Close()) }

const (
	codeBusy         = 5
	codeNotADatabase = 26
)

// code returns SQLite's primary result code, 0 for an error that is not SQLite's.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// update runs change in one write transaction. While another process writes it waits, until ctx ends.
func (b *store) update(ctx context.Context, change func(*sql.Tx) error) error {
	for {
		tx, err := b.write.BeginTx(ctx, nil)
		if code(err) == codeBusy && ctx.Err() == nil {
			continue // each try waits inside SQLite, briefly, so that the end of ctx is seen soon
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

// failed names what was being done; an interruption by the context is reported as its cause.
func (b *store) failed(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%s in %s: %w", doing, b.path, err)
}

// ErrNotFound means that a base does not hold what was asked for.
var ErrNotFound = fmt.Errorf("not in the knowledge base: %w", fs.ErrNotExist)
