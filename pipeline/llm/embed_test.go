package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
)

// embedder returns an embedder for handler over a loopback server.
func embedder(t *testing.T, handler http.Handler, change func(s *llm.EmbedderSettings)) *llm.Embedder {
	t.Helper()
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return embedderAt(t, llmtest.NewServer(t, handler), &http.Client{Transport: base}, change)
}

// embedderInMemory is embedder without sockets, for a synctest bubble.
func embedderInMemory(t *testing.T, handler http.Handler, change func(s *llm.EmbedderSettings)) *llm.Embedder {
	t.Helper()
	return embedderAt(t, "http://embed.test/v1", &http.Client{Transport: llmtest.Memory{Handler: handler}}, change)
}

func embedderAt(t *testing.T, url string, client *http.Client, change func(s *llm.EmbedderSettings)) *llm.Embedder {
	t.Helper()
	s := llm.EmbedderSettings{Model: "test-embed", BaseURL: url, APIKey: testKey, Timeout: 10 * time.Second, MaxTries: 3, HTTPClient: client}
	if change != nil {
		change(&s)
	}
	e, err := llm.NewEmbedder(s)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// numbered returns n texts that differ.
func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("passage number%d speaks about subject%d", i, i%17)
	}
	return out
}

// check compares vectors with those of the server. missing: positions whose vector must be nil.
func check(t *testing.T, s *llmtest.Embeddings, texts []string, got [][]float32, missing ...int) {
	t.Helper()
	if len(got) != len(texts) {
		t.Fatalf("%d vectors for %d texts", len(got), len(texts))
	}
	for i, text := range texts {
		want := s.Vector(text)
		if slices.Contains(missing, i) {
			want = nil
		}
		if !slices.Equal(got[i], want) {
			t.Fatalf("vector %d is not that of %q", i, text)
		}
	}
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		server *llmtest.Embeddings
		change func(s *llm.EmbedderSettings)
		n      int
		calls  int // requests that the server may see, at most
	}{
		{"nothing", &llmtest.Embeddings{}, nil, 0, 0},
		{"one", &llmtest.Embeddings{}, nil, 1, 1},
		{"batches of 64", &llmtest.Embeddings{}, nil, 300, 5},
		{"out of order", &llmtest.Embeddings{Shuffle: true}, nil, 100, 2},
		{"smaller batches", &llmtest.Embeddings{}, func(s *llm.EmbedderSettings) { s.Batch = 10 }, 95, 10},
		{"a server that takes ten", &llmtest.Embeddings{MostTexts: 10}, func(s *llm.EmbedderSettings) { s.Concurrency = 1 }, 640, 110},
		{"a server that takes one", &llmtest.Embeddings{MostTexts: 1}, nil, 64, 130},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := embedder(t, tc.server, tc.change)
			texts := numbered(tc.n)
			got, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			check(t, tc.server, texts, got)
			if calls, _ := tc.server.Calls(); calls > tc.calls {
				t.Errorf("%d requests, want at most %d", calls, tc.calls)
			}
		})
	}
}

// Models that distinguish queries from searched texts get the right prefix.
func TestEmbed_Prefixes(t *testing.T) {
	t.Parallel()
	for model, want := range map[string][2]string{
		"test-embed":                     {"rain", "rain"},
		"nomic-embed-text:v1.5":          {"search_document: rain", "search_query: rain"},
		"intfloat/multilingual-E5-large": {"passage: rain", "query: rain"},
		"snowflake-arctic-embed2":        {"rain", "query: rain"},
		"text-embedding-3-small":         {"rain", "rain"},
	} {
		t.Run(model, func(t *testing.T) {
			t.Parallel()
			var s llmtest.Embeddings
			e := embedder(t, &s, func(s *llm.EmbedderSettings) { s.Model = model })
			if _, err := e.Embed(t.Context(), []string{"rain"}); err != nil {
				t.Fatal(err)
			}
			if _, err := e.EmbedQuery(t.Context(), "rain"); err != nil {
				t.Fatal(err)
			}
			if _, texts := s.Calls(); !slices.Equal(texts, want[:]) || e.Model() != model {
				t.Errorf("model %s was sent %q, want %q", e.Model(), texts, want)
			}
		})
	}
}

