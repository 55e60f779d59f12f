package recheck

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"nightdesk/pipeline/recurring"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// Remember reads whole pages and documents that traces cite only from search results, so that the next run can compare
// them. It makes no model call. asked reports whether the block has already requested an address; until: time after
// which nothing more is read, zero: never.
func (n *Night) Remember(
	ctx context.Context, traces []topicqueue.ToolTrace, asked func(address string) bool, until time.Time,
) (read []Result, err error) {
	_, opens := n.Tools.Lookup(tools.NameOpenPage)
	done := map[string]bool{}
	for _, t := range traces {
		if t.ToolType == tools.NameOpenPage || t.ToolType == recurring.ReadDocument || len(t.Withdrawn) > 0 {
			done[recurring.PageKey(t.Source)] = true
		}
	}
	for _, t := range traces {
		key := recurring.PageKey(t.Source)
		if done[key] || n.Memory != nil && n.Memory.Pages[key].Opened {
			continue
		}
		if !until.IsZero() && time.Now().After(until) {
			break
		}
		done[key] = true
		o := Result{Call: Call{
			ID: fmt.Sprintf("%s/open.%d", n.Block.ID, len(read)+1), Tool: tools.NameOpenPage, Query: t.Source.URL,
		}}
		switch {
		case t.Source.Kind == topicqueue.SourceDocument && n.Documents != nil:
			o.Tool, o.Query = recurring.ReadDocument, t.Source.Document
			err = n.rememberDocument(ctx, &o)
		case t.Source.Kind == topicqueue.SourceWeb && opens && !asked(t.Source.URL):
			var made []Result
			if made, err = Make(ctx, n.Runner, n.Run.ID, []Call{o.Call}, 1); err == nil {
				o = made[0]
			}
		default:
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, err
		}
		read = append(read, o)
	}
	return read, nil
}

// rememberDocument stores the text of a document. The document may have been removed.
func (n *Night) rememberDocument(ctx context.Context, o *Result) error {
	whole, _, err := wholeDocument(ctx, n.Documents, o.Query)
	if err == nil {
		o.Answer.Sources = []topicqueue.Source{whole}
		err = n.Runner.Pages.PutPage(ctx, n.Run.ID, whole.Hash, whole.Text)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read document %q for the next run: %w", o.Query, err)
	}
	return nil
}
