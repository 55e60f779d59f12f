package wiring

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"nightdesk/pipeline/knowledge"
	"nightdesk/storage"
)

// library caches the open knowledge bases of this process.
type library struct {
	dir      string
	store    storage.Store
	embedder knowledge.Embedder // nil: bases support word search only
	mu       sync.Mutex
	open     map[string]*knowledge.Base // by path
}

// Close closes all open knowledge bases.
func (l *library) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for path, b := range l.open {
		errs = append(errs, b.Close())
		delete(l.open, path)
	}
	return errors.Join(errs...)
}

// base opens a knowledge base of this machine or, if version is set, the published version that a run has pinned. A
// published version is downloaded if necessary.
func (l *library) base(ctx context.Context, name, version string) (*knowledge.Base, error) {
	var path string
	var err error
	if version != "" {
		path, err = knowledge.Fetch(ctx, l.store, l.dir, name, version)
	} else if path, err = knowledge.Path(l.dir, name); err == nil {
		if _, err = os.Stat(path); err != nil {
			err = fmt.Errorf("knowledge base %q is not on this machine (%s): create it with `nightdesk kb add "+
				"--name %s DIR`",
				name, path, name)
		}
	}
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if b := l.open[path]; b != nil {
		return b, nil
	}
	b, err := knowledge.Open(path)
	if err != nil {
		return nil, err
	}
	if l.embedder != nil {
		b.SetEmbedder(l.embedder)
	}
	l.open[path] = b
	return b, nil
}
