package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/topicqueue"
)

// EmbedderSettings are the settings of an embedding model.
type EmbedderSettings struct {
	Model       string
	BaseURL     string        // without /embeddings; empty: https://api.openai.com/v1
	APIKey      string        // empty: none is sent
	Batch       int           // maximum texts per request; 0: 64
	Concurrency int           // concurrent requests per call; 0: 4
	Timeout     time.Duration // per try; 0: 1 minute
	MaxTries    int           // per request; 0: 10
	HTTPClient  *http.Client  // nil: a default client
	Governor    Governor      // nil: requests are not delayed, and only the number of tries is limited
}

const (
	defaultBatch            = 64 // many local servers accept at most a few hundred texts; larger batches gain little
	defaultConcurrency      = 4
	defaultEmbeddingTimeout = time.Minute
)

// Embedder computes vectors of texts with the embedding model of an OpenAI-compatible server. It retries like Client.
// It learns how many texts a server accepts per request and how long they may be. Make one per process, so that all
// calls share this. Safe for concurrent use.
//
// langchaingo's embedder returns vectors in the order in which they arrive, reads null as 0 and drops the token counts,
// so Embedder does without it.
type Embedder struct {
	role        *role
	name        string
	prefixes    prefixes
	concurrency int

	batch atomic.Int64 // maximum texts per request
	bytes atomic.Int64 // maximum bytes per text; 0: no limit known
	found atomic.Int64 // dimensions of the vectors so far; 0: none yet
}

// NewEmbedder validates the settings and returns an embedder. It opens no connection. The error lists all problems.
func NewEmbedder(s EmbedderSettings) (*Embedder, error) {
	settings, err := RoleSettings{Model: s.Model,
		BaseURL: strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(s.BaseURL), "/"), "/embeddings"),
		APIKey:  s.APIKey, MaxTries: s.MaxTries, Timeout: cmp.Or(s.Timeout, defaultEmbeddingTimeout)}.withDefaults()
	if s.Batch < 0 || s.Concurrency < 0 {
		err = errors.Join(err, errors.New("batch and concurrency must not be negative"))
	}
	if err != nil {
		return nil, fmt.Errorf("embedding settings: %w", err)
	}
	e := &Embedder{role: newRole("embedding", settings, exchanging(s.HTTPClient), s.Governor), name: s.Model,
		prefixes: prefixesOf(s.Model), concurrency: cmp.Or(s.Concurrency, defaultConcurrency)}
	e.batch.Store(int64(cmp.Or(s.Batch, defaultBatch)))
	return e, nil
}

// Model returns the model name.
func (e *Embedder) Model() string { return e.name }

// Embed returns one vector per text, in the same order and all of one length. texts are the texts to be searched:
// UTF-8, any number, none empty. A text that exceeds the model's window is embedded by its beginning. A text that the
// server refuses for its content has a nil vector.
//
// An error means that no vector is returned. It matches ErrPermanent or ErrUnavailable, or wraps context.Cause(ctx).
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	prefixed := make([]string, len(texts))
	for i, t := range texts {
		prefixed[i] = e.prefixes.document + t
	}
	out := make([][]float32, len(texts))
	refused := make([]error, len(texts))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(e.concurrency)
	for from := 0; from < len(texts); {
		to := min(from+int(e.batch.Load()), len(texts))
		part, into, refusals := prefixed[from:to], out[from:to], refused[from:to]
		group.Go(func() error {
			_, err := e.embedBatch(groupCtx, part, into, refusals, false)
			return err
		})
		from = to
	}
	if err := group.Wait(); err != nil {
		if ctx.Err() != nil {
			err = ended(ctx, e.doing(len(texts)))
		}
		return nil, err
	}
	if !slices.ContainsFunc(out, func(v []float32) bool { return v != nil }) {
		return out, cmp.Or(refused...)
	}
	return out, nil
}

