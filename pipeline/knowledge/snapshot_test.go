package knowledge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/storage"
)

var _ knowledge.SnapshotStore = storage.Store(nil)

// memory is a store that counts.
type memory struct {
	mu      sync.Mutex
	bodies  map[string][]byte
	written int
	read    int
	damage  func(key string, body []byte) []byte // of what is read; nil = none
}

func newMemory() *memory { return &memory{bodies: map[string][]byte{}} }

func (m *memory) PutNew(_ context.Context, key string, body []byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.bodies[key]; ok {
		return false, nil
	}
	m.written++
	m.bodies[key] = bytes.Clone(body)
	return true, nil
}

func (m *memory) Put(_ context.Context, key string, body []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies[key] = bytes.Clone(body)
	return nil
}

func (m *memory) Exists(_ context.Context, key string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ok := m.bodies[key]
	return ok, nil
}

func (m *memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.bodies, key)
	return nil
}

func (m *memory) Get(ctx context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, ok := m.bodies[key]
	if !ok {
		return nil, storage.ErrNotExist
	}
	m.read++
	if m.damage != nil {
		body = m.damage(key, bytes.Clone(body))
	}
	return body, ctx.Err()
}

func (m *memory) List(_ context.Context, prefix string) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for key := range m.bodies {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// published returns a base called docs with vectors, and the version that it was published as.
func published(t *testing.T, store knowledge.SnapshotStore) (b *knowledge.Base, version string) {
	t.Helper()
	b, err := knowledge.Create(filepath.Join(t.TempDir(), "docs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	dir := t.TempDir()
	garage.write(t, dir)
	if _, err := b.Ingest(t.Context(), []string{dir}, nil); err != nil {
		t.Fatal(err)
	}
	withModel(t, b, &llmtest.Embeddings{}, "m")
	embed(t, b)
	return b, publish(t, b, store)
}

func publish(t *testing.T, b *knowledge.Base, store knowledge.SnapshotStore) string {
	t.Helper()
	version, err := knowledge.Publish(t.Context(), b, store)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func fetch(t *testing.T, store knowledge.SnapshotStore, dir, version string) string {
	t.Helper()
	path, err := knowledge.Fetch(t.Context(), store, dir, "docs", version)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// onlySnapshots fails the test when a directory holds something that is left over.
func onlySnapshots(t *testing.T, dir string, want int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		switch {
		case strings.HasSuffix(e.Name(), ".lock"):
		case strings.HasPrefix(e.Name(), "docs@"):
			n++
		default:
			t.Errorf("%s is left in %s", e.Name(), dir)
		}
	}
	if n != want {
		t.Errorf("%d versions in %s, want %d", n, dir, want)
	}
}

func TestSnapshot(t *testing.T) {
	t.Parallel()
	disk := storage.NewDir(t.TempDir())
	for name, store := range map[string]knowledge.SnapshotStore{"memory": newMemory(), "directory": disk} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, version := published(t, store)
			dir := filepath.Join(t.TempDir(), "made", "on", "the", "way")
			path := fetch(t, store, dir, version)
			got, err := knowledge.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer got.Close()
			withModel(t, got, &llmtest.Embeddings{}, "m")
			want, err := b.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if info, err := got.Info(t.Context()); err != nil || info != want || info.Name != "docs" || !strings.HasPrefix(version, info.Version) {
				t.Errorf("got %+v, %v, want %+v", info, err, want)
			}
			query := "Where do cars with damaged engines go?"
			if a, ours := find(t, got, query, knowledge.Hybrid), find(t, b, query, knowledge.Hybrid); !a.Vectors || fmt.Sprint(a) != fmt.Sprint(ours) {
				t.Errorf("the copy answers %+v, the base %+v", a, ours)
			}
			onlySnapshots(t, dir, 1) // also while it is open: a reader writes nothing beside it
			if names, err := knowledge.List(dir); err != nil || len(names) != 0 {
				t.Errorf("versions are listed as bases: %q, %v", names, err)
			}
		})
	}
}

// The same content is stored once, whatever happened to the file in between; other content is another version, and
// what was published stays.
func TestPublishAgain(t *testing.T) {
	t.Parallel()
	store := newMemory()
	b, first := published(t, store)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error {
			version, err := knowledge.Publish(t.Context(), b, store)
			if err == nil && version != first {
				err = fmt.Errorf("version %s, before it was %s", version, first)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil || store.written != 1 {
		t.Fatalf("%v, %d written", err, store.written)
	}
	before := bytes.Clone(store.bodies[knowledge.SnapshotKey("docs", first)])
	dir := t.TempDir()
	files{"other.md": "Something else."}.write(t, dir)
	if _, err := b.Ingest(t.Context(), []string{dir}, nil); err != nil {
		t.Fatal(err)
	}
	words := publish(t, b, store)
	embed(t, b)
	vectors := publish(t, b, store)
	if words == first || vectors == first || words == vectors || store.written != 3 {
		t.Errorf("versions %s, %s, %s; %d written", first, words, vectors, store.written)
	}
	if !bytes.Equal(before, store.bodies[knowledge.SnapshotKey("docs", first)]) {
		t.Error("what was published has changed")
	}
}

func TestPublishEmpty(t *testing.T) {
	t.Parallel()
	if _, err := knowledge.Publish(t.Context(), create(t), newMemory()); !errors.Is(err, knowledge.ErrEmpty) {
		t.Error(err)
	}
}

func TestFetchDamaged(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func([]byte) []byte{
		"a bit":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"cut":     func(b []byte) []byte { return b[:len(b)-1] },
		"nothing": func([]byte) []byte { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := newMemory()
			_, version := published(t, store)
			dir := t.TempDir()
			store.damage = func(_ string, b []byte) []byte { return damage(b) }
			_, err := knowledge.Fetch(t.Context(), store, dir, "docs", version)
			if err == nil || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), knowledge.SnapshotKey("docs", version)) || store.read != 1 {
				t.Errorf("%v after %d transfers", err, store.read)
			}
			onlySnapshots(t, dir, 0)
			store.damage = nil
			fetch(t, store, dir, version) // the next transfer is whole
			onlySnapshots(t, dir, 1)
		})
	}
}

