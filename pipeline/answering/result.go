package answering

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/report"
	"nightdesk/pipeline/researching"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

const (
	statementBytes = 600 // maximum bytes of a paragraph that is quoted whole
	// Limits of quotes that replace a missing answer: minimum share of the best score, quotes per source, and quotes in
	// total.
	enoughShare  = 0.6
	sourceQuotes = 3
	allQuotes    = 12
)

// registry returns a registry of the sources shown.
func (r *lookups) registry() *citation.Registry {
	traces := make([]topicqueue.ToolTrace, len(r.sources))
	for i, s := range r.sources {
		traces[i] = r.trace(s)
	}
	return citation.NewRegistry(traces)
}

func (r *lookups) trace(s source) topicqueue.ToolTrace {
	o := r.outcomes[s.outcome]
	return topicqueue.ToolTrace{
		ToolID: o.id, CitationID: s.id, ToolType: o.tool, Query: o.query, RawAnswer: o.answer.Raw, Timestamp: r.now(),
		RawAnswerTruncated: o.answer.Truncated, RawAnswerOriginalSize: o.answer.OriginalSize, BlockID: r.block.ID,
		Iteration: o.turn, Source: s.Source, Claims: []topicqueue.Claim{},
	}
}

// result builds the result of the conversation.
func (w *work) result(ctx context.Context, answer, why string) (Result, error) {
	r := Result{Text: answer, Why: why, Away: w.away, Failures: w.failures, Turns: w.asked, Calls: w.calls}
	quotes := w.quotesOf(answer)
	if answer == "" {
		quotes = w.bestQuotes()
	}
	var findings []topicqueue.Finding
	for i, s := range w.sources {
		if len(quotes[i]) == 0 {
			continue
		}
		t := w.trace(s)
		for n, q := range quotes[i] {
			quote := s.Text[q.Start:q.End]
			t.Claims = append(t.Claims, topicqueue.Claim{ID: fmt.Sprintf("%s.%d", s.id, n+1), CitationID: s.id,
				SourceID: s.ID, Text: topicqueue.OneLine(quote), Quote: quote, Start: q.Start, End: q.End, Share: q.share})
		}
		if w.run.Options.Pictures {
			if err := w.Runner.Illustrate(ctx, w.run.ID, w.outcomes[s.outcome].answer.Pictures, &t); err != nil {
				return r, fmt.Errorf("fetch pictures for %s: %w", t.ToolID, err)
			}
		}
		t.Summary = topicqueue.Clip(t.Claims[0].Text, maxQuery)
		r.Traces = append(r.Traces, t)
		findings = append(findings, topicqueue.Finding{CitationID: s.id, Text: topicqueue.Clip(t.Claims[0].Text, maxLine),
			Source: s.Title})
	}
	cp := topicqueue.Checkpoint{Iteration: 1, Traces: r.Traces, Calls: map[string]topicqueue.ToolCalls{},
		Events: researching.References(w.block, w.block.ID, 0, r.Traces),
		Digest: topicqueue.Digest{Findings: findings, Claims: len(findings)}}
	cp.Memory.Answer, cp.Memory.Failures = answer, w.failures
	var returned []topicqueue.Returned
	for _, o := range w.outcomes {
		if !o.made {
			continue
		}
		cp.Queries = append(cp.Queries, o.tool+": "+topicqueue.OneLine(o.query))
		n := cp.Calls[o.tool]
		n.Asked++
		if o.answer.Shared {
			n.Shared++
		}
		cp.Calls[o.tool] = n
		if ret, ok := o.answer.Returned(o.id, o.tool, o.query); ok && o.problem == "" {
			returned = append(returned, ret)
		}
	}
	var err error
	cp.Returned, err = w.Runner.PutReturned(ctx, w.run.ID, returned)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	r.checkpoint = cp
	return r, err
}

// quote is a span of a source's text.
type quote struct {
	text.Block
	share float64 // see topicqueue.Claim
}

// quotesOf returns the likely evidence of the answer by source: the passages most similar to the citing sentences. A
// cited source has at least one, unless it has no text.
func (r *lookups) quotesOf(answer string) [][]quote {
	out := make([][]quote, len(r.sources))
	body, _, _ := r.registry().Resolve(answer)
	blocks := report.Parse(body)
	cited := report.Cited(blocks) // also by a heading, which is no statement
	statements := report.Statements(blocks)
	for i, s := range r.sources {
		if !slices.Contains(cited, s.id) {
			continue
		}
		var citing []string
		for _, statement := range statements {
			if slices.Contains(statement.IDs(), s.id) {
				citing = append(citing, statement.Text())
			}
		}
		pieces := piecesOf(s.Text)
		index := text.NewIndex(documentsOf(s.Text, pieces))
		var kept []int
		for _, sentence := range citing {
			if at := best(index.BM25(sentence)); at >= 0 && !slices.Contains(kept, at) {
				kept = append(kept, at)
			}
		}
		slices.Sort(kept)
		for _, at := range kept {
			out[i] = append(out[i], quote{Block: pieces[at]})
		}
		if len(kept) == 0 && len(pieces) > 0 {
			out[i] = []quote{{Block: pieces[0]}}
		}
	}
	return out
}

// bestQuotes returns the passages of all sources most relevant to the question, by source. They replace a missing
// answer.
func (r *lookups) bestQuotes() [][]quote {
	out := make([][]quote, len(r.sources))
	type place struct {
		source int
		piece  text.Block
	}
	var places []place
	var docs []text.Document
	for i, s := range r.sources {
		pieces := piecesOf(s.Text)
		for n, d := range documentsOf(s.Text, pieces) {
			places, docs = append(places, place{i, pieces[n]}), append(docs, d)
		}
	}
	scores := text.BM25(r.topic, docs)
	order := make([]int, len(places))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	kept := 0
	for _, i := range order {
		p := places[i]
		if scores[i] <= 0 || scores[i] < enoughShare*scores[order[0]] || kept == allQuotes {
			break
		}
		if len(out[p.source]) < sourceQuotes {
			out[p.source] = append(out[p.source], quote{p.piece, scores[i] / scores[order[0]]})
			kept++
		}
	}
	for _, quotes := range out {
		slices.SortFunc(quotes, func(a, b quote) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out
}

// piecesOf splits a text into quotable pieces: paragraphs, and the sentences or rows of long ones.
func piecesOf(s string) []text.Block {
	var out []text.Block
	for _, b := range text.Blocks(s) {
		if b.End-b.Start <= statementBytes {
			out = append(out, b)
			continue
		}
		sentences := text.Sentences(s[b.Start:b.End])
		for _, sentence := range sentences {
			out = append(out, text.Block{Start: b.Start + sentence.Start, End: b.Start + sentence.End})
		}
		if len(sentences) == 0 {
			for _, p := range text.Passages(s[b.Start:b.End], nil) {
				out = append(out, text.Block{Start: b.Start + p.Start, End: b.Start + p.End})
			}
		}
	}
	return out
}

func documentsOf(s string, pieces []text.Block) []text.Document {
	docs := make([]text.Document, len(pieces))
	for i, p := range pieces {
		docs[i].Text = s[p.Start:p.End]
	}
	return docs
}

// best returns the index of the highest positive score, or -1.
func best(scores []float64) int {
	at, most := -1, 0.0
	for i, s := range scores {
		if s > most {
			at, most = i, s
		}
	}
	return at
}
