package knowledge

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// current says which published version a name stands for. It is stored as knowledge/<name>/current.json.
type current struct {
	Version string    `json:"version"`
	Updated time.Time `json:"updated"` // as in Info
}

const currentSuffix = "/current.json"

func currentKey(name string) string { return "knowledge/" + name + currentSuffix }

// Current returns the version that was published last under a name, or "" if there is none.
func Current(ctx context.Context, store SnapshotStore, name string) (string, error) {
	c, err := readCurrent(ctx, store, name)
	return c.Version, err
}

func readCurrent(ctx context.Context, store SnapshotStore, name string) (c current, err error) {
	there, err := store.Exists(ctx, currentKey(name))
	if err == nil && !there {
		return c, nil
	}
	var body []byte
	if err == nil {
		body, err = store.Get(ctx, currentKey(name))
	}
	if err == nil {
		err = json.Unmarshal(body, &c)
	}
	if err != nil {
		return c, fmt.Errorf("read %s: %w", currentKey(name), err)
	}
	return c, nil
}

func setCurrent(ctx context.Context, store SnapshotStore, name string, c current) error {
	if last, err := readCurrent(ctx, store, name); err == nil && last == c {
		return nil
	}
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return store.Put(ctx, currentKey(name), body)
}

// Withdraw ends the name of a base in the store. Its versions stay for the runs that use them.
func Withdraw(ctx context.Context, store SnapshotStore, name string) error {
	return store.Delete(ctx, currentKey(name))
}

// Published returns the names under which bases are published, sorted.
func Published(ctx context.Context, store SnapshotStore) ([]string, error) {
	keys, err := store.List(ctx, "knowledge/")
	var names []string
	for _, key := range keys {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(key, "knowledge/"), currentSuffix); ok && CheckName(name) == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// Update brings the base of a name in dir to what was published last, from any machine: it fetches a base that is
// missing, damaged or older. A base with newer content that is not published yet stays. fetched reports whether the
// file was replaced; processes that have it open go on with the old one.
//
// Errors: those of Fetch, of the store and the file system. A damaged base that was never published wraps ErrDamaged.
func Update(ctx context.Context, store SnapshotStore, dir, name string) (fetched bool, err error) {
	path, err := Path(dir, name)
	if err != nil {
		return false, err
	}
	here, damaged := describe(ctx, path)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	c, err := readCurrent(ctx, store, name)
	switch {
	case err != nil:
		return false, errors.Join(err, damaged)
	case c.Version == "", damaged == nil && here.newerThan(c):
		return false, damaged
	}
	file, err := Fetch(ctx, store, dir, name, c.Version)
	if err != nil {
		return false, err
	}
	return true, locked(ctx, filepath.Join(dir, "."+name+".update.lock"), func() error {
		return install(ctx, file, c.Version, path)
	})
}

// ErrDamaged reports that the file of a base cannot be read.
var ErrDamaged = errors.New("the file of the knowledge base is damaged")

// local is the state of a base on this machine; zero if there is none.
type local struct {
	content string // its content version
	shared  string // that when it was last published or fetched
	updated time.Time
}

// newerThan reports whether a base has the content of a published version, or changes that came after it.
func (l local) newerThan(c current) bool {
	switch {
	case l.content == "":
		return false
	case strings.HasPrefix(c.Version, l.content+"-"):
		return true
	}
	return l.content != l.shared && !c.Updated.After(l.updated)
}

func describe(ctx context.Context, path string) (l local, err error) {
	b, err := Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer b.Close()
	var verdict string
	err = b.read.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&verdict)
	if err == nil && verdict != "ok" {
		err = errors.New(verdict)
	}
	if err == nil {
		var info Info
		info, err = b.Info(ctx)
		l.updated = info.Updated
	}
	if err == nil {
		err = b.read.QueryRowContext(ctx,
			`SELECT coalesce((SELECT value FROM meta WHERE key = 'shared'), '')`).Scan(&l.shared)
	}
	if err == nil {
		l.content, err = b.contentVersion(ctx)
	}
	if err != nil {
		return local{}, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	return l, nil
}

// markShared records that a base has the content of a published version.
func (b *store) markShared(ctx context.Context, version string) error {
	content, _, _ := strings.Cut(version, "-")
	return b.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO meta VALUES ('shared', ?)`, content)
		return err
	})
}

// install makes a writable copy of a fetched version the base at path.
func install(ctx context.Context, file, version, path string) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	part := path + ".part"
	if err := os.WriteFile(part, body, 0o644); err != nil {
		return errors.Join(err, remove(part))
	}
	b, err := connect(part, "rw")
	if err == nil {
		_, err = b.write.ExecContext(ctx, `PRAGMA journal_mode = WAL`)
		err = errors.Join(err, b.markShared(ctx, version), b.Close())
	}
	for _, side := range []string{"-wal", "-shm"} { // those of the old file do not belong to the new one
		err = errors.Join(err, remove(path+side))
	}
	if err != nil {
		return errors.Join(err, remove(part))
	}
	return os.Rename(part, path)
}
