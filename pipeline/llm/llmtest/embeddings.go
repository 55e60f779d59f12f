package llmtest

import (
	"encoding/json"
	"hash/fnv"
	"io"
	"math"
	"net/http"
	"strings"
	"sync"
	"unicode"
)

// Embeddings answers requests for embeddings at any path that ends in /embeddings, in the OpenAI format. A vector
// counts a text's words, each at the index given by its hash, so texts with the same words have similar vectors. The
// same text always has the same vector. Set the fields before the first request. Safe for concurrent use.
type Embeddings struct {
	Dimensions int // 0: 64
	// word -> the word that it counts as, for paraphrases
	Means     map[string]string
	MostTexts int // maximum texts per request; more are refused with 422; 0: any
	// maximum words per text; more are refused with 400 as too long; 0: any
	MostWords int
	Shuffle   bool                                                  // answers are in reverse order, with their indexes
	Intercept func(w http.ResponseWriter, q EmbeddingQuestion) bool // may answer itself; true if it did; may be nil

	mu    sync.Mutex
	calls int
	texts []string
}

// EmbeddingQuestion is a request to an Embeddings.
type EmbeddingQuestion struct {
	Number     int // counted from 1
	Model      string
	Texts      []string
	Dimensions int    // requested dimensions; 0: none
	Key        string // without "Bearer"
}

// Calls returns the number of requests so far and the texts of all answered requests.
func (s *Embeddings) Calls() (calls int, texts []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls, append([]string(nil), s.texts...)
}

func (s *Embeddings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Model      string   `json:"model"`
		Input      []string `json:"input"`
		Dimensions int      `json:"dimensions"`
		Format     string   `json:"encoding_format"`
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return // the client has gone
	}
	if err := json.Unmarshal(raw, &body); err != nil || body.Format != "float" ||
		!strings.HasSuffix(r.URL.Path, "/embeddings") {
		refuse(w, http.StatusBadRequest, "invalid_request", "this is not a request for embeddings")
		return
	}
	s.mu.Lock()
	s.calls++
	q := EmbeddingQuestion{Number: s.calls, Model: body.Model, Texts: body.Input, Dimensions: body.Dimensions,
		Key: strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")}
	s.mu.Unlock()
	if s.Intercept != nil && s.Intercept(w, q) {
		return
	}
	if s.MostTexts > 0 && len(q.Texts) > s.MostTexts {
		refuse(w, http.StatusUnprocessableEntity, "validation", "batch size is larger than the allowed maximum")
		return
	}
	tokens := 0
	for _, text := range q.Texts {
		words := len(strings.Fields(text))
		if s.MostWords > 0 && words > s.MostWords {
			refuse(w, http.StatusBadRequest, "invalid_request", "the input length exceeds the context length")
			return
		}
		tokens += words
	}
	s.mu.Lock()
	s.texts = append(s.texts, q.Texts...)
	s.mu.Unlock()
	s.Reply(w, q, tokens)
}

// Reply answers with the vectors of all texts.
func (s *Embeddings) Reply(w http.ResponseWriter, q EmbeddingQuestion, tokens int) {
	type item struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	data := make([]item, len(q.Texts))
	for i, text := range q.Texts {
		at := i
		if s.Shuffle {
			at = len(q.Texts) - 1 - i
		}
		data[at] = item{"embedding", i, s.Vector(text)}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{ // the client may have gone
		"object": "list", "data": data, "model": q.Model, "usage": map[string]int{"prompt_tokens": tokens,
			"total_tokens": tokens},
	})
}

// Vector returns the vector of a text, of length 1.
func (s *Embeddings) Vector(text string) []float32 {
	dimensions := s.Dimensions
	if dimensions == 0 {
		dimensions = 64
	}
	v := make([]float32, dimensions)
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) {
		if len(word) < 4 { // short words such as "the" occur in every text
			continue
		}
		if meant := s.Means[word]; meant != "" {
			word = meant
		}
		h := fnv.New64a()
		_, _ = h.Write([]byte(word)) // never fails
		v[h.Sum64()%uint64(dimensions)]++
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(max(sum, 1)))
	}
	return v
}