// EmbedQuery returns the vector of a query for comparison with those of texts. Several models need to know which of
// the two a text is. Errors are those of Embed. If the server is known to be down, EmbedQuery fails at once, because
// a search also works with words.
func (e *Embedder) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	out := make([][]float32, 1)
	err := e.embedOne(ctx, e.prefixes.query+query, out, false)
	return out[0], err
}

func (e *Embedder) doing(n int) string {
	if n == 1 {
		return "embed a text with " + e.role.settings.Model
	}
	return fmt.Sprintf("embed %d texts with %s", n, e.role.settings.Model)
}

// request requests the vectors of texts in one request, with retries. patient: wait for a server that is down.
func (e *Embedder) request(ctx context.Context, texts []string, out [][]float32, patient bool) error {
	tokens := 0
	for _, t := range texts {
		tokens += EstimateTokens(t)
	}
	question := map[string]any{"model": e.name, "input": texts, "encoding_format": "float"}
	read := func(ex *wire.Exchange, _ string) error {
		vectors, err := wire.ReadEmbeddings(ex, len(texts))
		if err == nil && len(vectors) > 0 {
			err = e.agree(len(vectors[0]))
		}
		if err == nil {
			copy(out, vectors)
		}
		return err
	}
	return trial{
		call: topicqueue.Call{Tokens: tokens, Patient: patient}, doing: e.doing(len(texts)), most: e.role.settings.MaxTries,
		send: func(ctx context.Context) (outcome, *wire.Exchange, error) {
			ex, inTime := e.role.fetch(ctx, "/embeddings", question, e.role.settings.Timeout, "embeddings", read)
			what, err := e.role.judge(ex, inTime, nil)
			var said *ProviderError
			switch {
			case errors.Is(ex.Err, errDimensions),
				what == broken && errors.As(err, &said) && isTextTooLong(said): // llama.cpp answers 500
				what = refused
			}
			return what, ex, err
		},
	}.run(ctx, e.role)
}

// errDimensions marks well-formed vectors of the wrong length. Retrying will not help.
var errDimensions = errors.New("does the server use several models?")

// agree checks that all vectors have the same length.
func (e *Embedder) agree(dimensions int) error {
	if !e.found.CompareAndSwap(0, int64(dimensions)) && e.found.Load() != int64(dimensions) {
		return fmt.Errorf("returned vectors of %d dimensions, but earlier ones had %d: %w", dimensions, e.found.Load(),
			errDimensions)
	}
	return nil
}

// leastText is the size in bytes below which a text is not cut to fit a model's window, because every model accepts
// it.
const leastText = 128

// embedBatch embeds the texts of one batch. Servers limit the number of texts, their length, and sometimes their
// content, and refuse the whole batch. embedBatch then splits it until all acceptable texts have vectors. part: texts
// is a part of a split batch. whole reports whether one request was enough.
func (e *Embedder) embedBatch(ctx context.Context, texts []string, out [][]float32, refused []error,
	part bool) (whole bool, _ error) {
	if len(texts) == 1 {
		err := e.embedOne(ctx, texts[0], out, true)
		if err != nil && aboutTexts(err) { // a single refused text is not an error; its vector is nil
			refused[0] = err
			return false, nil
		}
		return err == nil, err
	}
	err := e.request(ctx, e.clipped(texts), out, true)
	if err == nil || !aboutTexts(err) {
		return err == nil, err
	}
	if !part && !isTooLong(err) {
		// If neither the first nor the last text is accepted alone, the refusal is not about single texts or their
		// number.
		last := len(texts) - 1
		if err := e.embedOne(ctx, texts[0], out, true); err != nil &&
			(!aboutTexts(err) || e.embedOne(ctx, texts[last], out[last:], true) != nil) {
			return false, err
		}
	}
	half := len(texts) / 2
	first, err := e.embedBatch(ctx, texts[:half], out[:half], refused[:half], true)
	if err != nil {
		return false, err
	}
	second, err := e.embedBatch(ctx, texts[half:], out[half:], refused[half:], true)
	if first && second { // the batch had too many texts
		e.batch.Store(min(e.batch.Load(), int64(len(texts)-half)))
	}
	return false, err
}

