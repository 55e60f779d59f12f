package knowledge_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"nightdesk/pipeline/knowledge"
	"nightdesk/storage"
)

// machine has knowledge bases in a directory of its own.
type machine struct {
	*testing.T
	dir   string
	docs  string
	store storage.Store
}

func (m machine) path() string { return filepath.Join(m.dir, "docs.sqlite") }

// update brings the base to what was published last, and returns the texts that it then has.
func (m machine) update(fetched bool) (keys []string) {
	m.Helper()
	got, err := knowledge.Update(m.Context(), m.store, m.dir, "docs")
	if err != nil || got != fetched {
		m.Fatalf("fetched %v, %v; want %v", got, err, fetched)
	}
	b, err := knowledge.Open(m.path())
	if err != nil {
		m.Fatal(err)
	}
	defer b.Close()
	all, err := b.Documents(m.Context())
	if err != nil {
		m.Fatal(err)
	}
	for _, d := range all {
		keys = append(keys, d.Key)
	}
	return keys
}

// add ingests a text into the base and returns it.
func (m machine) add(name, text string) *knowledge.Base {
	m.Helper()
	b, err := knowledge.Create(m.path())
	if err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { _ = b.Close() })
	files{name: text}.write(m.T, m.docs)
	if _, err := b.Ingest(m.Context(), []string{m.docs}, nil); err != nil {
		m.Fatal(err)
	}
	return b
}

func (m machine) publish(b *knowledge.Base) {
	m.Helper()
	if _, err := knowledge.Publish(m.Context(), b, m.store); err != nil {
		m.Fatal(err)
	}
}

// A name means the same on two machines: what one publishes, the other has.
func TestUpdate(t *testing.T) {
	t.Parallel()
	store := storage.NewDir(t.TempDir())
	docs := t.TempDir()
	a, b := machine{t, t.TempDir(), docs, store}, machine{t, t.TempDir(), docs, store}
	a.publish(a.add("one.md", "The first document."))
	if keys := b.update(true); len(keys) != 1 || keys[0] != "one.md" {
		t.Errorf("%q", keys)
	}
	b.update(false)
	a.update(false)
	unpublished := b.add("two.md", "The second document.")
	if keys := b.update(false); len(keys) != 2 { // it stays until it is published
		t.Errorf("%q", keys)
	}
	b.publish(unpublished)
	if keys := a.update(true); len(keys) != 2 {
		t.Errorf("%q", keys)
	}
	names, err := knowledge.Published(t.Context(), store)
	if err != nil || len(names) != 1 || names[0] != "docs" {
		t.Errorf("%q, %v", names, err)
	}
	if err := knowledge.Withdraw(t.Context(), store, "docs"); err != nil {
		t.Error(err)
	}
	if names, err = knowledge.Published(t.Context(), store); err != nil || len(names) != 0 {
		t.Errorf("%q, %v", names, err)
	}
}

// A file that was destroyed is found and fetched again; without a published version it is named.
func TestUpdate_Damaged(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(body []byte) []byte{
		"no database": func([]byte) []byte { return []byte("<html>not a database at all, but long enough to look</html>") },
		"cut":         func(body []byte) []byte { return body[:len(body)/2] },
		"overwritten": func(body []byte) []byte {
			for i := 8192; i < len(body)-4096; i++ {
				body[i] = 'x'
			}
			return body
		},
		"empty": func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := machine{t, t.TempDir(), t.TempDir(), storage.NewDir(t.TempDir())}
			b := m.add("one.md", "The first document.")
			m.publish(b)
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			body, err := os.ReadFile(m.path())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(m.path(), damage(body), 0o600); err != nil {
				t.Fatal(err)
			}
			alone := machine{t, m.dir, m.docs, storage.NewDir(t.TempDir())}
			if _, err := knowledge.Update(t.Context(), alone.store, alone.dir, "docs"); !errors.Is(err, knowledge.ErrDamaged) {
				t.Errorf("without a published version: %v", err)
			}
			if keys := m.update(true); len(keys) != 1 {
				t.Errorf("%q", keys)
			}
			m.update(false)
		})
	}
}
