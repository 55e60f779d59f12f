package knowledge_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue"
	"nightdesk/topicqueue/scaletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files maps slash paths to contents.
type files map[string]string

func (f files) write(t testing.TB, dir string) {
	t.Helper()
	for name, content := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func create(t testing.TB) *knowledge.Base {
	t.Helper()
	b, err := knowledge.Create(filepath.Join(t.TempDir(), "base.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// ingested returns a base with these documents.
func ingested(t testing.TB, f files) *knowledge.Base {
	t.Helper()
	b, dir := create(t), t.TempDir()
	f.write(t, dir)
	if _, err := b.Ingest(t.Context(), []string{dir}, nil); err != nil {
		t.Fatal(err)
	}
	return b
}

func keys(t testing.TB, b *knowledge.Base) []string {
	t.Helper()
	docs, err := b.Documents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, d := range docs {
		out = append(out, d.Key)
	}
	return out
}

func TestIngestIsIncremental(t *testing.T) {
	t.Parallel()
	b, dir := create(t), t.TempDir()
	later := time.Now().Add(time.Hour)
	versions := map[string]bool{}
	for _, step := range []struct {
		name   string
		change func()
		want   knowledge.Report
		finds  string // a word that is found afterwards
		misses string // and one that is not
		same   bool   // the version stays
	}{
		{"first", func() {
			files{"a.md": "# A\n\nThe walrus sleeps.", "sub/b.txt": "The heron fishes.", "c.html": "<p>The otter swims.</p>"}.write(t, dir)
		}, knowledge.Report{Added: 3}, "walrus", "badger", false},
		{"nothing changed", func() {}, knowledge.Report{Unchanged: 3}, "heron", "badger", true},
		{"touched", func() {
			if err := os.Chtimes(filepath.Join(dir, "a.md"), later, later); err != nil {
				t.Fatal(err)
			}
		}, knowledge.Report{Unchanged: 3}, "walrus", "badger", true},
		{"changed", func() { files{"a.md": "# A\n\nThe badger digs."}.write(t, dir) },
			knowledge.Report{Updated: 1, Unchanged: 2}, "badger", "walrus", false},
		{"removed and added", func() {
			if err := os.Remove(filepath.Join(dir, "c.html")); err != nil {
				t.Fatal(err)
			}
			files{"d.md": "The lynx waits."}.write(t, dir)
		}, knowledge.Report{Added: 1, Unchanged: 2, Removed: 1}, "lynx", "otter", false},
		{"became binary", func() { files{"d.md": "\x00\x01"}.write(t, dir) },
			knowledge.Report{Unchanged: 2, Removed: 1, Skipped: []knowledge.Skipped{{Document: "d.md", Reason: "binary content"}}}, "heron", "lynx", false},
		{"renamed", func() {
			if err := os.Rename(filepath.Join(dir, "a.md"), filepath.Join(dir, "z.md")); err != nil {
				t.Fatal(err)
			}
		}, knowledge.Report{Added: 1, Unchanged: 1, Removed: 1,
			Skipped: []knowledge.Skipped{{Document: "d.md", Reason: "binary content"}}}, "badger", "walrus", false},
	} {
		step.change()
		before, err := b.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		report, err := b.Ingest(t.Context(), []string{dir}, nil)
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, report, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: -want +got:\n%s", step.name, diff)
		}
		if step.finds != "" && len(search(t, b, step.finds)) != 1 {
			t.Errorf("%s: %q is not found", step.name, step.finds)
		}
		if len(search(t, b, step.misses)) != 0 {
			t.Errorf("%s: %q is found", step.name, step.misses)
		}
		after, err := b.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if (before.Version == after.Version) != step.same {
			t.Errorf("%s: version %s became %s", step.name, before.Version, after.Version)
		}
		if !step.same && versions[after.Version] {
			t.Errorf("%s: version %s was there before", step.name, after.Version)
		}
		versions[after.Version] = true
		checkBase(t, b)
	}
}

func search(t testing.TB, b *knowledge.Base, query string) []knowledge.Passage {
	t.Helper()
	found, err := b.Search(t.Context(), query, 10, knowledge.Hybrid)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// checkBase asserts that every passage is the slice of its document's text that it says it is.
func checkBase(t testing.TB, b *knowledge.Base) {
	t.Helper()
	for _, key := range keys(t, b) {
		text, err := b.Text(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		found, err := b.Search(t.Context(), text[:min(len(text), 2000)], 200, knowledge.Naive)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			if p.Document != key {
				continue
			}
			if end := p.Offset + len(p.Text); end > len(text) || text[p.Offset:end] != p.Text {
				t.Errorf("%s: passage at %d is not in the text", key, p.Offset)
			}
		}
	}
}

// A passage knows the file that it is from, also when the folder was moved and its documents are what they were.
func TestFileOfAPassage(t *testing.T) {
	t.Parallel()
	b, dir := create(t), filepath.Join(t.TempDir(), "old")
	files{"tides.md": "# Tides\n\nSpring tides follow the new moon.\n", "gone.md": "# Gone\n\nNeap tides follow the half moon.\n"}.write(t, dir)
	for _, moved := range []string{dir, filepath.Join(filepath.Dir(dir), "new")} {
		if moved != dir {
			if err := errors.Join(os.Rename(dir, moved), os.Remove(filepath.Join(moved, "gone.md"))); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Ingest(t.Context(), []string{moved}, nil); err != nil {
			t.Fatal(err)
		}
		found, err := b.Search(t.Context(), "spring tides", 1, knowledge.Naive)
		if want := filepath.Join(moved, "tides.md"); err != nil || len(found) != 1 || found[0].File != want || found[0].Source(time.Now()).File != want {
			t.Errorf("found %+v, %v; want it from %s", found, err, want)
		}
	}
}

// Passages, sources and the list of documents name who wrote and published a document and when, as it says; a document
// that was changed or removed leaves no byline behind, and a base of a version before bylines has none.
func TestByline(t *testing.T) {
	t.Parallel()
	b, dir := create(t), t.TempDir()
	ask := func() (topicqueue.Source, knowledge.Document) {
		if _, err := b.Ingest(t.Context(), []string{dir}, nil); err != nil {
			t.Fatal(err)
		}
		found, err := b.Search(t.Context(), "spring tides", 1, knowledge.Hybrid)
		documents, err2 := b.Documents(t.Context())
		if err := errors.Join(err, err2); err != nil || len(found) != 1 || len(documents) != 1 {
			t.Fatal(found, documents, err)
		}
		return found[0].Source(time.Now()), documents[0]
	}
	const text = "# Tides\n\nSpring tides follow the new moon.\n"
	const front = "---\nauthors: [Ane Holt, P. Dietz]\npublisher: Harbour Authority\ndate: May 2024\n---\n"
	files{"a.md": front + text}.write(t, dir)
	const want = "Ane Holt, P. Dietz, Harbour Authority, 2024-05"
	if s, d := ask(); s.Label() != want || d.By()+", "+d.Date != want {
		t.Errorf("source %q, document %+v, want %q", s.Label(), d, want)
	}
	files{"a.md": text}.write(t, dir)
	if s, d := ask(); s.Label() != "" || d.By() != "" {
		t.Errorf("source %q, document %+v, want no byline", s.Label(), d)
	}
}

func TestVersionDependsOnContentOnly(t *testing.T) {
	t.Parallel()
	f := files{"a.md": "One.", "b/c.md": "Two."}
	one, two := ingested(t, f), create(t)
	dir := t.TempDir()
	files{"b/c.md": "Two.", "x.md": "gone soon"}.write(t, dir)
	for range 2 {
		if _, err := two.Ingest(t.Context(), []string{dir}, nil); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "x.md")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		f.write(t, dir)
	}
	a, err := one.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := two.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if a.Version != b.Version || len(a.Version) != 16 {
		t.Errorf("versions %q and %q", a.Version, b.Version)
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	files{
		"docs/z.md": "z", "docs/a.md": "a", "docs/.hidden.md": "x", "docs/.git/x.md": "x", "docs/node_modules/p/README.md": "x",
		"docs/style.css": "x", "docs/data.bin": "x", "docs/big.txt": strings.Repeat("a ", 11<<20), "docs/empty.md": "",
		"docs/latin.txt": "\xeb\xc1\xc6\xc5", "docs/site/searchindex.js": "", "docs/site/_static/x.html": "x", "docs/site/p.html": "p",
		"other/docs/a.md": "another", "single.md": "single",
	}.write(t, dir)
	files{"secret.md": "secret"}.write(t, outside)
	links := []error{
		os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "docs", "link.md")),
		os.Symlink(outside, filepath.Join(dir, "docs", "linked")),
		os.Symlink(filepath.Join(dir, "docs", "a.md"), filepath.Join(dir, "docs", "again.md")),
		os.Symlink(filepath.Join(dir, "docs"), filepath.Join(dir, "docs", "loop")),
		os.Symlink(filepath.Join(dir, "docs"), filepath.Join(dir, "root")),
	}
	if err := errors.Join(links...); err != nil {
		t.Fatal(err)
	}
	skipped := []string{"big.txt", "data.bin", "latin.txt", "link.md", "linked"} // empty.md is not worth a word
	for _, tc := range []struct {
		name    string
		roots   []string
		want    []string
		skipped []string
	}{
		{"directory", []string{"docs"}, []string{"a.md", "site/p.html", "z.md"}, skipped},
		{"link as root", []string{"root"}, []string{"a.md", "site/p.html", "z.md"}, skipped},
		{"file", []string{"single.md"}, []string{"single.md"}, nil},
		{"several roots", []string{"other/docs", "single.md"}, []string{"docs/a.md", "single.md"}, nil},
		{"equal names", []string{"other/docs", "docs/site", "docs/a.md", "other/docs/a.md"}, []string{"a.md", "docs/a.md", "site/p.html"}, nil},
		{"roots that overlap", []string{"docs/site", "docs/site/p.html"}, []string{"site/p.html"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := create(t)
			var roots []string
			for _, r := range tc.roots {
				roots = append(roots, filepath.Join(dir, filepath.FromSlash(r)))
			}
			calls, last := 0, 0
			report, err := b.Ingest(t.Context(), roots, func(done, total int, name string) {
				if calls++; done != calls || done > total || name == "" {
					t.Errorf("progress %d of %d %q at call %d", done, total, name, calls)
				}
				last = total
			})
			if err != nil {
				t.Fatal(err)
			}
			if calls != last {
				t.Errorf("progress ended at %d of %d", calls, last)
			}
			if diff := cmp.Diff(tc.want, keys(t, b)); diff != "" {
				t.Errorf("documents -want +got:\n%s", diff)
			}
			var got []string
			for _, s := range report.Skipped {
				if s.Reason == "" {
					t.Errorf("%s is skipped without a reason", s.Document)
				}
				got = append(got, s.Document)
			}
			if diff := cmp.Diff(tc.skipped, got); diff != "" {
				t.Errorf("skipped -want +got:\n%s", diff)
			}
			if stubs := min(1, len(tc.skipped)); report.Empty != stubs {
				t.Errorf("%d empty files, want %d", report.Empty, stubs)
			}
		})
	}
}

func TestIngestErrors(t *testing.T) {
	t.Parallel()
	f := files{"a.md": "The walrus sleeps."}
	t.Run("no document", func(t *testing.T) {
		t.Parallel()
		b, dir := ingested(t, f), t.TempDir()
		files{"x.bin": "x"}.write(t, dir)
		if _, err := b.Ingest(t.Context(), []string{dir}, nil); !errors.Is(err, knowledge.ErrEmpty) || !strings.Contains(err.Error(), dir) {
			t.Errorf("got %v", err)
		}
		if len(search(t, b, "walrus")) != 1 {
			t.Error("the base was emptied")
		}
	})
	t.Run("no root", func(t *testing.T) {
		t.Parallel()
		b := ingested(t, f)
		if _, err := b.Ingest(t.Context(), []string{filepath.Join(t.TempDir(), "none")}, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
		if _, err := b.Ingest(t.Context(), nil, nil); err == nil {
			t.Error("no roots: no error")
		}
		if len(search(t, b, "walrus")) != 1 {
			t.Error("the base was emptied")
		}
	})
	t.Run("unreadable", func(t *testing.T) {
		t.Parallel()
		if os.Geteuid() == 0 {
			t.Skip("everything is readable for root")
		}
		b, dir := create(t), t.TempDir()
		files{"a.md": "The walrus sleeps.", "b.md": "The heron fishes.", "d/c.md": "The lynx waits."}.write(t, dir)
		if _, err := b.Ingest(t.Context(), []string{dir}, nil); err != nil {
			t.Fatal(err)
		}
		files{"b.md": "The heron flies away."}.write(t, dir)
		if err := errors.Join(os.Chmod(filepath.Join(dir, "b.md"), 0), os.Chmod(filepath.Join(dir, "d"), 0)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "d"), 0o755) })
		report, err := b.Ingest(t.Context(), []string{dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(report.Skipped) != 2 || report.Removed != 0 || len(keys(t, b)) != 3 {
			t.Errorf("%+v, documents %v", report, keys(t, b))
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		b, dir := create(t), t.TempDir()
		f := files{}
		for i := range 300 {
			f[fmt.Sprintf("%03d.md", i)] = fmt.Sprintf("Animal number %d sleeps.", i)
		}
		f.write(t, dir)
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the desk closes")
		_, err := b.Ingest(ctx, []string{dir}, func(done, _ int, _ string) {
			if done == 100 {
				cancel(why)
			}
		})
		if !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
		if n := len(keys(t, b)); n < 64 || n == 300 {
			t.Errorf("%d documents are committed", n)
		}
		checkBase(t, b)
		report, err := b.Ingest(t.Context(), []string{dir}, nil)
		if err != nil || report.Added == 300 || report.Added+report.Unchanged != 300 {
			t.Errorf("%+v, %v", report, err)
		}
	})
}

// Two programs ingest the same base while a third searches it.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	documents := scaletest.Of(50, 200)
	dir, path := t.TempDir(), filepath.Join(t.TempDir(), "deep", "base.sqlite")
	f := files{}
	for i := range documents {
		f[fmt.Sprintf("%03d.md", i)] = fmt.Sprintf("# Page %d\n\nAnimal number %d sleeps in the reeds.\n", i, i)
	}
	f.write(t, dir)
	var group errgroup.Group
	reports := make([]knowledge.Report, 2)
	for i := range reports {
		group.Go(func() error {
			b, err := knowledge.Create(path)
			if err != nil {
				return err
			}
			defer b.Close()
			reports[i], err = b.Ingest(t.Context(), []string{dir}, nil)
			return err
		})
	}
	for range 3 {
		group.Go(func() error {
			b, err := knowledge.Create(path)
			if err != nil {
				return err
			}
			defer b.Close()
			for range 20 {
				found, err := b.Search(t.Context(), "animal in the reeds", 5, knowledge.Hybrid)
				if err != nil {
					return err
				}
				for _, p := range found {
					if !strings.Contains(p.Text, "Animal") {
						return fmt.Errorf("found %q", p.Text)
					}
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	added := reports[0].Added + reports[1].Added
	if added != documents || reports[0].Unchanged+reports[1].Unchanged != documents {
		t.Errorf("%+v", reports)
	}
	b, err := knowledge.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if n := len(keys(t, b)); n != documents {
		t.Errorf("%d documents", n)
	}
	checkBase(t, b)
}

func TestOpenAndNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := knowledge.Open(filepath.Join(dir, "none.sqlite")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	files{"text.sqlite": strings.Repeat("not a database", 100), "blank.sqlite": ""}.write(t, dir)
	for _, name := range []string{"text", "blank"} {
		path, err := knowledge.Path(dir, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := knowledge.Open(path); !errors.Is(err, knowledge.ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"", ".", "..", "../x", "a/b", `a\b`, "-x", "é", strings.Repeat("a", 101)} {
		if _, err := knowledge.Path(dir, bad); err == nil {
			t.Errorf("name %q passes", bad)
		}
	}
	for _, path := range []string{"/srv/My Docs (2024)", "/srv/docs", "/other/docs", "/", "/srv/文档", "/srv/" + strings.Repeat("x", 300)} {
		name := knowledge.Name(path)
		if err := knowledge.CheckName(name); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if name != knowledge.Name(path+"/") {
			t.Errorf("%s: the name depends on the last slash", path)
		}
	}
	if knowledge.Name("/srv/docs") == knowledge.Name("/other/docs") {
		t.Error("two directories share a name")
	}
	b, err := knowledge.Create(filepath.Join(dir, "real.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := knowledge.List(dir)
	if err != nil || !slices.Equal(names, []string{"blank", "real", "text"}) {
		t.Errorf("%v, %v", names, err)
	}
	if err := knowledge.Remove(dir, "real"); err != nil {
		t.Error(err)
	}
	if err := knowledge.Remove(dir, "real"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removed twice: %v", err)
	}
	if names, err := knowledge.List(filepath.Join(dir, "none")); len(names) != 0 || err != nil {
		t.Errorf("%v, %v", names, err)
	}
}

// A base that was made by other rules of extraction is brought up to date by the next ingestion.
func TestIngestAfterOtherExtraction(t *testing.T) {
	t.Parallel()
	path, dir := filepath.Join(t.TempDir(), "old.sqlite"), t.TempDir()
	files{"a.md": "# Tides\n\nSpring tides are strong.\n", "b.md": "# Wind\n\nWind is air.\n"}.write(t, dir)
	base, err := knowledge.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	for _, want := range []knowledge.Report{{Added: 2}, {Unchanged: 2}, {Updated: 2}, {Unchanged: 2}} {
		if want.Updated > 0 { // an earlier version of this program kept the hash alone
			db, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.ExecContext(t.Context(), `UPDATE documents SET hash = substr(hash, 1, 64)`); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		}
		rep, err := base.Ingest(t.Context(), []string{dir}, nil)
		if err != nil || rep.Added != want.Added || rep.Updated != want.Updated || rep.Unchanged != want.Unchanged {
			t.Errorf("%+v, %v, want %+v", rep, err, want)
		}
	}
}
