package wordvec_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/wordvec"
)

var _ knowledge.Embedder = (*wordvec.Embedder)(nil)

// small has words in the order of their frequency: "the" and "of" stand for what all texts have in common.
const small = `the 0.9 0.1 0.1 0.1
of 0.8 0.1 0.1 -0.1
car 0.5 0.9 0.05 0
automobile 0.5 0.85 0.1 0
bread 0.5 0 0.9 0.1
dough 0.5 0.05 0.8 0.1
read 0.4 0 0.1 0.9
write 0.4 0.1 0.1 0.8
汽车 0.5 0.8 0.1 0.1
面包 0.5 0.1 0.8 0.1
`

func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipped(t testing.TB, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func open(t testing.TB, content string) *wordvec.Embedder {
	t.Helper()
	e, err := wordvec.New(write(t, "words.txt", content))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func vectors(t testing.TB, e *wordvec.Embedder, texts ...string) [][]float32 {
	t.Helper()
	out, err := e.Embed(t.Context(), texts)
	if err != nil || len(out) != len(texts) {
		t.Fatalf("%d vectors, %v", len(out), err)
	}
	return out
}

func cosine(a, b []float32) float64 {
	var product float64
	for i := range a {
		product += float64(a[i]) * float64(b[i])
	}
	return product
}

func length(v []float32) float64 { return math.Sqrt(cosine(v, v)) }

func TestMeaning(t *testing.T) {
	t.Parallel()
	e := open(t, small)
	for _, tc := range []struct{ name, text, near, far string }{
		{"another word", "the car", "an automobile", "bread"},
		{"frequent words count little", "the dough of the", "the bread", "the read of the"},
		{"case", "CAR", "automobile", "bread"},
		{"punctuation", "“car”, (of)", "automobile", "bread"},
		{"parts of an identifier", "write_read", "read", "bread"},
		{"a path", "/bread/dough.x", "bread", "car"},
		{"no spaces", "那汽车的", "automobile", "bread"},
		{"the longest word", "面包汽车面包", "bread", "car"},
		{"not UTF-8", "car\xff\xfe \x00", "automobile", "bread"},
	} {
		v := vectors(t, e, tc.text, tc.near, tc.far)
		if near, far := cosine(v[0], v[1]), cosine(v[0], v[2]); near <= far {
			t.Errorf("%s: %q is nearer to %q (%.3f) than to %q (%.3f)", tc.name, tc.text, tc.far, far, tc.near, near)
		}
		for i := range v {
			if l := length(v[i]); math.Abs(l-1) > 1e-5 {
				t.Errorf("%s: a vector of length %g", tc.name, l)
			}
		}
		one, err := e.EmbedQuery(t.Context(), tc.text)
		if err != nil || cosine(one, v[0]) < 0.99999 {
			t.Errorf("%s: the query's vector is another: %v", tc.name, err)
		}
	}
	for _, text := range []string{"", "zebra", "...", "\xff"} {
		if v := vectors(t, e, text)[0]; len(v) != 4 || length(v) != 0 {
			t.Errorf("%q has the vector %v", text, v)
		}
	}
}

// The same words give the same model in every form of the file; other words give another one.
func TestModel(t *testing.T) {
	t.Parallel()
	plain := open(t, small)
	if !strings.HasPrefix(plain.Model(), "wordvec1-") || !strings.HasSuffix(plain.Model(), "@4") {
		t.Errorf("model %q", plain.Model())
	}
	if same := open(t, zipped(t, small)); same.Model() != plain.Model() {
		t.Errorf("gzipped: %q, plain: %q", same.Model(), plain.Model())
	}
	if other := open(t, strings.Replace(small, "0.85", "0.84", 1)); other.Model() == plain.Model() {
		t.Error("another file, the same model")
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, content  string
		words, skipped int
	}{
		{"glove", small, 10, 0},
		{"word2vec", "10 4\n" + small, 10, 0},
		{"fastText ends lines with a space", "2 2\nthe 1 2 \ncar -1 0.5 \n", 2, 0},
		{"Windows lines, tabs, no last line end", "2 2\r\nthe\t1\t2\r\ncar -1e-2 +.5", 2, 0},
		{"a word with spaces", "the 1 2\n. . . 3 4\ncar 1 0\n", 2, 1},
		{"not UTF-8", "the 1 2\n\xff\xfe 3 4\ncar 1 0\n", 2, 1},
		{"a word again", "the 1 2\nthe 3 4\ncar 1 0\n", 2, 1},
		{"a word without a vector that points anywhere", "the 1 2\ncar 0 0\n", 2, 0},
		{"long numbers", "the 0.12345678901234567890 -1234567890.123456789\ncar 1 0\n", 2, 0},
	} {
		e := open(t, tc.content)
		s, err := e.Load()
		if err != nil || s.Words != tc.words || s.Skipped != tc.skipped || s.Took <= 0 || s.Bytes < s.Words*(s.Dimensions+4) {
			t.Errorf("%s: %+v, %v", tc.name, s, err)
		}
	}
}

func TestBrokenFiles(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, content, want string }{
		{"empty", "", "the file is empty"},
		{"a text", "It was a dark and stormy night.\n", "line 1: neither a word with its vector"},
		{"one word", "the\n", "line 1: neither"},
		{"header only", "2 3\n", "line 1: the file ends after 0 of 2 words"},
		{"cut off", "3 2\nthe 1 2\ncar 1 2\n", "line 3: the file ends after 2 of 3 words; is it whole?"},
		{"cut off in a vector", "the 1 2 3\ncar 1 2\n", "line 2: 2 numbers instead of 3"},
		{"an empty line", "the 1 2 3\n\ncar 1 2 3\n", "line 2: 0 numbers instead of 3"},
		{"not a number", "the 1 2\ncar NaN 1\n", `line 2: number 1 of the vector is "NaN"`},
		{"infinite", "the 1 2\ncar 1 -Inf\n", `line 2: number 2 of the vector is "-Inf"`},
		{"huge", "the 1 2\ncar 1 1e39\n", `line 2: number 2 of the vector is "1e39"`},
		{"no number", "the 1 2\ncar 1 x\n", `line 2: number 2 of the vector is "x"`},
		{"two points", "the 1 2\ncar 1 1.2.3\n", `line 2: number 2 of the vector is "1.2.3"`},
		{"only a sign", "the 1 2\ncar 1 -\n", `line 2: number 2 of the vector is "-"`},
		{"one dimension", "10 1\nthe 1\n", "line 1: vectors of 1 numbers"},
		{"too many dimensions", "10 5000\n", "line 1: vectors of 5000 numbers"},
		{"a line without end", "the 1 2\n" + strings.Repeat("x", 1<<18), "line 2: longer than 131072 bytes"},
		{"zip", "PK\x03\x04glove", "this is a zip archive; unpack it"},
		{"half of a gzip", zipped(t, small)[:40], "unexpected EOF"},
	} {
		path := write(t, "words.txt", tc.content)
		e, err := wordvec.New(path)
		if err == nil {
			_, err = e.Embed(t.Context(), []string{"car"})
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
	if _, err := wordvec.New(t.TempDir()); err == nil {
		t.Error("a directory is no file")
	}
	if _, err := wordvec.New(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A file that changes between start and first use would give vectors that are not those of its name.
func TestChangedFile(t *testing.T) {
	t.Parallel()
	path := write(t, "words.txt", small)
	e, err := wordvec.New(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(small, "0.9", "0.8", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := e.EmbedQuery(t.Context(), "car"); err == nil || !strings.Contains(err.Error(), "has changed since the program started") {
		t.Errorf("%v", err)
	}
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	e := open(t, small)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if v, err := e.Embed(ctx, []string{"car"}); !errors.Is(err, stop) || v != nil {
		t.Errorf("%v, %v", v, err)
	}
}

// FuzzFile: a file gives an error that names it, or vectors that are finite and of length 1 or 0.
func FuzzFile(f *testing.F) {
	for _, s := range []string{small, "10 4\n" + small, "the 1 2\ncar NaN 1\n", "2 2\r\nthe\t1\t2\r\ncar -1e-2 +.5", "a 3e38 -3e38\nb 1e-45 1e-40\nc 0 0\n",
		"the 1 2\n\xff 3 4\n. . . 3 4\nthe 1 2\n\n", "1 2\n", "9999999999999999999 2\n", "\x1f\x8b\x08\x00", "a 0.1234567890123456789 -.\n", "a . 1\n", " ", "\r"} {
		f.Add(s, "the car of 汽车 a_b")
	}
	f.Fuzz(func(t *testing.T, content, text string) {
		path := write(t, "words.txt", content)
		e, err := wordvec.New(path)
		if err == nil {
			_, err = e.Load()
		}
		if err != nil {
			text := strings.TrimSpace(content) != "" && !strings.HasPrefix(content, "PK") && !strings.HasPrefix(content, "\x1f\x8b")
			if !strings.Contains(err.Error(), path) || text && !strings.Contains(err.Error(), "line ") {
				t.Fatalf("the error does not say where: %v", err)
			}
			return
		}
		for _, v := range vectors(t, e, text, content) {
			if l := length(v); l != 0 && !(math.Abs(l-1) < 1e-4) {
				t.Fatalf("a vector of length %g: %v", l, v)
			}
		}
	})
}
