package bases

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/extract"
)

// Ingest indexes paths into the named knowledge base, which can then be searched. It reports progress.
func (b *Bases) Ingest(ctx context.Context, name string, paths []string) (knowledge.Report, error) {
	for _, p := range paths {
		var err error
		if knowledge.IsURL(p) {
			_, err = knowledge.PageKey(p)
		} else {
			_, err = os.Stat(p)
		}
		if err != nil {
			return knowledge.Report{}, view.Usage(fmt.Errorf("knowledge base %s: %w", name, err))
		}
	}
	path, err := knowledge.Path(b.Dir, name)
	if err != nil {
		return knowledge.Report{}, view.Usage(err)
	}
	if err := b.update(ctx, name); err != nil {
		return knowledge.Report{}, err
	}
	b.names = nil
	_, statErr := os.Stat(path)
	base, err := knowledge.Create(path)
	if err != nil {
		return knowledge.Report{}, fmt.Errorf("make knowledge base %s: %w", name, err)
	}
	defer base.Close()
	download, err := wiring.NewDownloader(b.cfg, paths)
	if err != nil {
		return knowledge.Report{}, err
	}
	base.SetDownloader(download)
	bar := view.NewBar(b.con, "indexing "+name)
	rep, err := base.Ingest(ctx, paths, func(done, total int, document string) { bar.Set(done, total, document) })
	bar.End()
	if errors.Is(err, knowledge.ErrEmpty) {
		if statErr != nil { // just created
			err = errors.Join(err, knowledge.Remove(b.Dir, name))
		}
		if SoleURL(rep) {
			return rep, err
		}
		return rep, view.Hint(err, extract.Readable+" can be read; give a directory that contains some.")
	}
	if err != nil {
		return rep, fmt.Errorf("index into knowledge base %s: %w", name, err)
	}
	return rep, nil
}

// SoleURL reports whether exactly one item was skipped and it is a web page; the error then gives the reason.
func SoleURL(rep knowledge.Report) bool {
	return len(rep.Skipped) == 1 && knowledge.IsURL(rep.Skipped[0].Document)
}

// soonEmbedded is how long a command that does something else than indexing makes vectors before it goes on. The rest
// are made when a search finds their passages.
const soonEmbedded = 5 * time.Second

// longestFetch is how long a command waits for the weights of the built-in model.
const longestFetch = 2 * time.Minute

// Embed makes the missing vectors of a knowledge base, or all again. An unavailable model is not an error, because
// search by words still works.
func (b *Bases) Embed(ctx context.Context, name string, again bool) error {
	return b.With(ctx, name, func(base *knowledge.Base) error { return b.embed(ctx, base, name, again, 0) })
}

// embed makes missing vectors for at most a time; 0: no limit.
func (b *Bases) embed(ctx context.Context, base *knowledge.Base, name string, again bool, most time.Duration) error {
	embedder, err := wiring.NewEmbedder(b.cfg, nil)
	if err != nil || embedder == nil {
		return err
	}
	base.SetEmbedder(embedder)
	if _, err := os.Stat(wiring.MeaningFile(b.cfg)); errors.Is(err, fs.ErrNotExist) && !b.cfg.Embedding.Enabled() {
		b.con.Say("fetching the model of the search by meaning, once")
		fetching, cancel := context.WithTimeout(ctx, longestFetch)
		defer cancel()
		if _, err := embedder.EmbedQuery(fetching, "ready"); err != nil {
			b.con.Say("%s is searched by words only: %v", name, err)
			return context.Cause(ctx)
		}
	}
	limited := ctx
	if info, err := base.Info(ctx); most == 0 && err == nil && (again || info.Embedding.Missing > 0) {
		b.con.Say("%s can be searched now; its vectors follow, and a stop keeps those that are made", name)
	}
	if most > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, most)
		defer cancel()
	}
	bar := view.NewBar(b.con, "embedding "+name)
	done, err := base.Embed(limited, again, func(done, total int) { bar.Set(done, total, "") })
	bar.End()
	switch {
	case ctx.Err() != nil, errors.Is(err, knowledge.ErrModel):
		return err
	case err != nil && limited.Err() == nil:
		b.con.Say("%d passages of %s have no vector and are searched by words; run kb add again: %v", done.Missing, name, err)
	}
	return nil
}
