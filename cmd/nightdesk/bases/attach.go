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

// Attachment holds the documents of --attach, which belong only to the runs of this command. It is nil without
// documents.
type Attachment struct {
	of   *Bases
	base *knowledge.Base
	dir  string
}

// Attach reads and indexes files before anything is enqueued. The caller must close the result.
func (b *Bases) Attach(ctx context.Context, files []string) (*Attachment, error) {
	if len(files) == 0 {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "nightdesk-attach-*")
	if err != nil {
		return nil, fmt.Errorf("index the attached documents: %w", err)
	}
	a := &Attachment{of: b, dir: dir}
	if a.base, err = knowledge.Attach(ctx, dir, files); err != nil {
		_ = os.RemoveAll(dir)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, view.Usage(view.Hint(fmt.Errorf("--attach:\n%w", err),
			"Nothing was enqueued. "+extract.Readable+" can be attached."))
	}
	if err := b.embed(ctx, a.base, "attached documents", false, soonEmbedded); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// Close deletes the local index. Published documents stay in storage.
func (a *Attachment) Close() error {
	if a == nil {
		return nil
	}
	return errors.Join(a.base.Close(), os.RemoveAll(a.dir))
}

// Name returns a placeholder for the version when nothing is published, or "" without documents.
func (a *Attachment) Name() string {
	if a == nil {
		return ""
	}
	return knowledge.Attached
}

// Publish copies the documents to storage, from where workers on any machine fetch them. It returns the version for
// topicqueue.Options.Attached, or "" without documents.
func (a *Attachment) Publish(ctx context.Context) (string, error) {
	if a == nil {
		return "", nil
	}
	store, err := wiring.OpenWritableStore(ctx, a.of.cfg, a.of.con)
	if err != nil {
		return "", err
	}
	return knowledge.Publish(ctx, a.base, store)
}