// A text that is too long does not affect the others, and its beginning is embedded.
func TestEmbed_TooLong(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("überlang ", 300))
	for _, answer := range []struct {
		status  int
		message string
	}{
		{400, "the input length exceeds the context length"},
		{400, "This model's maximum context length is 8192 tokens, however you requested 9000 tokens"},
		{413, "Payload too large"},
		{422, "`inputs` must have less than 512 tokens. Given: 1234"},
		{500, "input is too large to process. increase the physical batch size"},
	} {
		t.Run(fmt.Sprint(answer.status, answer.message[:8]), func(t *testing.T) {
			t.Parallel()
			var s llmtest.Embeddings
			s.Intercept = func(w http.ResponseWriter, q llmtest.EmbeddingQuestion) bool {
				if !slices.ContainsFunc(q.Texts, func(t string) bool { return len(strings.Fields(t)) > 50 }) {
					return false
				}
				w.WriteHeader(answer.status)
				_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": answer.message}})
				return true
			}
			e := embedder(t, &s, nil)
			texts := numbered(20)
			texts[7] = long
			got, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			got[7], texts[7] = nil, ""
			check(t, &s, texts, got, 7)
			_, sent := s.Calls()
			var begun string
			for _, text := range sent {
				if strings.HasPrefix(text, "überlang") {
					begun = text
				}
			}
			if n := len(strings.Fields(begun)); n < 20 || n > 50 || !strings.HasPrefix(long, begun) {
				t.Errorf("embedded %d words of it: %q", n, begun)
			}
			before, _ := s.Calls()
			if _, err := e.Embed(t.Context(), []string{long, long}); err != nil {
				t.Fatal(err)
			}
			if after, _ := s.Calls(); after != before+1 {
				t.Errorf("it took %d requests although the limit was known", after-before)
			}
		})
	}
}

// A text whose content the server refuses has no vector. The others have theirs.
func TestEmbed_RefusedText(t *testing.T) {
	t.Parallel()
	for _, at := range [][]int{{0}, {31}, {63}, {0, 40}, {5, 6}} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			var s llmtest.Embeddings
			s.Intercept = func(w http.ResponseWriter, q llmtest.EmbeddingQuestion) bool {
				if !slices.ContainsFunc(q.Texts, func(t string) bool { return strings.HasPrefix(t, "forbidden") }) {
					return false
				}
				http.Error(w, `{"error":{"message":"content policy"}}`, http.StatusBadRequest)
				return true
			}
			texts := numbered(64)
			for _, i := range at {
				texts[i] = fmt.Sprintf("forbidden%d", i)
			}
			e := embedder(t, &s, nil)
			got, err := e.Embed(t.Context(), texts)
			if err != nil {
				t.Fatal(err)
			}
			check(t, &s, texts, got, at...)
			before, _ := s.Calls()
			if _, err := e.Embed(t.Context(), numbered(64)); err != nil {
				t.Fatal(err)
			}
			if after, _ := s.Calls(); after != before+1 {
				t.Errorf("batches became smaller for one bad text: %d requests", after-before)
			}
			if _, err := e.Embed(t.Context(), []string{"forbidden", "forbidden too"}); !errors.Is(err, llm.ErrPermanent) {
				t.Errorf("all are refused: %v", err)
			}
		})
	}
}

func TestEmbed_Failures(t *testing.T) {
	t.Parallel()
	body := func(status int, text string) func(http.ResponseWriter, llmtest.EmbeddingQuestion) bool {
		return func(w http.ResponseWriter, _ llmtest.EmbeddingQuestion) bool {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
			return true
		}
	}
	for _, tc := range []struct {
		name   string
		answer func(http.ResponseWriter, llmtest.EmbeddingQuestion) bool
		class  error
		has    string
		calls  int // 0 = any
	}{
		{"bad key", body(401, `{"error":{"message":"Incorrect API key: `+testKey+`"}}`), llm.ErrPermanent, "check the API key", 1},
		{"no such model", body(404, `{"error":{"message":"model 'x' not found, try pulling it first"}}`), llm.ErrPermanent, "check the model's name", 1},
		{"refuses everything", body(400, `{"error":{"message":"unknown parameter encoding_format"}}`), llm.ErrPermanent, "encoding_format", 3},
		{"down", body(503, `no`), llm.ErrUnavailable, "answered 503", 3},
		{"a web page", body(200, `<html>`), llm.ErrUnavailable, "an HTML page, not with embeddings", 3},
		{"empty", body(200, ``), llm.ErrUnavailable, "empty", 3},
		{"half a body", body(200, `{"data":[{"index":0,"embedding":[0.1,`), llm.ErrUnavailable, "unexpected end", 3},
		{"a torn connection", func(w http.ResponseWriter, _ llmtest.EmbeddingQuestion) bool {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(`{"data":[{"index":0,`))
			return true
		}, llm.ErrUnavailable, "", 0},
		{"too few", body(200, `{"data":[{"index":0,"embedding":[1]}]}`), llm.ErrUnavailable, "1 vectors for 2 texts", 3},
		{"twice the same", body(200, `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}`), llm.ErrUnavailable, "is invalid", 3},
		{"beyond", body(200, `{"data":[{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`), llm.ErrUnavailable, "is invalid", 3},
		{"null for NaN", body(200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[null]}]}`), llm.ErrUnavailable, "not a number", 3},
		{"NaN", body(200, `{"data":[{"index":0,"embedding":[NaN]},{"index":1,"embedding":[1]}]}`), llm.ErrUnavailable, "invalid character", 3},
		{"too large", body(200, `{"data":[{"index":0,"embedding":[1e39]},{"index":1,"embedding":[1]}]}`), llm.ErrUnavailable, "1e39", 3},
		{"different lengths", body(200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`), llm.ErrUnavailable, "1 and 2 dimensions", 3},
		{"no numbers", body(200, `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`), llm.ErrUnavailable, "empty", 3},
		{"base64", body(200, `{"data":[{"index":0,"embedding":"AACAPw=="},{"index":1,"embedding":"AACAPw=="}]}`), llm.ErrUnavailable, "text", 3},
		{"a failure with status 200", body(200, `{"error":{"message":"upstream broke","code":502}}`), llm.ErrUnavailable, "upstream broke", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &llmtest.Embeddings{Intercept: tc.answer}
				e := embedderInMemory(t, s, nil)
				got, err := e.Embed(t.Context(), []string{"one", "two"})
				if got != nil || !errors.Is(err, tc.class) || !strings.Contains(err.Error(), tc.has) {
					t.Fatalf("%v, %v; want %v with %q", got, err, tc.class, tc.has)
				}
				if strings.Contains(err.Error(), testKey) {
					t.Errorf("the key is in %q", err)
				}
				if calls, _ := s.Calls(); tc.calls > 0 && calls != tc.calls {
					t.Errorf("%d requests, want %d: %v", calls, tc.calls, err)
				}
			})
		})
	}
}

