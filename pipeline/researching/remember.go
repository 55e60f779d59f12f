package researching

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nightdesk/pipeline/recurring"
	"nightdesk/topicqueue"
)

// remember reads whole pages and documents that the block cites only from search results, so that the next run can
// compare them. It applies to recurring topics only and makes no model call. It returns the hash of the calls' results,
// see topicqueue.Checkpoint.
func (w *work) remember(ctx context.Context, memory *recurring.Memory) (returned string, err error) {
	if !w.run.Options.Incremental {
		return "", nil
	}
	_, opens := w.tools.Lookup(openPage)
	done := map[string]bool{}
	for _, t := range w.traces {
		if t.ToolType == openPage || t.ToolType == recurring.ReadDocument || len(t.Withdrawn) > 0 {
			done[recurring.PageKey(t.Source)] = true
		}
	}
	var read []outcome
	for _, t := range w.traces {
		key := recurring.PageKey(t.Source)
		if done[key] || memory != nil && memory.Pages[key].Opened {
			continue
		}
		if !w.SoftLimit.IsZero() && time.Now().After(w.SoftLimit) {
			break
		}
		done[key] = true
		o := outcome{call: call{id: fmt.Sprintf("%s/open.%d", w.block.ID, len(read)+1), tool: openPage, query: t.Source.URL}}
		switch {
		case t.Source.Kind == topicqueue.SourceDocument && w.Documents != nil:
			o.tool, o.query = recurring.ReadDocument, t.Source.Document
			whole, _, err := wholeDocument(ctx, w.Documents, t.Source.Document)
			if err == nil {
				o.answer.Sources = []topicqueue.Source{whole}
				err = w.Runner.Pages.PutPage(ctx, w.run.ID, whole.Hash, whole.Text)
			}
			if ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // the document may have been removed
				return "", fmt.Errorf("read document %q for the next run: %w", t.Source.Document, err)
			}
		case t.Source.Kind == topicqueue.SourceWeb && opens && !w.own.has(openPage, t.Source.URL):
			if o, err = w.make(ctx, w.run.ID, o.call); ctx.Err() != nil {
				return "", context.Cause(ctx)
			}
			if err != nil {
				return "", err
			}
		default:
			continue
		}
		read = append(read, o)
	}
	return w.putReturned(ctx, read)
}
