package knowledge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
)

// paraphrase knows that people say the same in other words.
var paraphrase = map[string]string{
	"automobile": "vehicle", "automobiles": "vehicle", "cars": "vehicle", "motor": "engine", "engines": "engine",
	"physician": "doctor", "physicians": "doctor", "doctors": "doctor", "medicine": "drug", "remedy": "drug", "drugs": "drug",
}

// garage is a corpus whose words are not those of the questions.
var garage = files{
	"garage.md":   "# Garage\n\n## Repair\n\nAutomobiles with a broken motor are towed away at night.\n\n## Opening\n\nThe gate closes at eight.\n",
	"hospital.md": "# Hospital\n\nPhysicians decide which remedy helps.\n",
	"bakery.md":   "# Bakery\n\nBread rises before dawn and is sold while it is warm. Nobody asks about engines here.\n",
}

// withModel gives a base the embedding model of a loopback server.
func withModel(t testing.TB, b *knowledge.Base, s *llmtest.Embeddings, model string) *llm.Embedder {
	t.Helper()
	if s.Dimensions == 0 {
		s.Dimensions = 256
	}
	if s.Means == nil {
		s.Means = paraphrase
	}
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	e, err := llm.NewEmbedder(llm.EmbedderSettings{Model: model, BaseURL: llmtest.NewServer(t, s), APIKey: "none", MaxTries: 1,
		Timeout: 20 * time.Second, HTTPClient: &http.Client{Transport: base}})
	if err != nil {
		t.Fatal(err)
	}
	b.SetEmbedder(e)
	return e
}

// embed embeds what is missing and fails the test when something still is.
func embed(t testing.TB, b *knowledge.Base) knowledge.Embedding {
	t.Helper()
	state, err := b.Embed(t.Context(), false, nil)
	if err != nil || state.Missing != 0 {
		t.Fatalf("embed: %+v, %v", state, err)
	}
	return state
}

// says returns what a passage must hold.
func says(text string) func(knowledge.Passage) bool {
	return func(p knowledge.Passage) bool { return strings.Contains(p.Text, text) }
}