func TestFetchErrors(t *testing.T) {
	t.Parallel()
	store := newMemory()
	_, version := published(t, store)
	dir := t.TempDir()
	missing := strings.Repeat("0", 16) + "-" + strings.Repeat("0", 32)
	if _, err := knowledge.Fetch(t.Context(), store, dir, "docs", missing); !errors.Is(err, storage.ErrNotExist) {
		t.Error(err)
	}
	for _, wrong := range [][2]string{{"docs", ""}, {"docs", "../../etc/passwd"}, {"../docs", version}, {"docs", strings.ToUpper(version)}, {"", version}} {
		if _, err := knowledge.Fetch(t.Context(), store, dir, wrong[0], wrong[1]); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the desk closes")
	cancel(why)
	if _, err := knowledge.Fetch(ctx, store, dir, "docs", version); !errors.Is(err, why) {
		t.Error(err)
	}
	onlySnapshots(t, dir, 0)
}

// However many ask at the same time, one transfers. What a killed process has left is no obstacle.
func TestFetchOnce(t *testing.T) {
	t.Parallel()
	store := newMemory()
	_, version := published(t, store)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".docs.fetch"), []byte("half"), 0o444); err != nil {
		t.Fatal(err)
	}
	var group errgroup.Group
	for range 16 {
		group.Go(func() error {
			_, err := knowledge.Fetch(t.Context(), store, dir, "docs", version)
			return err
		})
	}
	if err := group.Wait(); err != nil || store.read != 1 {
		t.Errorf("%v; %d transfers", err, store.read)
	}
	onlySnapshots(t, dir, 1)
}

const processEnv = "KNOWLEDGE_TEST_FETCH" // store, directory and version of a process that fetches

// TestFetchProcess is what the processes of TestFetchProcesses run.
func TestFetchProcess(t *testing.T) {
	if os.Getenv(processEnv) == "" {
		t.Skip("run by TestFetchProcesses")
	}
	args := strings.Split(os.Getenv(processEnv), "\n")
	store := storage.NewDir(args[0])
	gone := func(err error) bool { // another process was faster to remove it
		return errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "unable to open")
	}
	for range 20 { // each removes what is there, so that all have something to do
		path := fetch(t, store, args[1], args[2])
		b, err := knowledge.Open(path)
		if err != nil {
			if gone(err) {
				continue
			}
			t.Fatal(err)
		}
		if _, err := b.Info(t.Context()); err != nil && !gone(err) {
			t.Error(err)
		}
		if err := errors.Join(b.Close(), os.Remove(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	fetch(t, store, args[1], args[2])
}

func TestFetchProcesses(t *testing.T) {
	t.Parallel()
	at, dir := t.TempDir(), t.TempDir()
	store := storage.NewDir(at)
	_, version := published(t, store)
	var group errgroup.Group
	for range 3 {
		group.Go(func() error {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFetchProcess$", "-test.count=1")
			cmd.Env = append(os.Environ(), processEnv+"="+strings.Join([]string{at, dir, version}, "\n"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	onlySnapshots(t, dir, 1)
}

// Old versions make room, but not those that are in use.
func TestFetchDiscards(t *testing.T) {
	t.Parallel()
	store := newMemory()
	b, version := published(t, store)
	dir, docs := t.TempDir(), t.TempDir()
	old := time.Now().Add(-48 * time.Hour)
	versions := []string{version}
	for i := range 5 {
		path := fetch(t, store, dir, versions[i])
		if err := os.Chtimes(path, old, old.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
		files{"n.md": fmt.Sprint("Number ", i)}.write(t, docs)
		if _, err := b.Ingest(t.Context(), []string{docs}, nil); err != nil {
			t.Fatal(err)
		}
		versions = append(versions, publish(t, b, store))
	}
	// The fourth fetch finds all others old and leaves two of them, and so on.
	onlySnapshots(t, dir, 3)
	fetch(t, store, dir, versions[2]) // in use again
	fetch(t, store, dir, versions[5])
	for i, want := range []bool{false, false, true, false, true, true} {
		_, err := os.Stat(filepath.Join(dir, "docs@"+versions[i]+".sqlite"))
		if (err == nil) != want {
			t.Errorf("version %d is there: %v, want %v", i, err == nil, want)
		}
	}
	fetch(t, store, dir, versions[0]) // what was removed is fetched again
}

// A base whose file has gone is not made again, empty, by those who still have it open.
func TestRemovedIsNotMadeAgain(t *testing.T) {
	t.Parallel()
	store := newMemory()
	_, version := published(t, store)
	dir := t.TempDir()
	path := fetch(t, store, dir, version)
	b, err := knowledge.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			_, _ = b.Search(t.Context(), "gate", 3, knowledge.Hybrid) // it may fail or not
			return nil
		})
	}
	_ = group.Wait() // the functions return no errors
	onlySnapshots(t, dir, 0)
	if again := fetch(t, store, dir, version); again != path {
		t.Errorf("fetched to %s", again)
	}
}
