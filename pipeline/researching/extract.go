package researching

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// The extractive form of the loop is what a block does when there is no model, or when one fails: it asks every search
// what the block was planned for, opens the best pages of the web, and keeps the passages that they return, whole.
const (
	maxOpenedPages = 3 // of one search of the web

	// enoughShare is the share of the best passage's score from which another one is shown beside it. Of 114 questions the
	// first passages answer 86 with 0.5 and 0.6, 84 with 0.7; passages on another company or site are shown for 3, 1 and 1
	// of 12.
	enoughShare = 0.6
)

// decideExtractively plans what is left to ask; the evidence suffices when that is nothing.
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

// question is what a passage must bear on: the topic in the user's words, of which a block is a part.
func (a *assignment) question() string { return a.run.Topic + "\n" + a.block.Title }

// bestPages are the calls that open what searches of the web have found, the best first: an engine's excerpt is no
// finding. Of a topic that is researched again and again they are more, so that what is new can be told from what was
// not read.
func (w *work) bestPages(k int, calls []call, outcomes []outcome) []call {
	if _, ok := w.tools.Lookup(openPage); !ok {
		return nil
	}
	most := maxOpenedPages
	if w.run.Options.Incremental {
		most = maxOpened
	}
	l := callList{w: w, k: k, asked: w.issued, calls: slices.Clone(calls), limit: len(calls)}
	for _, o := range outcomes {
		if o.tool != webSearch {
			continue
		}
		l.limit += most
		for _, s := range o.answer.Sources {
			if strings.HasPrefix(s.URL, "http") {
				l.add(openPage, s.URL)
			}
		}
		l.limit = len(l.calls)
	}
	return l.calls[len(calls):]
}

// extract keeps the passages that bear on the topic nearly as well as the best one, as claims that are their own
// quotes, one for each block. shares: of the passages, by bestShares.
func extract(o outcome, pieces []piece, shares passageShares) []finding {
	var found []finding
	for _, p := range passagesOf(pieces) {
		share := shares.of(o, p)
		if share < enoughShare {
			continue
		}
		for _, b := range text.Blocks(p.text) {
			found = append(found, finding{
				source: p.source, text: topicqueue.OneLine(p.text[b.Start:b.End]), start: p.at + b.Start,
				end: p.at + b.End, share: share,
			})
		}
	}
	return found
}

// passagesOf cuts what is longer than a passage into passages, in order.
func passagesOf(pieces []piece) []piece {
	var out []piece
	for _, p := range pieces {
		for _, b := range text.Passages(p.text, nil) {
			out = append(out, piece{source: p.source, at: p.at + b.Start, text: p.text[b.Start:b.End]})
		}
	}
	return out
}

// passageShares says how well passages of sources bear on the topic, 0 to 1, against the best one. By source.
type passageShares map[string][]passageShare

type passageShare struct {
	start, end int // of the passage, in the source's text
	share      float64
}

func (s passageShares) of(o outcome, p piece) float64 {
	share := 0.0
	for _, known := range s[o.fresh[p.source].ID] {
		if known.start < p.at+len(p.text) && p.at < known.end {
			share = max(share, known.share)
		}
	}
	return share
}

// bestShares ranks what calls have returned. A search of the knowledge base by words has done so; what an item's name
// found is what was asked for; all else is ranked together by its words (BM25); an engine's excerpt is no finding.
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
		case o.tool == webSearch:
		case retrieval(o.tool) && ranked(o.answer.Sources):
			for i, share := range inOrder(o.answer.Sources) {
				whole(o.answer.Sources[i], share)
			}
		case o.tool == queryItem:
			for _, s := range o.fresh {
				whole(s, 1)
			}
		default:
			for _, p := range passagesOf(cut(o.fresh, noteBytes)) {
				s := o.fresh[p.source]
				docs = append(docs,
					text.Document{Heading: strings.Join(append([]string{s.Title}, s.Section...), "\n"), Text: p.text})
				ids, spans = append(ids, s.ID), append(spans, passageShare{start: p.at, end: p.at + len(p.text)})
			}
		}
	}
	scores := text.BM25(a.question(), docs)
	best := slices.Max(append(scores, 0))
	for i, s := range scores {
		if s > 0 {
			spans[i].share = s / best
			shares[ids[i]] = append(shares[ids[i]], spans[i])
		}
	}
	return shares
}

// ranked reports whether a search has ranked its sources by words.
func ranked(sources []topicqueue.Source) bool {
	return slices.ContainsFunc(sources, func(s topicqueue.Source) bool { return s.Share > 0 })
}

// inOrder returns the shares of sources as a search of the knowledge base has ordered them: the order is the search's,
// in which vectors have a say, the values are those of the words. What words did not find counts among the first two,
// when they found anything.
func inOrder(sources []topicqueue.Source) []float64 {
	var values []float64
	for _, s := range sources {
		if s.Share > 0 {
			values = append(values, s.Share)
		}
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Compare(b, a) })
	shares := make([]float64, len(sources))
	next := 0
	for i, s := range sources {
		if s.Share > 0 || i < 2 {
			shares[i] = values[min(next, len(values)-1)]
			next++
		}
	}
	return shares
}
