package wiring

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"nightdesk/config"
	"nightdesk/pipeline/knowledge/e5"
)

// MeaningFile returns the path of the weights of the built-in embedding model.
func MeaningFile(cfg config.Config) string {
	return filepath.Join(cfg.DataDir, "multilingual-e5-small-q4.bin")
}

// meaning is the built-in embedding model. Its weights are fetched when they are first needed; without them, knowledge
// bases are searched by words.
type meaning struct {
	path string
	mu   sync.Mutex
	last *loading // the last try to load the model; nil: none
}

// loading is one try to load the model. It goes on when a caller stops waiting, so that the next one finds it done.
type loading struct {
	done  chan struct{} // closed at the end
	ended time.Time
	model *e5.Model
	err   error
}

// fetchAgain is how long a failed try to fetch the weights answers for the next ones, so that a machine without
// internet access is not held up by each search.
const fetchAgain = 10 * time.Minute

// meaningOf returns the built-in model of this process.
func meaningOf(cfg config.Config) *meaning {
	m, _ := meaningModels.LoadOrStore(MeaningFile(cfg), &meaning{path: MeaningFile(cfg)})
	return m.(*meaning)
}

var meaningModels sync.Map // by path: commands open knowledge bases more than once, and the weights take 110 MB

// Model implements knowledge.Embedder.
func (m *meaning) Model() string { return "multilingual-e5-small" }

// EmbedQuery implements knowledge.Embedder.
func (m *meaning) EmbedQuery(ctx context.Context, query string) ([]float32, error) {
	model, err := m.load(ctx)
	if err != nil {
		return nil, err
	}
	return model.Query(query), nil
}

// Embed implements knowledge.Embedder. It uses all processors.
func (m *meaning) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	model, err := m.load(ctx)
	if err != nil {
		return nil, err
	}
	vectors := make([][]float32, len(texts))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(texts)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(texts) && ctx.Err() == nil; i = next.Add(1) - 1 {
				vectors[i] = model.Passage(texts[i])
			}
		})
	}
	workers.Wait()
	return vectors, context.Cause(ctx)
}

// load returns the model, and fetches its weights first if they are missing.
func (m *meaning) load(ctx context.Context) (*e5.Model, error) {
	m.mu.Lock()
	l := m.last
	if l == nil || l.failed() && time.Since(l.ended) > fetchAgain {
		l = &loading{done: make(chan struct{})}
		m.last = l
		go l.run(context.WithoutCancel(ctx), m.path)
	}
	m.mu.Unlock()
	select {
	case <-l.done:
		return l.model, l.err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the embedding model: %w", context.Cause(ctx))
	}
}

func (l *loading) failed() bool {
	select {
	case <-l.done:
		return l.err != nil
	default:
		return false
	}
}

func (l *loading) run(ctx context.Context, path string) {
	defer close(l.done)
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
			err = e5.Fetch(ctx, e5.Weights, path)
		}
	}
	if err == nil {
		l.model, err = e5.Open(path)
	}
	if err != nil {
		l.err = fmt.Errorf("the embedding model (%d MB, fetched once from %s): %w; EMBEDDING_MODEL=none does without it",
			e5.Weights.Compressed>>20, e5.Weights.Host(), err)
	}
	l.ended = time.Now()
}
