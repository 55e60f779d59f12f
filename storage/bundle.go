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

	"golang.org/x/sync/errgroup"
)

// ReportKey returns where the Markdown report of a run lies.
func ReportKey(runID string) string { return "reports/" + runID + ".md" }

// FormatKey returns where the report of a run lies in another form. name: its extension, such as "html".
func FormatKey(runID, name string) string { return "reports/" + runID + "." + name }

// MetadataKey returns where the facts about a report lie.
func MetadataKey(runID string) string { return "reports/" + runID + "_metadata.json" }

// CacheKey returns where a file of a run's data and evidence lies.
func CacheKey(runID, name string) string { return "cache/" + runID + "/" + name }

// PageKey returns where a text that a run has read lies. hash: lower-case hex SHA-256 of the text.
func PageKey(runID, hash string) string { return CacheKey(runID, "pages/"+hash+".txt") }

// JournalPrefix begins the keys of a run's large answers, which lie in the store until the run is published.
func JournalPrefix(runID string) string { return CacheKey(runID, "journal/") }

// ManifestKey returns where the list of a bundle's files lies. Its presence means that the bundle is whole.
func ManifestKey(runID string) string { return CacheKey(runID, "manifest.json") }

// Pages stores the texts that runs read. It serves all runs.
type Pages struct{ Store Store }

// PutPage stores one text. A text that is there already is not written again: its name is its hash.
func (p Pages) PutPage(ctx context.Context, runID, hash, text string) error {
	key := PageKey(runID, hash)
	if there, err := p.Store.Exists(ctx, key); err != nil || there {
		return err
	}
	return p.Store.Put(ctx, key, []byte(text))
}

// Page returns a text that was stored.
func (p Pages) Page(ctx context.Context, runID, hash string) (string, error) {
	body, err := p.Store.Get(ctx, PageKey(runID, hash))
	return string(body), err
}

// PutFigure stores a picture at figures/<sha256>.<ext> below the run's data.
func (p Pages) PutFigure(ctx context.Context, runID, path string, body []byte) error {
	key := CacheKey(runID, path)
	if there, err := p.Store.Exists(ctx, key); err != nil || there {
		return err
	}
	return p.Store.Put(ctx, key, body)
}

// File is one line of a manifest.
type File struct {
	Key    string `json:"key"`
	Size   int    `json:"size"` // bytes
	SHA256 string `json:"sha256"`
}

// Manifest lists every file of a bundle.
type Manifest struct {
	RunID     string    `json:"run_id"`
	CreatedAt time.Time `json:"created_at"`
	Files     []File    `json:"files"`  // by key
	SHA256    string    `json:"sha256"` // of the manifest without this field, so that a change of it shows too
}

// sum returns what Manifest.SHA256 must be.
func (m Manifest) sum() (string, error) {
	m.SHA256 = ""
	body, err := encodeJSON(m)
	return sumOf(body), err
}

// Bundle collects the files of one run and stores them together with Close. Safe for concurrent use.
type Bundle struct {
	store  Store
	runID  string
	mu     sync.Mutex
	files  map[string]File
	bodies []Artefact // that are not stored yet
}

// NewBundle returns the bundle of this run.
func NewBundle(store Store, runID string) *Bundle {
	return &Bundle{store: store, runID: runID, files: map[string]File{}}
}

// Put adds one file to the bundle, under its full key.
func (b *Bundle) Put(key string, body []byte) {
	b.remember(key, body)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bodies = append(b.bodies, Artefact{key, body})
}

// remember notes a file for the manifest.
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

// encodeJSON returns the form in which a bundle has its JSON documents.
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

// readsAtOnce is how many files Close reads at the same time: a bucket answers in tens of milliseconds.
const readsAtOnce = 8

// Staged lists the pages and figures of the run that lie in the store: what Close is to add.
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

// Close reads what Staged has listed and adds it, stores all other files, and then the manifest, which makes the bundle
// whole.
func (b *Bundle) Close(ctx context.Context, staged []string, now time.Time) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(readsAtOnce)
	for _, key := range staged {
		group.Go(func() error {
			body, err := b.store.Get(groupCtx, key)
			if err != nil {
				return err
			}
			b.remember(key, body)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := PutMany(ctx, b.store, b.bodies); err != nil {
		return err
	}
	m := Manifest{RunID: b.runID, CreatedAt: now.UTC(), Files: b.list()}
	var err error
	if m.SHA256, err = m.sum(); err != nil {
		return fmt.Errorf("encode the manifest of run %s: %w", b.runID, err)
	}
	manifest, err := encodeJSON(m)
	if err != nil {
		return fmt.Errorf("encode the manifest of run %s: %w", b.runID, err)
	}
	return b.store.Put(ctx, ManifestKey(b.runID), manifest)
}

// list returns the files by key, never nil.
func (b *Bundle) list() []File {
	b.mu.Lock()
	defer b.mu.Unlock()
	files := slices.AppendSeq(make([]File, 0, len(b.files)), maps.Values(b.files))
	slices.SortFunc(files, func(x, y File) int { return cmp.Compare(x.Key, y.Key) })
	return files
}
