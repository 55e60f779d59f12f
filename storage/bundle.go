package storage

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// ReportKey returns the key of a run's Markdown report.
func ReportKey(runID string) string { return "reports/" + runID + ".md" }

// FormatKey returns the key of a run's report in another format. name: the file extension, such as "html".
func FormatKey(runID, name string) string { return "reports/" + runID + "." + name }

// MetadataKey returns the key of a report's metadata.
func MetadataKey(runID string) string { return "reports/" + runID + "_metadata.json" }

// CacheKey returns the key of a file with a run's data or evidence.
func CacheKey(runID, name string) string { return "cache/" + runID + "/" + name }

// PageKey returns the key of a text that a run has read. hash: lower-case hex SHA-256 of the text.
func PageKey(runID, hash string) string { return CacheKey(runID, "pages/"+hash+".txt") }

// JournalPrefix returns the key prefix of a run's large answers, which are stored until the run is published.
func JournalPrefix(runID string) string { return CacheKey(runID, "journal/") }

// ManifestKey returns the key of a bundle's file list. The manifest exists only if the bundle is complete.
func ManifestKey(runID string) string { return CacheKey(runID, "manifest.json") }

// Pages stores the texts that runs read. One Pages serves all runs.
type Pages struct{ Store Store }

// PutPage stores one text.
func (p Pages) PutPage(ctx context.Context, runID, hash, text string) error {
	return p.put(ctx, PageKey(runID, hash), []byte(text))
}

// put stores a file whose key contains the hash of its content, so an existing one is not written again.
func (p Pages) put(ctx context.Context, key string, body []byte) error {
	if there, err := p.Store.Exists(ctx, key); err != nil || there {
		return err
	}
	return p.Store.Put(ctx, key, body)
}

// Page returns a stored text.
func (p Pages) Page(ctx context.Context, runID, hash string) (string, error) {
	body, err := p.Store.Get(ctx, PageKey(runID, hash))
	return string(body), err
}

// PutFigure stores a picture at figures/<sha256>.<ext> under the run's cache prefix.
func (p Pages) PutFigure(ctx context.Context, runID, path string, body []byte) error {
	return p.put(ctx, CacheKey(runID, path), body)
}

// File is one entry of a manifest.
type File struct {
	Key    string `json:"key"`
	Size   int    `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Manifest lists every file of a bundle.
type Manifest struct {
	RunID     string    `json:"run_id"`
	CreatedAt time.Time `json:"created_at"`
	Files     []File    `json:"files"`  // sorted by key
	SHA256    string    `json:"sha256"` // of the manifest without this field; detects changes to the manifest itself
}

// sum returns the expected value of Manifest.SHA256.
func (m Manifest) sum() (string, error) {
	m.SHA256 = ""
	body, err := encodeJSON(m)
	return sumOf(body), err
}

// Bundle collects the files of one run and stores them together in Close. Safe for concurrent use.
type Bundle struct {
	store  Store
	runID  string
	mu     sync.Mutex
	files  map[string]File
	bodies []Artefact // not stored yet
}

// NewBundle returns an empty bundle for the given run.
func NewBundle(store Store, runID string) *Bundle {
	return &Bundle{store: store, runID: runID, files: map[string]File{}}
}

// Put adds one file under its full key.
func (b *Bundle) Put(key string, body []byte) {
	b.remember(key, body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bodies = append(b.bodies, Artefact{key, body})
}

// remember records a file for the manifest.
func (b *Bundle) remember(key string, body []byte) {
	f := File{Key: key, Size: len(body), SHA256: sumOf(body)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.files[key] = f
}

// PutJSON adds a value as indented JSON.
func (b *Bundle) PutJSON(key string, value any) error {
	body, err := encodeJSON(value)
	if err != nil {
		return fmt.Errorf("encode %s: %w", key, err)
	}
	b.Put(key, body)
	return nil
}

// encodeJSON encodes value the way bundles store JSON documents: indented, without HTML escaping.
func encodeJSON(value any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(value)
	return buf.Bytes(), err
}

// PutLines adds values as JSON Lines.
func PutLines[T any](b *Bundle, key string, values []T) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	for _, v := range values {
		if err := enc.Encode(v); err != nil {
			return fmt.Errorf("encode %s: %w", key, err)
		}
	}
	b.Put(key, buf.Bytes())
	return nil
}

// Staged lists the keys of the run's pages and figures that are already in the store, for Close.
func (b *Bundle) Staged(ctx context.Context) ([]string, error) {
	var staged []string
	for _, dir := range []string{"pages/", "figures/"} {
		keys, err := b.store.List(ctx, CacheKey(b.runID, dir))
		if err != nil {
			return nil, err
		}
		staged = append(staged, keys...)
	}
	return staged, nil
}

// Close reads the staged files into the manifest, stores all other files, and stores the manifest last. The manifest
// marks the bundle as complete.
func (b *Bundle) Close(ctx context.Context, staged []string, now time.Time) error {
	err := Each(ctx, len(staged), func(ctx context.Context, i int) error {
		body, err := b.store.Get(ctx, staged[i])
		if err == nil {
			b.remember(staged[i], body)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := PutMany(ctx, b.store, b.bodies); err != nil {
		return err
	}
	m := Manifest{RunID: b.runID, CreatedAt: now.UTC(), Files: b.list()}
	if m.SHA256, err = m.sum(); err != nil {
		return fmt.Errorf("encode the manifest of run %s: %w", b.runID, err)
	}
	manifest, err := encodeJSON(m)
	if err != nil {
		return fmt.Errorf("encode the manifest of run %s: %w", b.runID, err)
	}
	return b.store.Put(ctx, ManifestKey(b.runID), manifest)
}

// list returns the files sorted by key, never nil.
func (b *Bundle) list() []File {
	b.mu.Lock()
	defer b.mu.Unlock()
	files := slices.AppendSeq(make([]File, 0, len(b.files)), maps.Values(b.files))
	slices.SortFunc(files, func(x, y File) int { return cmp.Compare(x.Key, y.Key) })
	return files
}
