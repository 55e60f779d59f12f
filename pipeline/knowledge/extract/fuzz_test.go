package extract_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
)

const marker = "zqxmarker"

func seeds(f *testing.F, pattern string) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
}

// A script that precedes anything at all never reaches the text, and the document keeps its promises.
func FuzzHTML(f *testing.F) {
	seeds(f, "testdata/*.html")
	f.Add("<table><td><p>a<p>b<td></table></p><li>x<dt>y")
	f.Fuzz(func(t *testing.T, page string) {
		if strings.Contains(strings.ToLower(page), marker) {
			t.Skip()
		}
		doc, err := extract.Bytes(t.Context(), extract.TypeHTML, []byte("<script>"+marker+"</script><p>text</p>"+page), "")
		if err != nil {
			if strings.Contains(err.Error(), "internal error") {
				t.Fatal(err)
			}
			return
		}
		check(t, doc)
		if strings.Contains(doc.Text, marker) {
			t.Fatalf("script in the text: %q", doc.Text)
		}
	})
}

// A heading is in the title or in a section's path whatever follows it, and the text holds no heading of its own.
func FuzzMarkdown(f *testing.F) {
	seeds(f, "testdata/*.md")
	f.Add("[a](b `c` *d_ <e> &amp; \\")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, marker) {
			t.Skip()
		}
		doc, err := extract.Bytes(t.Context(), extract.TypeMarkdown, []byte("text\n\n## "+marker+"\n\n"+text), "")
		if err != nil {
			if strings.Contains(err.Error(), "internal error") {
				t.Fatal(err)
			}
			return
		}
		check(t, doc)
		if strings.Contains(doc.Text, marker) {
			t.Fatalf("heading in the text: %q", doc.Text)
		}
		found := doc.Title == marker
		for _, s := range doc.Sections {
			found = found || slices.Contains(s.Path, marker)
		}
		if !found {
			t.Fatalf("the heading is lost: %+v", doc)
		}
	})
}

func FuzzPlainText(f *testing.F) {
	seeds(f, "testdata/*.txt")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := extract.Bytes(t.Context(), extract.TypeText, []byte(text), "")
		if err != nil {
			if strings.Contains(err.Error(), "internal error") {
				t.Fatal(err)
			}
			return
		}
		check(t, doc)
	})
}
