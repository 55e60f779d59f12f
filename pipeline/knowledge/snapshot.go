package knowledge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// SnapshotStore is the store to which bases are published. Every storage.Store implements it.
type SnapshotStore interface {
	// PutNew stores body under key unless the key exists. created reports whether it was stored.
	PutNew(ctx context.Context, key string, body []byte) (created bool, err error)
	// Put stores body under key.
	Put(ctx context.Context, key string, body []byte) error
	// Exists reports whether something is stored under key.
	Exists(ctx context.Context, key string) (bool, error)
	// Get returns a complete body or an error.
	Get(ctx context.Context, key string) ([]byte, error)
	// List returns the keys that begin with prefix.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes what is stored under key, if anything.
	Delete(ctx context.Context, key string) error
}

// A version consists of contentVersion and the shortened SHA-256 of the file. Two machines that publish the same
// documents at the same time therefore store two files, and each can be verified by its name.
var validVersion = regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-f]{32}$`)

const hashDigits = 32

// SnapshotKey returns the storage key of a published version.
func SnapshotKey(name, version string) string { return "knowledge/" + name + "/" + version + suffix }

// Publish stores the current content of the base, makes it the one that Current returns for its name, and returns its
// version for Fetch. Stored versions never change; if the store already has the same content, it is not written again.
// The base may be in use, and repeated calls are harmless.
//
// The error is ErrEmpty for a base without documents, or context.Cause(ctx), or comes from the store, SQLite or the
// file system. The directory of the base needs free space for a copy.
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
		if err != nil || info.Name == Attached {
			return err
		}
		if err := setCurrent(ctx, store, info.Name, current{version, info.Updated}); err != nil {
			return err
		}
		return b.markShared(ctx, version)
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
	if name != Attached { // attachments are purged with their run, so runs must not share them
		if version, err := published(ctx, store, name, content); version != "" || err != nil {
			return version, err
		}
	}
	if err := remove(copied); err != nil { // left by a killed process
		return "", err
	}
	defer func() { _ = remove(copied) }() // on failure, the next Publish removes the file
	if _, err := b.read.ExecContext(ctx, `VACUUM INTO ?`, copied); err != nil {
		return "", fmt.Errorf("copy it: %w", err)
	}
	if content, err = seal(ctx, copied); err != nil {
		return "", fmt.Errorf("finish the copy: %w", err)
	}
	body, err := os.ReadFile(copied)
	if err != nil {
		return "", err
	}
	version := content + "-" + hashOf(body)
	_, err = store.PutNew(ctx, SnapshotKey(name, version), body)
	return version, err
}

// hashOf returns the part of a version that verifies the file.
func hashOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])[:hashDigits]
}

// contentVersion computes the version of the current content. During an ingestion it differs from the stored version.
func (b *Base) contentVersion(ctx context.Context) (string, error) {
	tx, err := b.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	return contentVersion(ctx, tx)
}

// published returns a stored version with this content, or "" if there is none.
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

// seal makes a copy of a base self-contained and returns its content version.
func seal(ctx context.Context, path string) (version string, err error) {
	b, err := connect(path, "rw")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	// Readers must not need to write files next to the base.
	if _, err := b.write.ExecContext(ctx, `PRAGMA journal_mode = DELETE`); err != nil {
		return "", err
	}
	err = b.update(ctx, func(tx *sql.Tx) error { return writeVersion(ctx, tx, time.Now().UTC()) })
	if err != nil {
		return "", err
	}
	return b.contentVersion(ctx)
}

// remove deletes a file if it exists.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