// embedOne embeds a text, or as much of its beginning as the server accepts. patient: see request.
func (e *Embedder) embedOne(ctx context.Context, text string, out [][]float32, patient bool) error {
	for text = e.clip(text); ; {
		err := e.request(ctx, []string{text}, out[:1], patient)
		if err == nil || len(text) <= leastText || !isTooLong(err) {
			return err
		}
		text = cut(text, len(text)*2/3)
		e.bytes.Store(int64(len(text)))
	}
}

func (e *Embedder) clipped(texts []string) []string {
	if e.bytes.Load() == 0 {
		return texts
	}
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = e.clip(t)
	}
	return out
}

func (e *Embedder) clip(text string) string {
	if limit := int(e.bytes.Load()); limit > 0 {
		return cut(text, limit)
	}
	return text
}

// cut returns the first size bytes of text, or slightly fewer so that no character is split.
func cut(text string, size int) string {
	if len(text) <= size {
		return text
	}
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}

// aboutTexts reports whether a refusal may be about the texts of a request, so that other texts may be accepted.
func aboutTexts(err error) bool {
	var said *ProviderError
	if !errors.Is(err, ErrPermanent) || !errors.As(err, &said) {
		return false
	}
	return said.Status == http.StatusBadRequest || said.Status == http.StatusRequestEntityTooLarge ||
		said.Status == http.StatusUnprocessableEntity || isTextTooLong(said)
}

func isTooLong(err error) bool {
	var said *ProviderError
	return errors.As(err, &said) && isTextTooLong(said)
}

// isTextTooLong also matches the error messages of embedding servers, which differ from those of chat servers.
func isTextTooLong(e *ProviderError) bool {
	words := strings.ToLower(e.Message)
	return isContextLength(e) || strings.Contains(words, "too large to process") ||
		strings.Contains(words, "input length exceeds") ||
		strings.Contains(words, "must have less than") // Text Embeddings Inference: "`inputs` must have less than 512 tokens"
}

// prefixes are the texts that a model expects before a query and before a document. Without them these models find
// markedly less; servers do not add them.
type prefixes struct{ query, document string }

const retrievalQuery = "Represent this sentence for searching relevant passages: "

// modelPrefixes is searched in order for a substring of the model's name. Source: the models' cards.
var modelPrefixes = []struct {
	name string
	prefixes
}{
	{"nomic-embed-text", prefixes{"search_query: ", "search_document: "}},
	{"e5-mistral", prefixes{"Instruct: Given a web search query, retrieve relevant passages that answer the " +
		"query\nQuery: ", ""}},
	{"e5-small", prefixes{"query: ", "passage: "}},
	{"e5-base", prefixes{"query: ", "passage: "}},
	{"e5-large", prefixes{"query: ", "passage: "}},
	{"mxbai-embed", prefixes{retrievalQuery, ""}},
	{"bge-small-en", prefixes{retrievalQuery, ""}},
	{"bge-base-en", prefixes{retrievalQuery, ""}},
	{"bge-large-en", prefixes{retrievalQuery, ""}},
	{"arctic-embed2", prefixes{"query: ", ""}},
	{"arctic-embed-l-v2", prefixes{"query: ", ""}},
	{"arctic-embed-m-v2", prefixes{"query: ", ""}},
	{"arctic-embed", prefixes{retrievalQuery, ""}},
	{"embeddinggemma", prefixes{"task: search result | query: ", "title: none | text: "}},
	{"qwen3-embedding",
		prefixes{"Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:", ""}},
}

func prefixesOf(model string) prefixes {
	model = strings.ToLower(model)
	for _, m := range modelPrefixes {
		if strings.Contains(model, m.name) {
			return m.prefixes
		}
	}
	return prefixes{}
}
