package extract_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/topicqueue"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			doc, err := extract.File(t.Context(), file, data)
			if err != nil {
				t.Fatal(err)
			}
			check(t, doc)
			got := show(doc)
			golden := file + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// show prints a document for a person to review.
func show(doc extract.Document) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\nby: %s\ndate: %s\n", doc.Title,
		topicqueue.Source{Authors: doc.Authors, Publisher: doc.Publisher}.By(), doc.Date)
	for i, s := range doc.Sections {
		end := len(doc.Text)
		if i+1 < len(doc.Sections) {
			end = doc.Sections[i+1].Offset
		}
		fmt.Fprintf(&b, "\n=== %s #%s\n%s\n", strings.Join(s.Path, " > "), s.Anchor, strings.TrimSpace(doc.Text[s.Offset:end]))
	}
	for _, term := range doc.Terms {
		fmt.Fprintf(&b, "\nterm: %s #%s", term.Text, term.Anchor)
	}
	return b.String()
}

var statedDate = regexp.MustCompile(`^(?:\d{4}(?:-\d{2}(?:-\d{2})?)?)?$`)

// check asserts what holds for every document.
func check(t *testing.T, doc extract.Document) {
	t.Helper()
	by := append([]string{doc.Title, doc.Publisher, doc.Date}, doc.Authors...)
	about := strings.Join(by, "|")
	if !utf8.ValidString(doc.Text) || !utf8.ValidString(about) || strings.Contains(about, "\n") {
		t.Fatalf("not UTF-8, or several lines: %q %q", about, doc.Text)
	}
	if !statedDate.MatchString(doc.Date) {
		t.Fatalf("date %q", doc.Date)
	}
	if strings.TrimSpace(doc.Text) != doc.Text {
		t.Fatalf("white space around the text: %q", doc.Text)
	}
	if len(doc.Sections) == 0 || doc.Sections[0].Offset != 0 || len(doc.Sections[0].Path) != 0 {
		t.Fatalf("the first section is not the top: %+v", doc.Sections)
	}
	last := 0
	for _, s := range doc.Sections {
		if s.Offset < last || s.Offset > len(doc.Text) || s.Offset < len(doc.Text) && !utf8.RuneStart(doc.Text[s.Offset]) {
			t.Fatalf("section %v has offset %d after %d in a text of %d bytes", s.Path, s.Offset, last, len(doc.Text))
		}
		if s.Offset < len(doc.Text) && (doc.Text[s.Offset] == '\n' || s.Offset > 0 && doc.Text[s.Offset-1] != '\n') {
			t.Fatalf("section %v does not begin with a line: %q", s.Path, doc.Text[s.Offset:])
		}
		last = s.Offset
	}
	for _, term := range doc.Terms {
		if !strings.HasPrefix(doc.Text[term.Offset:], term.Text) {
			t.Fatalf("term %q is not at %d", term.Text, term.Offset)
		}
	}
	fence := ""
	for line := range strings.SplitSeq(doc.Text, "\n") {
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = line
		case line == fence:
			fence = ""
		}
	}
	if fence != "" {
		t.Fatalf("a fence is not closed: %q", doc.Text)
	}
}

func TestFileErrors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, file, data string
		want             error
	}{
		{"unknown", "a.xyz", "text", extract.ErrType},
		{"no extension", "Makefile", "text", extract.ErrType},
		{"binary", "a.txt", "a\x00b", extract.ErrBinary},
		{"disguised", "a.html", "%PDF-1.7 ...", extract.ErrDamaged},
		{"Russian in KOI8-R", "a.txt", "\xeb\xc1\xc6\xc5 \xcf\xd4\xcb\xd2\xd9\xd4\xcf, caf\xe9", extract.ErrEncoding},
		{"Japanese in Shift_JIS", "a.txt", "TIDE: \x92\xaa\x89\xca\x82\xcc\x8a\xd4\x96\xa7", extract.ErrEncoding},
		{"UTF-8 with a flaw", "a.txt", "caf\xc3\xa9, na\xc3\xafve, d\xe9j\xc3\xa0 vu", extract.ErrEncoding},
		{"controls", "a.txt", "caf\xe9 \x02\x03", extract.ErrEncoding},
		{"a byte that it does not have", "a.txt", "caf\xe9 \x81", extract.ErrEncoding},
		{"utf-8 that is not", "a.html", `<meta charset="utf-8"><p>` + strings.Repeat("\xe9t\xe9 ", 50), extract.ErrEncoding},
		{"empty", "a.md", "  \n", extract.ErrEmpty},
		{"only markup", "a.html", "<nav>Home</nav><script>x</script>", extract.ErrEmpty},
		{"only headings", "a.md", "# One\n## Two\n", extract.ErrEmpty},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if _, err := extract.File(t.Context(), tc.file, []byte(tc.data)); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, file, data, want string }{
		{"utf-8 mark", "a.txt", "\xef\xbb\xbfcafé", "café"},
		{"utf-16", "a.txt", "\xff\xfec\x00a\x00f\x00\xe9\x00", "café"},
		{"utf-16 big", "a.md", "\xfe\xff\x00c\x00a\x00f\x00\xe9", "café"},
		{"declared latin-1", "a.html", "<meta charset=iso-8859-1><p>caf\xe9", "café"},
		{"declared in http-equiv", "a.html", `<meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><p>` + "\xc4\xc1", "да"},
		{"undeclared latin-1", "a.html", "<p>caf\xe9</p>", "café"},
		{"latin-1 text", "a.txt", "Die K\xfcche ist gro\xdf, das Caf\xe9 kleiner.", "Die Küche ist groß, das Café kleiner."},
		{"windows-1252 text", "a.md", "It costs 5 \x80 \x96 \x93cheap\x94, they said.", "It costs 5 € – “cheap”, they said."},
		{"undeclared utf-8 after ASCII", "a.html", "<p>" + strings.Repeat("a ", 1000) + "é</p>", strings.Repeat("a ", 1000) + "é"},
		{"one stray byte", "a.html", "<meta charset=utf-8><p>a\xe9b", "a\ufffdb"},
		{"windows lines", "a.txt", "one\r\ntwo\r\n\r\nthree", "one two\n\nthree"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			doc, err := extract.File(t.Context(), tc.file, []byte(tc.data))
			if err != nil {
				t.Fatal(err)
			}
			if doc.Text != tc.want {
				t.Errorf("got %q, want %q", doc.Text, tc.want)
			}
		})
	}
}

// What stands around the text of a page, whatever its frame.
func TestFurniture(t *testing.T) {
	t.Parallel()
	for _, class := range []string{"ad", "advertisement box", "cookie-consent", "Breadcrumbs"} {
		doc, err := extract.File(t.Context(), "a.html", []byte(`<body><div class="`+class+`">Come to the fair of the savings bank!</div><div><p>The gauge stands at the pier.</p></div></body>`))
		if err != nil || doc.Text != "The gauge stands at the pier." {
			t.Errorf("%s: %q, %v", class, doc.Text, err)
		}
	}
}
