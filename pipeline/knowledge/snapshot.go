package knowledge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// SnapshotStore is where bases are published; every storage.Store is one.
type SnapshotStore interface {
	// PutNew stores body under key unless something is there; created tells which.
	PutNew(ctx context.Context, key string, body []byte) (created bool, err error)
	// Get returns a whole body, never a part without an error.
	Get(ctx context.Context, key string) ([]byte, error)
	// List returns the keys that begin with prefix.
	List(ctx context.Context, prefix string) ([]string, error)
}

// SnapshotStreamer is the ability of a SnapshotStore to take and give bodies piece by piece. A base of some hundred
// megabytes is otherwise held in memory as a whole while it is published or fetched.
type SnapshotStreamer interface {
	// PutNewFrom is PutNew of a file from its beginning.
	PutNewFrom(ctx context.Context, key string, body io.ReadSeeker) (created bool, err error)
	// Open returns a body to be read and closed. It may break off, with an error.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
}

// A version names what a base holds (contentVersion) and the bytes of the file that holds it (SHA-256, shortened):
// two machines that publish the same documents at the same time store two files, and each can be checked by its name.
var validVersion = regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-f]{32}$`)

const hashDigits = 32

// SnapshotKey returns the storage key of a published version.
func SnapshotKey(name, version string) string { return "knowledge/" + name + "/" + version + suffix }

// Publish stores the base as it is now and returns the version to Fetch it by. What a store has under a version never
// changes; when it has the same content already, nothing is written. The base may be in use.
//
// The error is ErrEmpty for a base without documents, one of the store, of SQLite or of the file system (beside the
// base there must be room for a copy), or context.Cause(ctx). Calling again is harmless.
func Publish(ctx context.Context, b *Base, store SnapshotStore) (version string, err error) {
	info, err := b.Info(ctx)
	if err != nil {
		return "", err
	}
	if info.Documents == 0 {
		return "", fmt.Errorf("publish knowledge base %s: %w", info.Name, ErrEmpty)
	}
	dir := filepath.Dir(b.path)
	err = locked(ctx, filepath.Join(dir, "."+info.Name+".publish.lock"), func() error {
		version, err = b.publish(ctx, info.Name, filepath.Join(dir, "."+info.Name+".publish"), store)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("publish knowledge base %s: %w", info.Name, err)
	}
	return version, nil
}

func (b *Base) publish(ctx context.Context, name, copied string, store SnapshotStore) (string, error) {
	content, err := b.contentVersion(ctx)
	if err != nil {
		return "", err
	}
	if name != Attached { // what is purged with its run must not be another run's as well
		if version, err := published(ctx, store, name, content); version != "" || err != nil {
			return version, err
		}
	}
	if err := remove(copied); err != nil { // of a process that was killed
		return "", err
	}
	defer func() { _ = remove(copied) }() // the next Publish would remove it too
	if _, err := b.read.ExecContext(ctx, `VACUUM INTO ?`, copied); err != nil {
		return "", fmt.Errorf("copy it: %w", err)
	}
	if content, err = seal(ctx, copied); err != nil {
		return "", fmt.Errorf("finish the copy: %w", err)
	}
	file, err := os.Open(copied)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return "", err
	}
	version := content + "-" + hex.EncodeToString(hash.Sum(nil))[:hashDigits]
	return version, put(ctx, store, SnapshotKey(name, version), file)
}

// contentVersion reads the version of what the base holds now, which during an ingestion is not that of its meta data.
func (b *Base) contentVersion(ctx context.Context) (string, error) {
	tx, err := b.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return contentVersion(ctx, tx)
}

// published returns the version under which a store has this content; empty = none.
func published(ctx context.Context, store SnapshotStore, name, content string) (string, error) {
	prefix := "knowledge/" + name + "/"
	keys, err := store.List(ctx, prefix+content)
	if err != nil {
		return "", err
	}
	for _, key := range keys {
		if version := strings.TrimSuffix(strings.TrimPrefix(key, prefix), suffix); validVersion.MatchString(version) {
			return version, nil
		}
	}
	return "", nil
}

// seal makes a copy of a base complete in itself and returns its content's version.
func seal(ctx context.Context, path string) (version string, err error) {
	b, err := connect(path, "rw")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	// Whoever reads it must not need to write beside it.
	if _, err := b.write.ExecContext(ctx, `PRAGMA journal_mode = DELETE`); err != nil {
		return "", err
	}
	err = b.update(ctx, func(tx *sql.Tx) error { return writeVersion(ctx, tx, time.Now().UTC()) })
	if err != nil {
		return "", err
	}
	return b.contentVersion(ctx)
}

func put(ctx context.Context, store SnapshotStore, key string, file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if s, ok := store.(SnapshotStreamer); ok {
		_, err := s.PutNewFrom(ctx, key, file)
		return err
	}
	body, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	_, err = store.PutNew(ctx, key, body)
	return err
}

// remove deletes a file that need not be there.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
