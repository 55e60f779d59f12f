package researching

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/researching/recheck"
	"nightdesk/topicqueue"
)

// record builds the traces of an iteration: one per source with a new claim, in the order of calls and their sources.
// It drops claims that the block already has.
func (w *work) record(k int, outcomes []outcome, notes []note) []topicqueue.ToolTrace {
	var traces []topicqueue.ToolTrace
	texts := map[string]bool{} // new in this iteration
	seq := w.lastSeq
	for i, o := range outcomes {
		bySource := make([][]recheck.Finding, len(o.fresh))
		for _, f := range notes[i].found {
			key := recheck.FoldedText(f.Text)
			if w.texts[key] || texts[key] {
				continue
			}
			texts[key] = true
			bySource[f.Source] = append(bySource[f.Source], f)
		}
		for n, found := range bySource {
			orders := notes[i].ordersIn(n)
			if len(found)+len(orders) == 0 {
				continue
			}
			seq++
			t := w.trace(k, topicqueue.BlockCitationID(w.block.Number(), seq), o, o.fresh[n], notes[i].summary, found)
			t.Orders = orders
			traces = append(traces, t)
		}
		if len(o.fresh) > 0 && len(notes[i].found) == 0 {
			w.tell("%s for %q returned %d new sources, and no claim was noted from them", o.Tool, o.name(), len(o.fresh))
		}
	}
	return traces
}

// ordersIn returns the orders to assistants in a source.
func (n note) ordersIn(source int) (words []string) {
	for _, o := range n.orders {
		if o.source == source && !slices.Contains(words, o.words) {
			words = append(words, o.words)
		}
	}
	return words
}

func (w *work) trace(
	k int, id string, o outcome, s topicqueue.Source, summary string, found []recheck.Finding,
) topicqueue.ToolTrace {
	t := topicqueue.ToolTrace{
		ToolID:                o.ID,
		ToolType:              o.Tool,
		Query:                 o.Query,
		RawAnswer:             o.Answer.Raw,
		Summary:               summary,
		Timestamp:             w.now(),
		RawAnswerTruncated:    o.Answer.Truncated,
		RawAnswerOriginalSize: o.Answer.OriginalSize,
		BlockID:               w.block.ID,
		Iteration:             k,
		Source:                s,
		Claims:                make([]topicqueue.Claim, len(found)),
	}
	for i, f := range found {
		t.Claims[i] = topicqueue.Claim{
			SourceID: s.ID,
			Text:     f.Text,
			Quote:    s.Text[f.Start:f.End],
			Start:    f.Start,
			End:      f.End,
			Share:    f.Share,
			Block:    f.Block,
		}
	}
	return numbered(t, id)
}

// numbered returns a trace with a citation id, from which its claims have theirs.
func numbered(t topicqueue.ToolTrace, id string) topicqueue.ToolTrace {
	t.CitationID, t.Claims = id, slices.Clone(t.Claims)
	for i := range t.Claims {
		t.Claims[i].ID, t.Claims[i].CitationID = fmt.Sprintf("%s.%d", id, i+1), id
	}
	return t
}

// illustrate adds pictures to the sources of traces, where they belong to a claim.
func (w *work) illustrate(ctx context.Context, traces []topicqueue.ToolTrace, outcomes []outcome) error {
	if !w.run.Options.Pictures {
		return nil
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(illustrated)
	for i, t := range traces {
		at := slices.IndexFunc(outcomes, func(o outcome) bool { return o.ID == t.ToolID })
		group.Go(func() error {
			if err := w.Runner.Illustrate(groupCtx, w.run.ID, outcomes[at].Answer.Pictures, &traces[i]); err != nil {
				return fmt.Errorf("fetch pictures for %s: %w", t.ToolID, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// illustrated is the number of pages whose pictures are fetched in parallel, so that a slow site delays only its own
// page.
const illustrated = 4

// citationSeq returns the sequence number of a citation id, such as 2 for CIT-3-02, or 0 for another form.
func citationSeq(id string) int {
	_, last, _ := strings.Cut(strings.TrimPrefix(id, "CIT-"), "-")
	n, err := strconv.Atoi(last)
	if err != nil {
		return 0
	}
	return n
}
