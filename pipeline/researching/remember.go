package researching

import (
	"context"
	"fmt"
	"time"

	"nightdesk/pipeline/recurring"
	"nightdesk/topicqueue"
)

// remember opens the pages that the block cites from searches alone, so that the next run knows what else stood there and asks
// for them by their version. Only for topics that are researched again; it costs no model call. The result names what the calls
// have returned, see topicqueue.Checkpoint.
func (w *work) remember(ctx context.Context, memory *recurring.Memory) (returned string, err error) {
	_, ok := w.tools.Lookup(openPage)
	if w.Keep == nil || !ok {
		return "", nil
	}
	done := map[string]bool{}
	var opened []outcome
	for _, t := range w.traces {
		key := recurring.PageKey(t.Source)
		if t.ToolType == openPage {
			done[key] = true
		}
	}
	for _, t := range w.traces {
		key := recurring.PageKey(t.Source)
		if memory != nil && memory.Pages[key].Opened || done[key] || w.own.has(openPage, t.Source.URL) || t.Source.Kind != topicqueue.SourceWeb || len(t.Withdrawn) > 0 {
			continue
		}
		if !w.SoftLimit.IsZero() && time.Now().After(w.SoftLimit) {
			break
		}
		done[key] = true
		o, err := w.make(ctx, call{id: fmt.Sprintf("%s/open.%d", w.block.ID, len(opened)+1), tool: openPage, query: t.Source.URL}, false, nil)
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil {
			return "", err
		}
		opened = append(opened, o)
	}
	return w.putReturned(ctx, opened)
}
