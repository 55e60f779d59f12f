package knowledge_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge"
	"nightdesk/storage"
)

func TestAttach(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	big := file("big.txt", "Tides.")
	if err := os.Truncate(big, 21<<20); err != nil {
		t.Fatal(err)
	}
	var many, heavy []string
	for n := range 21 {
		many = append(many, file(fmt.Sprintf("%d.txt", n), "Tides."))
	}
	for n := range 6 {
		heavy = append(heavy, file(fmt.Sprintf("heavy%d.txt", n), "Tides."))
		if err := os.Truncate(heavy[n], 18<<20); err != nil {
			t.Fatal(err)
		}
	}
	tides, other := file("tides.txt", "The tide of Hallsund is 2.1 metres high."), file("b/tides.txt", "Ebb.")
	for name, tt := range map[string]struct {
		files []string
		want  []string // of the error; none: it works
	}{
		"two of one name": {[]string{tides, other}, nil},
		"a large one":     {[]string{tides, big}, []string{"big.txt: too large: 21 MB, at most 20 MB are read"}},
		"too many":        {many, []string{"21 files are attached, but at most 20 are allowed"}},
		"too much":        {heavy, []string{"108.0 MB in total, but at most 100 MB are allowed"}},
		"every reason": {[]string{filepath.Join(dir, "absent.md"), dir, "https://example.org/a.pdf"},
			[]string{"absent.md: no such file", "is not a file", "download the document first"}},
		"without text": {[]string{tides, file("empty.md", " \n"), file("a.pdf", "%PDF-1.4"), file("a.bin", "\x00\x01\x02")},
			[]string{"empty.md: there is no text in it", "a.pdf: ", "a.bin: "}},
		"none with text": {[]string{file("nothing.txt", "")}, []string{"nothing.txt: there is no text in it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := knowledge.Attach(t.Context(), t.TempDir(), tt.files)
			if len(tt.want) == 0 {
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				if docs, err := b.Documents(t.Context()); err != nil || len(docs) != len(tt.files) {
					t.Errorf("the base has %v (%v)", docs, err)
				}
				return
			}
			for _, want := range tt.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error is %v, want %q", err, want)
				}
			}
		})
	}
}

// What is attached is fetched elsewhere by its version, and is searched together with a base.
func TestShelf(t *testing.T) {
	t.Parallel()
	dir, store := t.TempDir(), storage.NewDir(t.TempDir())
	var shelf knowledge.Shelf
	for name, text := range map[string]string{"tides.md": "# Tides\n\nThe tide of Hallsund is 2.1 metres high.\n",
		"port.md": "# Port of Hallsund\n\nThe port of Hallsund closes at low tide.\n"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		b, err := knowledge.Attach(t.Context(), t.TempDir(), []string{path})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		version, err := knowledge.Publish(t.Context(), b, store)
		if err != nil {
			t.Fatal(err)
		}
		fetched, err := knowledge.Fetch(t.Context(), store, t.TempDir(), knowledge.Attached, version)
		if err != nil {
			t.Fatal(err)
		}
		b, err = knowledge.Open(fetched)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		shelf = append(shelf, b)
	}
	for limit, want := range map[int]int{1: 1, 6: 2} {
		found, err := shelf.Search(t.Context(), "tide of Hallsund", limit, knowledge.Hybrid)
		if err != nil || len(found) != want {
			t.Errorf("limit %d: %d passages, %v", limit, len(found), err)
		}
		sections, err := shelf.Sections(t.Context(), "tide of Hallsund", limit)
		if err != nil || len(sections) != want || sections[0].Score != 1 {
			t.Errorf("limit %d: sections %v, %v", limit, sections, err)
		}
	}
}
