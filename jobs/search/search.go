// Package search finds words in the reports and claims of all runs in a storage, for example all reports that mention
// Geneva.
//
// Its index is a local file of the searching process and can be lost, because publishers do not update it. Open opens
// the file. CatchUp compares it with a listing of the storage and reads runs that are new, published again or deleted.
// Search answers queries. Several processes may share one file. A damaged file is rebuilt at the
// next start.
package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"

	"nightdesk/storage"
)

// Index is the index of one storage. Safe for concurrent use.
type Index struct {
	path  string
	store storage.Store

	db     *sql.DB
	update sync.Mutex // one CatchUp at a time

	state  sync.Mutex
	caught time.Time // when CatchUp last succeeded
	behind string    // missing parts of the index, shown to users; empty: none known
}

// format is the version of the file layout and of the rules for splitting texts into words and lines. A file with
// another format is rebuilt.
const format = 2

const schema = `
CREATE TABLE runs(
	id INTEGER PRIMARY KEY, run TEXT NOT NULL UNIQUE,
	stamp TEXT NOT NULL,   -- size and time of the metadata that was read
	batch TEXT NOT NULL, topic TEXT NOT NULL, ref TEXT NOT NULL, tags TEXT NOT NULL, state TEXT NOT NULL,
	ended INTEGER NOT NULL, -- milliseconds since 1970; 0: unknown
	claims TEXT NOT NULL); -- JSON
CREATE INDEX runs_batch ON runs(batch);
-- a line is a sentence of the report or a claim, see indexed
CREATE VIRTUAL TABLE words USING fts5(topic, report, claims, tokenize='porter unicode61 remove_diacritics 2');
`

// Open opens the index of a storage in a local folder. It creates the folder and the file if they do not exist.
func Open(folder string, store storage.Store) (*Index, error) {
	x := &Index{path: filepath.Join(folder, fileOf(store)), store: store}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	err := x.open()
	if err != nil && unusable(err) {
		x.remove()
		err = x.open()
	}
	return x, err
}

// remove removes the file, which has another format or is damaged.
func (x *Index) remove() {
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(x.path + end) // if it stays, opening it fails again
	}
}

// errFormat means that the file has the format of another program version.
var errFormat = errors.New("the search index has another format")

// open connects to the file and creates its tables.
func (x *Index) open() error {
	file := "file:" + (&url.URL{Path: x.path}).EscapedPath()
	db, err := sql.Open("sqlite", file+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)"+
		"&_pragma=synchronous(NORMAL)&_pragma=cache_size(-16000)&_txlock=immediate")
	if err == nil {
		db.SetMaxOpenConns(4)
		if err = prepare(db); err != nil {
			err = errors.Join(err, db.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("open the search index %s: %w", x.path, err)
	}
	x.db = db
	return nil
}

func prepare(db *sql.DB) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	var version, tables int
	if err := tx.QueryRow(`SELECT (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_master)`).Scan(&version, &tables); err != nil {
		return err
	}
	if tables > 0 {
		if version != format {
			return errFormat
		}
		return nil
	}
	if _, err := tx.Exec(schema + fmt.Sprintf("PRAGMA user_version = %d;", format)); err != nil {
		return err
	}
	return tx.Commit()
}

// unusable reports whether err means that the file is damaged or not an index of this version.
func unusable(err error) bool {
	const corrupt, notADatabase = 11, 26
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()&0xff == corrupt || e.Code()&0xff == notADatabase
	}
	return errors.Is(err, errFormat)
}

// failed explains an error of the index. A damaged file is removed, so that the next start builds it again.
func (x *Index) failed(ctx context.Context, doing string, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case unusable(err):
		x.remove()
		err = fmt.Errorf("%s is damaged and is built again at the next start: %w", x.path, err)
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// Close closes the file.
func (x *Index) Close() error { return x.db.Close() }

// note records the state of CatchUp. An empty behind means that it has succeeded.
func (x *Index) note(behind string) {
	x.state.Lock()
	defer x.state.Unlock()
	if x.behind = behind; behind == "" {
		x.caught = time.Now()
	}
}

// noted returns when the index last matched the storage (zero: never) and its missing parts.
func (x *Index) noted() (caught time.Time, behind string) {
	x.state.Lock()
	defer x.state.Unlock()
	return x.caught, x.behind
}

// Keep calls CatchUp until ctx ends: every pause, or less often if CatchUp takes long. It passes each failure to
// failed.
func (x *Index) Keep(ctx context.Context, pause time.Duration, failed func(error)) {
	const share = 20 // CatchUp may take 1/share of the time
	for {
		begun := time.Now()
		if _, err := x.CatchUp(ctx, nil); err != nil && ctx.Err() == nil {
			failed(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(pause, share*time.Since(begun))):
		}
	}
}