func TestEmbed_RetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Embeddings{Intercept: func(w http.ResponseWriter, q llmtest.EmbeddingQuestion) bool {
			if q.Number <= 2 {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(http.StatusTooManyRequests)
			}
			return q.Number <= 2
		}}
		e := embedderInMemory(t, s, nil)
		start := time.Now()
		texts := numbered(3)
		got, err := e.Embed(t.Context(), texts)
		if err != nil {
			t.Fatal(err)
		}
		check(t, s, texts, got)
		if took := time.Since(start); took != 14*time.Second {
			t.Errorf("it waited %s, the server asked for 7s twice", took)
		}
	})
}

func TestEmbed_Ended(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("the desk closes")
		ctx, cancel := context.WithCancelCause(t.Context())
		s := &llmtest.Embeddings{Intercept: func(w http.ResponseWriter, q llmtest.EmbeddingQuestion) bool {
			if q.Number == 3 {
				cancel(why)
			}
			return false
		}}
		got, err := embedderInMemory(t, s, nil).Embed(ctx, numbered(1000))
		if got != nil || !errors.Is(err, why) || !errors.Is(err, context.Canceled) {
			t.Errorf("%d vectors, %v", len(got), err)
		}
	})
}

func TestEmbed_Dimensions(t *testing.T) {
	t.Parallel()
	s := &llmtest.Embeddings{Dimensions: 16}
	e := embedder(t, s, nil)
	if v, err := e.EmbedQuery(t.Context(), "rain"); err != nil || len(v) != 16 || e.Model() != "test-embed" {
		t.Fatalf("%d numbers, %v; model %s", len(v), err, e.Model())
	}
	s.Dimensions = 17
	if _, err := e.EmbedQuery(t.Context(), "rain"); !errors.Is(err, llm.ErrPermanent) || !strings.Contains(err.Error(), " 16") {
		t.Errorf("another length than before: %v", err)
	}
}

func TestEmbed_Settings(t *testing.T) {
	t.Parallel()
	for _, s := range []llm.EmbedderSettings{
		{}, {Model: "m", BaseURL: "localhost:1"}, {Model: "m", Batch: -1}, {Model: "m", Concurrency: -1}, {Model: "m", Timeout: -1},
	} {
		if _, err := llm.NewEmbedder(s); err == nil || !strings.HasPrefix(err.Error(), "embedding settings: ") {
			t.Errorf("%+v: %v", s, err)
		}
	}
	var s llmtest.Embeddings
	url := llmtest.NewServer(t, &s)
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	keys := make(chan string, 1)
	s.Intercept = func(_ http.ResponseWriter, q llmtest.EmbeddingQuestion) bool { keys <- q.Key; return false }
	e := embedderAt(t, url+"/embeddings/", &http.Client{Transport: base}, func(s *llm.EmbedderSettings) { s.APIKey = "" }) // a common slip
	if _, err := e.EmbedQuery(t.Context(), "rain"); err != nil || <-keys != "" {
		t.Error(err)
	}
}

func TestEmbed_Concurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := 0, 0
		s := &llmtest.Embeddings{Intercept: func(http.ResponseWriter, llmtest.EmbeddingQuestion) bool {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return false
		}}
		if _, err := embedderInMemory(t, s, nil).Embed(t.Context(), numbered(64*9)); err != nil || most != 4 {
			t.Errorf("%d requests at the same time, %v", most, err)
		}
	})
}
