package reporting

import (
	"cmp"
	"context"
	"slices"
	"time"

	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/sources"
	"nightdesk/topicqueue"
)

// weighTime limits the time to read texts for the comparison of sources, so that the report does not wait. Copies of
// unread sources are detected only by hash and address.
const weighTime = 15 * time.Second

// weigh compares all claims of the run and finds support and contradictions among them.
func (w *writer) weigh(ctx context.Context, in Input) error {
	claims := evidence.Collect(in.Traces())
	sketches := w.sketches(ctx, evidence.Sources(claims))
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	w.weighed = evidence.Weigh(claims, sketches, w.review.Contradictions, reviewed(in))
	support := w.weighed.Support()
	for i := range w.claims {
		w.claims[i].support = support[w.claims[i].ID]
	}
	w.stats.Contradictions = len(w.weighed.Contradictions)
	said := map[string]string{}
	for i, words := range statementKeys(w.claims) {
		said[w.claims[i].ID] = words
	}
	for i := range w.weighed.Contradictions {
		c := &w.weighed.Contradictions[i]
		for _, side := range []*evidence.Side{&c.A, &c.B} {
			side.Citations = citedAs(side.Citations, w.cited)
			side.Statement = cmp.Or(said[side.Claims[0]], side.Statement)
		}
	}
	return nil
}

// reviewed returns the ids of the claims that the review covered. It excludes claims of later blocks and, if the run
// only has an earlier run's review, new claims.
func reviewed(in Input) map[string]bool {
	ids := map[string]bool{}
	for _, b := range in.Blocks {
		for _, t := range b.Traces {
			if in.Review.Earlier && t.Since == "" || !slices.Contains(in.Review.Blocks, b.Block.ID) {
				continue
			}
			for _, c := range t.Claims {
				ids[c.ID] = true
			}
		}
	}
	return ids
}

// matters returns the ids of the claims behind the report: those whose citation is used in their section.
func (w *writer) matters(sections []part) map[string]bool {
	ids := map[string]bool{}
	for _, s := range sections {
		for _, c := range w.citedOf(s) {
			ids[c.ID] = true
		}
	}
	return ids
}

// sketches returns sketches of the sources' texts by source id and keeps the texts. A text that cannot be read in time
// gives an empty sketch: its copies are detected only by hash and address.
func (w *writer) sketches(ctx context.Context, list []topicqueue.Source) map[string]sources.Sketch {
	read, texts := make([]sources.Sketch, len(list)), make([]string, len(list))
	w.readSources(ctx, weighTime, list, func(i int, text string, _ error) {
		read[i], texts[i] = sources.NewSketch(text), text
	})
	found := make(map[string]sources.Sketch, len(list))
	for i, s := range list {
		found[s.ID], w.read[s.ID] = read[i], texts[i]
	}
	return found
}
