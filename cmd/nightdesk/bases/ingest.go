package bases

import (
	"context"
	"errors"
	"fmt"
	"os"

	"nightdesk/cmd/nightdesk/view"
	"nightdesk/cmd/nightdesk/wiring"
	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/knowledge/extract"
)

// Ingest indexes paths into the named knowledge base and embeds new passages if there is an embedding model. It reports
// progress. reembed recomputes all vectors.
func (b *Bases) Ingest(ctx context.Context, name string, paths []string, reembed bool) (knowledge.Report, error) {
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
	return rep, b.embed(ctx, base, name, reembed)
}

// SoleURL reports whether exactly one item was skipped and it is a web page; the error then gives the reason.
func SoleURL(rep knowledge.Report) bool {
	return len(rep.Skipped) == 1 && knowledge.IsURL(rep.Skipped[0].Document)
}

// embed computes missing vectors. An unavailable server is not an error, because search by words still works.
func (b *Bases) embed(ctx context.Context, base *knowledge.Base, name string, again bool) error {
	embedder, err := wiring.NewEmbedder(b.cfg, nil)
	if err != nil || embedder == nil {
		return err
	}
	base.SetEmbedder(embedder)
	bar := view.NewBar(b.con, "embedding "+name)
	done, err := base.Embed(ctx, again, func(done, total int) { bar.Set(done, total, "") })
	bar.End()
	if ctx.Err() != nil || errors.Is(err, knowledge.ErrModel) {
		return err
	}
	if err != nil {
		b.con.Say("%d passages of %s have no vector and are searched by words; run kb add again: %v", done.Missing, name, err)
	}
	return nil
}
