package researching

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/researching/recheck"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// The extractive form of the loop is used if there is no model or if it fails. It sends the block's planned queries to
// every search, opens the best web pages, and keeps the best passages unchanged.
const (
	maxOpenedPages = 3 // per web search

	// enoughShare is the minimum share of the best passage's score for a passage to be kept. The first passages answer
	// 86 of 114 questions with 0.5 and 0.6, and 84 with 0.7. With these values, passages on a wrong company or site are
	// kept for 3, 1 and 1 of 12 questions.
	enoughShare = 0.6

	// asking is the factor on the score of a passage that asks and does not answer. Its title is often the question.
	asking = 0.3
)

// decideExtractively plans the remaining queries. The evidence is sufficient if there are none.
func (w *work) decideExtractively(k int) decision {
	w.feedback = nil
	queries := w.block.Queries
	if len(queries) == 0 {
		queries = []string{w.block.Title}
	}
	calls := w.plannedCalls(k, queries, w.searches())
	return decision{
		sufficient: len(calls) == 0,
		calls:      calls,
		thought:    fmt.Sprintf("%d passages so far.", w.claims),
		extractive: true,
	}
}

// question is the text that passages must match: the topic in the user's words, and the block's title.
func (a *assignment) question() string { return a.run.Topic + "\n" + a.block.Title }

// bestPages returns calls that open the best results of web searches, because an engine's excerpt is not evidence. It
// opens more pages for a recurring topic, so that new content can be told from content that was not read.
func (w *work) bestPages(k int, d decision, outcomes []outcome) []recheck.Call {
	if _, ok := w.tools.Lookup(openPage); !ok || !d.extractive {
		return nil
	}
	most := maxOpenedPages
	if w.run.Options.Incremental {
		most = recheck.MaxOpened
	}
	l := w.callsAfter(k, outcomes)
	for _, o := range outcomes {
		if o.Tool != webSearch {
			continue
		}
		l.limit += most
		for _, s := range o.Answer.Sources {
			if strings.HasPrefix(s.URL, "http") {
				l.add(openPage, s.URL)
			}
		}
		l.limit = len(l.calls)
	}
	return l.calls[len(outcomes):]
}

// extract returns the passages that match the topic nearly as well as the best one. Each of their text blocks becomes a
// claim whose text is its quote. shares: result of bestShares.
func extract(sources []topicqueue.Source, pieces []recheck.Part, shares passageShares) []recheck.Finding {
	var found []recheck.Finding
	for _, p := range passagesOf(pieces) {
		share := shares.of(sources[p.Source], p)
		if share < enoughShare {
			continue
		}
		for _, b := range text.Blocks(p.Text) {
			found = append(found, recheck.Finding{
				Source: p.Source, Text: topicqueue.OneLine(p.Text[b.Start:b.End]), Start: p.At + b.Start,
				End: p.At + b.End, Share: share,
			})
		}
	}
	return found
}

// passagesOf splits pieces into passages, in order.
func passagesOf(pieces []recheck.Part) []recheck.Part {
	var out []recheck.Part
	for _, p := range pieces {
		for _, b := range text.Passages(p.Text, nil) {
			out = append(out, recheck.Part{Source: p.Source, At: p.At + b.Start, Text: p.Text[b.Start:b.End]})
		}
	}
	return out
}

// passageShares holds, by source, how well passages match the topic relative to the best one, 0 to 1.
type passageShares map[string][]passageShare

type passageShare struct {
	start, end int // byte offsets of the passage in the source's text
	share      float64
}

func (s passageShares) of(source topicqueue.Source, p recheck.Part) float64 {
	share := 0.0
	for _, known := range s[source.ID] {
		if known.start < p.At+len(p.Text) && p.At < known.end {
			share = max(share, known.share)
		}
	}
	return share
}

// bestShares ranks the results of calls. The scores of the knowledge base search are kept, and named items that
// were looked up get 1. Other passages are ranked together by their words (BM25). Excerpts of web searches are not
// ranked, because they are not evidence.
func (a *assignment) bestShares(outcomes []outcome) passageShares {
	shares := passageShares{}
	whole := func(s topicqueue.Source, share float64) {
		shares[s.ID] = append(shares[s.ID], passageShare{end: len(s.Text), share: share})
	}
	var docs []text.Document
	var ids []string
	var spans []passageShare
	for _, o := range outcomes {
		switch {
		case o.Tool == webSearch:
		case retrieval(o.Tool) && ranked(o.Answer.Sources):
			for i, share := range inOrder(o.Answer.Sources) {
				whole(o.Answer.Sources[i], share)
			}
		case o.Tool == queryItem:
			for _, s := range o.fresh {
				whole(s, 1)
			}
		default:
			for _, p := range passagesOf(cut(o.fresh, noteBytes)) {
				s := o.fresh[p.Source]
				docs = append(docs,
					text.Document{Heading: strings.Join(append([]string{s.Title}, s.Section...), "\n"), Text: p.Text})
				ids, spans = append(ids, s.ID), append(spans, passageShare{start: p.At, end: p.At + len(p.Text)})
			}
		}
	}
	scores := text.BM25(a.question(), docs)
	for i, d := range docs {
		if text.Asks(d.Text) {
			scores[i] *= asking
		}
	}
	best := slices.Max(append(scores, 0))
	for i, s := range scores {
		if s > 0 {
			spans[i].share = s / best
			shares[ids[i]] = append(shares[ids[i]], spans[i])
		}
	}
	return shares
}

// ranked reports whether a search scored its sources.
func ranked(sources []topicqueue.Source) bool {
	return slices.ContainsFunc(sources, func(s topicqueue.Source) bool { return s.Share > 0 })
}

// inOrder returns the shares of sources, sorted: the order of a knowledge base search is more than its scores.
func inOrder(sources []topicqueue.Source) []float64 {
	shares := make([]float64, len(sources))
	for i, s := range sources {
		shares[i] = s.Share
	}
	slices.SortFunc(shares, func(a, b float64) int { return cmp.Compare(b, a) })
	return shares
}
