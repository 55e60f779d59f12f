package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
	var refusal firstError
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(e.concurrency)
	for from := 0; from < len(texts); {
		to := min(from+int(e.batch.Load()), len(texts))
		part, into := prefixed[from:to], out[from:to]
		group.Go(func() error {
			_, err := e.embedBatch(groupCtx, part, into, &refusal, false)
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
	if err := refusal.err; err != nil && !anyVector(out) {
		return nil, err
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

// firstError keeps the first error passed to set.
type firstError struct {
	once sync.Once
	err  error
}

func (f *firstError) set(err error) { f.once.Do(func() { f.err = err }) }

func anyVector(vectors [][]float32) bool {
	for _, v := range vectors {
		if v != nil {
			return true
		}
	}
	return false
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