func find(t testing.TB, b *knowledge.Base, query string, mode knowledge.Mode) knowledge.Answer {
	t.Helper()
	a, err := b.Find(t.Context(), query, 3, mode)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// What is said in other words is found by vectors only; without a model everything is as before.
func TestParaphrase(t *testing.T) {
	t.Parallel()
	b := ingested(t, garage)
	for query, want := range map[string]string{
		"Where do cars with damaged engines go?":     "towed away",
		"Do doctors choose drugs?":                   "Physicians",
		"When is the gate shut":                      "closes at eight",
		"Which remedy do physicians think of?":       "Physicians",
		"Where does one get warm bread before dawn?": "Bread rises",
	} {
		for _, mode := range []knowledge.Mode{knowledge.Naive, knowledge.Hybrid} {
			b.SetEmbedder(nil)
			words := find(t, b, query, mode)
			if words.Vectors || words.Degraded != nil {
				t.Errorf("no model: %+v", words)
			}
			var s llmtest.Embeddings
			withModel(t, b, &s, "m")
			embed(t, b)
			a := find(t, b, query, mode)
			first := 1 // places in which it may stand: a word that is elsewhere too leads the other half of Hybrid
			if mode == knowledge.Hybrid {
				first = 2
			}
			if !a.Vectors || a.Degraded != nil || !slices.ContainsFunc(a.Passages[:min(first, len(a.Passages))], says(want)) {
				t.Errorf("%s %q: %+v", mode, query, a)
			}
			again := find(t, b, query, mode)
			if len(again.Passages) != len(a.Passages) || again.Passages[0].Hash != a.Passages[0].Hash {
				t.Errorf("%s %q: a second search answers otherwise", mode, query)
			}
			if strings.Contains(query, "cars") && len(words.Passages) > 0 && strings.Contains(words.Passages[0].Text, want) {
				t.Errorf("%s %q: words alone find it: this test shows nothing", mode, query)
			}
		}
	}
}

// Only texts that have no vector are sent, and vectors of texts that are gone go too.
func TestEmbedIsIncremental(t *testing.T) {
	t.Parallel()
	b, dir := create(t), t.TempDir()
	garage.write(t, dir)
	var s llmtest.Embeddings
	withModel(t, b, &s, "m")
	sent := 0
	versions := map[string]bool{}
	for _, step := range []struct {
		name   string
		change files
		remove string
		texts  int  // that are sent
		old    bool // the version has been there before
	}{
		{"first", nil, "", 4, false},
		{"nothing", files{}, "", 0, true},
		{"one section changed", files{"garage.md": "# Garage\n\n## Repair\n\nAutomobiles with a broken motor are towed away at night.\n\n## Opening\n\nThe gate closes at nine.\n"}, "", 1, false},
		{"a copy", files{"copy/bakery.md": garage["bakery.md"]}, "", 0, false},
		{"the title changed", files{"hospital.md": "# Clinic\n\nPhysicians decide which remedy helps.\n"}, "", 1, false},
		{"removed", nil, "copy/bakery.md", 0, false},
		{"back to the first", files{"garage.md": garage["garage.md"], "hospital.md": garage["hospital.md"]}, "", 2, true},
	} {
		step.change.write(t, dir)
		if step.remove != "" {
			if err := os.Remove(filepath.Join(dir, step.remove)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Ingest(t.Context(), []string{dir}, nil); err != nil {
			t.Fatal(err)
		}
		state := embed(t, b)
		info, err := b.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want := (knowledge.Embedding{Model: "m", Dimensions: 256, Passages: info.Passages}); state != want || info.Embedding != want {
			t.Errorf("%s: %+v, info %+v, want %+v", step.name, state, info.Embedding, want)
		}
		_, texts := s.Calls()
		if len(texts)-sent != step.texts {
			t.Errorf("%s: %d texts were sent, want %d: %q", step.name, len(texts)-sent, step.texts, texts[sent:])
		}
		if versions[info.Version] != step.old {
			t.Errorf("%s: version %s, known before: %v", step.name, info.Version, versions[info.Version])
		}
		versions[info.Version] = true
		if a := find(t, b, "automobile motor", knowledge.Naive); !a.Vectors || !strings.Contains(a.Passages[0].Text, "towed") {
			t.Errorf("%s: found %+v", step.name, a)
		}
		sent = len(texts) + 1 // the query
	}
	if _, texts := s.Calls(); !strings.HasPrefix(texts[0], "Bakery\n\nBread") || !slices.ContainsFunc(texts, func(t string) bool { return strings.HasPrefix(t, "Garage > Repair\n\nAuto") }) {
		t.Errorf("passages are embedded without their place: %q", texts)
	}
}

// A server that dies in mid-ingest leaves a base that answers by words and says what is missing; the next call goes on.
func TestEmbeddingServerDies(t *testing.T) {
	t.Parallel()
	const n = 600
	f := files{}
	for i := range n {
		f[fmt.Sprintf("%04d.txt", i)] = fmt.Sprintf("Walrus number%d sleeps beside heron number%d.", i, i*7)
	}
	b := ingested(t, f)
	var dead atomic.Bool
	s := llmtest.Embeddings{Dimensions: 1024, Intercept: func(w http.ResponseWriter, q llmtest.EmbeddingQuestion) bool {
		if !dead.Load() && q.Number > 10 { // after ten batches
			dead.Store(true)
		}
		if dead.Load() {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write([]byte(`{"data":[{"index":0,"embedding":[0.25,`)) // and then the connection ends
			panic(http.ErrAbortHandler)
		}
		return false
	}}
	withModel(t, b, &s, "m")
	state, err := b.Embed(t.Context(), false, nil)
	if !errors.Is(err, llm.ErrUnavailable) || state.Passages != 160 || state.Missing != n-160 || state.Model != "m" {
		t.Fatalf("%+v, %v", state, err)
	}
	for _, mode := range []knowledge.Mode{knowledge.Naive, knowledge.Hybrid} {
		a := find(t, b, "number599", mode)
		if len(a.Passages) == 0 || !strings.Contains(a.Passages[0].Text, "number599") || a.Degraded == nil || a.Vectors {
			t.Errorf("%s: %+v", mode, a)
		}
	}
	dead.Store(false)
	b2, err := knowledge.Open(pathOf(t, b)) // another process, with another outage of its own
	if err != nil {
		t.Fatal(err)
	}
	defer b2.Close()
	alive := llmtest.Embeddings{Dimensions: 1024}
	withModel(t, b2, &alive, "m")
	if a := find(t, b2, "number599", knowledge.Naive); a.Vectors || a.Degraded != nil { // vectors of all or none
		t.Errorf("%+v", a)
	}
	if a := find(t, b2, "number599", knowledge.Hybrid); !a.Vectors || !slices.ContainsFunc(a.Passages[:2], says("number599")) {
		t.Errorf("%+v", a)
	}
	last := 0
	state, err = b2.Embed(t.Context(), false, func(done, total int) {
		if done <= last || total != n-161 { // the two searches above have made the vector of their candidate
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last = done
	})
	if err != nil || state.Missing != 0 || state.Passages != n || last != n-161 {
		t.Fatalf("%+v, %v; last %d", state, err, last)
	}
	if _, texts := alive.Calls(); len(texts) != n-160+2 { // and the two queries
		t.Errorf("%d texts were sent the second time", len(texts))
	}
	if a := find(t, b2, f["0599.txt"], knowledge.Naive); !a.Vectors || !slices.ContainsFunc(a.Passages, says("number599")) {
		t.Errorf("%+v", a)
	}
}

func pathOf(t testing.TB, b *knowledge.Base) string {
	t.Helper()
	path := knowledge.PathOf(b)
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// A base without vectors can be searched by meaning at once: those of the first candidates by words are made then.
func TestVectorsOfCandidates(t *testing.T) {
	t.Parallel()
	f := files{}
	for i := range 50 {
		f[fmt.Sprintf("%02d.txt", i)] = fmt.Sprintf("The gate of house %d closes at nine.", i)
	}
	b := ingested(t, f)
	var s llmtest.Embeddings
	withModel(t, b, &s, "m")
	for range 2 { // the second search finds the vectors of the first
		if a := find(t, b, "gate", knowledge.Hybrid); !a.Vectors || a.Degraded != nil || len(a.Passages) == 0 {
			t.Fatalf("%+v", a)
		}
	}
	info, err := b.Info(t.Context())
	if err != nil || info.Embedding.Passages != 30 || info.Embedding.Missing != 20 {
		t.Errorf("%+v, %v", info.Embedding, err)
	}
	if _, texts := s.Calls(); len(texts) != 30+2 {
		t.Errorf("%d texts were sent", len(texts))
	}
	if state := embed(t, b); state.Missing != 0 {
		t.Errorf("%+v", state)
	}
}

// Vectors of two models are never compared.
func TestAnotherModel(t *testing.T) {
	t.Parallel()
	b := ingested(t, garage)
	var first, second llmtest.Embeddings
	withModel(t, b, &first, "first")
	embed(t, b)
	second.Dimensions = 64
	withModel(t, b, &second, "second")

	state, err := b.Embed(t.Context(), false, nil)
	if !errors.Is(err, knowledge.ErrModel) || !strings.Contains(err.Error(), "first") || !strings.Contains(err.Error(), "kb add --reembed") || state.Model != "first" {
		t.Errorf("%+v, %v", state, err)
	}
	a := find(t, b, "gate", knowledge.Hybrid)
	if !errors.Is(a.Degraded, knowledge.ErrModel) || a.Vectors || len(a.Passages) != 1 {
		t.Errorf("%+v", a)
	}
	if calls, _ := second.Calls(); calls != 0 {
		t.Errorf("%d requests to the second model", calls)
	}
	state, err = b.Embed(t.Context(), true, nil)
	if want := (knowledge.Embedding{Model: "second", Dimensions: 64, Passages: 4}); err != nil || state != want {
		t.Errorf("%+v, %v", state, err)
	}
	if a = find(t, b, "Where do cars with damaged engines go?", knowledge.Naive); a.Degraded != nil || !strings.Contains(a.Passages[0].Text, "towed") {
		t.Errorf("%+v", a)
	}

	var third llmtest.Embeddings // the same name, other vectors: somebody has changed the server
	third.Dimensions = 32
	withModel(t, b, &third, "second")
	if a = find(t, b, "gate", knowledge.Naive); !errors.Is(a.Degraded, knowledge.ErrModel) || len(a.Passages) == 0 {
		t.Errorf("%+v", a)
	}
	dir := t.TempDir()
	files{"new.md": "A new one."}.write(t, dir)
	if _, err := b.Ingest(t.Context(), []string{dir}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Embed(t.Context(), false, nil); !errors.Is(err, knowledge.ErrModel) {
		t.Error(err)
	}
	if state, err = b.Embed(t.Context(), true, nil); err != nil || state.Dimensions != 32 || state.Passages != 1 {
		t.Errorf("%+v, %v", state, err)
	}
}

// fakeEmbedder answers what it is told to.
type fakeEmbedder struct {
	embed func(ctx context.Context, texts []string) ([][]float32, error)
	query func(ctx context.Context, text string) ([]float32, error)
}

func (f fakeEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return f.embed(ctx, texts)
}
func (f fakeEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return f.query(ctx, text)
}
func (f fakeEmbedder) Model() string { return "fake" }

// constant returns n vectors.
func constant(n int, v ...float32) [][]float32 {
	out := make([][]float32, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func TestOddEmbedders(t *testing.T) {
	t.Parallel()
	nan := float32(0)
	nan /= nan
	for _, tc := range []struct {
		name  string
		embed func(texts []string) ([][]float32, error)
		err   string // of Embed
		have  int    // passages with a vector, of 4
	}{
		{"too few", func(texts []string) ([][]float32, error) { return constant(len(texts)-1, 1), nil }, "3 vectors for 4 texts", 0},
		{"lengths", func(texts []string) ([][]float32, error) {
			return append(constant(len(texts)-1, 1), []float32{1, 2}), nil
		}, "dimensions", 0},
		{"no numbers", func(texts []string) ([][]float32, error) { return constant(len(texts)), nil }, "", 0},
		{"empty", func(texts []string) ([][]float32, error) { return constant(len(texts), []float32{}...), nil }, "dimensions", 0},
		{"not a number", func(texts []string) ([][]float32, error) { return constant(len(texts), 1, nan), nil }, "not a number", 0},
		{"zeros", func(texts []string) ([][]float32, error) { return constant(len(texts), 0, 0), nil }, "", 4},
		{"one refused", func(texts []string) ([][]float32, error) { return append(constant(len(texts)-1, 1, 2), nil), nil }, "", 3},
		{"fails", func([]string) ([][]float32, error) { return nil, errors.New("no power") }, "no power", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := ingested(t, garage)
			b.SetEmbedder(fakeEmbedder{
				embed: func(_ context.Context, texts []string) ([][]float32, error) { return tc.embed(texts) },
				query: func(context.Context, string) ([]float32, error) { return []float32{1, 1}, nil },
			})
			state, err := b.Embed(t.Context(), false, nil)
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) || state.Passages != tc.have || state.Passages+state.Missing != 4 {
				t.Errorf("%+v, %v", state, err)
			}
			for _, mode := range []knowledge.Mode{knowledge.Naive, knowledge.Hybrid} {
				if a := find(t, b, "gate", mode); len(a.Passages) == 0 {
					t.Errorf("%s: %+v", mode, a)
				}
			}
		})
	}
}

// A model that does not answer in time, or with nonsense, costs a query its vectors and nothing else; the end of the
// caller's context ends it.
func TestQueryDegrades(t *testing.T) {
	t.Parallel()
	b := ingested(t, garage)
	var query func(ctx context.Context) ([]float32, error)
	b.SetEmbedder(fakeEmbedder{
		embed: func(_ context.Context, texts []string) ([][]float32, error) { return constant(len(texts), 1, 2), nil },
		query: func(ctx context.Context, _ string) ([]float32, error) { return query(ctx) },
	})
	embed(t, b)
	for name, q := range map[string]func(ctx context.Context) ([]float32, error){
		"fails":     func(context.Context) ([]float32, error) { return nil, errors.New("no power") },
		"too short": func(context.Context) ([]float32, error) { return []float32{1}, nil },
		"nothing":   func(context.Context) ([]float32, error) { return nil, nil },
		"has limit": func(ctx context.Context) ([]float32, error) {
			if _, ok := ctx.Deadline(); !ok {
				return []float32{1, 2}, nil
			}
			return nil, context.DeadlineExceeded
		},
	} {
		query = q
		if a := find(t, b, "gate", knowledge.Naive); a.Degraded == nil || a.Vectors || len(a.Passages) != 1 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	var log bytes.Buffer
	query = func(context.Context) ([]float32, error) { return nil, errors.New("no power") }
	found, err := b.Search(zerolog.New(&log).WithContext(t.Context()), "gate", 3, knowledge.Naive)
	if err != nil || len(found) != 1 || !strings.Contains(log.String(), "no power") {
		t.Errorf("%+v, %v; logged %q", found, err, log.String())
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the desk closes")
	query = func(ctx context.Context) ([]float32, error) { cancel(why); <-ctx.Done(); return nil, ctx.Err() }
	if _, err := b.Find(ctx, "gate", 3, knowledge.Naive); !errors.Is(err, why) {
		t.Error(err)
	}
	if _, err := b.Embed(ctx, false, nil); !errors.Is(err, why) {
		t.Error(err)
	}
}

// Searches see whole states while documents come, go and get vectors, in two handles as in two processes.
func TestEmbedWhileSearching(t *testing.T) {
	t.Parallel()
	b, dir := create(t), t.TempDir()
	garage.write(t, dir)
	var s llmtest.Embeddings
	e := withModel(t, b, &s, "m")
	if _, err := b.Ingest(t.Context(), []string{dir}, nil); err != nil {
		t.Fatal(err)
	}
	embed(t, b)
	other, err := knowledge.Open(pathOf(t, b))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	other.SetEmbedder(e)
	stop := make(chan struct{})
	var searches errgroup.Group
	for i := range 4 {
		base := []*knowledge.Base{b, other}[i%2]
		searches.Go(func() error {
			for {
				select {
				case <-stop:
					return nil
				default:
				}
				for _, mode := range []knowledge.Mode{knowledge.Naive, knowledge.Hybrid} {
					a, err := base.Find(t.Context(), "Where do cars with damaged engines go?", 5, mode)
					if err != nil || a.Degraded != nil {
						return fmt.Errorf("%s: %+v, %w", mode, a, err)
					}
					if a.Vectors && !slices.ContainsFunc(a.Passages[:2], says("towed")) {
						return fmt.Errorf("%s: found %q first", mode, a.Passages[0].Text)
					}
				}
			}
		})
	}
	for i := range 8 {
		f := files{}
		for j := range 20 {
			f[fmt.Sprintf("more/%d.md", j)] = fmt.Sprintf("# More\n\nOne heron fishes in lake%d and sleeps in barn%d.", i, j)
		}
		f.write(t, dir)
		base := []*knowledge.Base{b, other}[i%2]
		if _, err := base.Ingest(t.Context(), []string{dir}, nil); err != nil {
			t.Fatal(err)
		}
		embed(t, base)
		if i%4 == 3 {
			if err := os.RemoveAll(filepath.Join(dir, "more")); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	if err := searches.Wait(); err != nil {
		t.Fatal(err)
	}
}
