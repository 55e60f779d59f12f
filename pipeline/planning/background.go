package planning

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const (
	parallelLookups = 4   // parallel searches
	leadBytes       = 400 // bytes of a source used as the summary of its trace
)

// background searches the knowledge base, or the web if there is none, for background on the topic. Without a model, a
// tool or results, planning continues without background.
func (d *draft) background(ctx context.Context) error {
	if err := d.step(ctx, topicqueue.StepStartSearchBackground, "looking for background"); err != nil {
		return err
	}
	if d.Model == nil {
		return d.step(ctx, topicqueue.StepEndSearchBackground, "no model needs background: planning goes on without it")
	}
	if len(d.Collection) > 0 {
		return d.step(ctx, topicqueue.StepEndSearchBackground, "all documents are read, so none is searched")
	}
	enabled := d.Runner.Tools.Enabled(d.run.Options.Tools)
	tool, ok := enabled.Retrieval()
	if !ok {
		tool = tools.NameWebSearch
		_, ok = enabled.Lookup(tool)
	}
	if !ok {
		return d.step(ctx, topicqueue.StepEndSearchBackground,
			"no search of a knowledge base or of the web is enabled: planning continues without background")
	}
	queries, err := d.backgroundQueries(ctx)
	if err != nil {
		return err
	}
	answers, err := d.lookUp(ctx, tool, queries)
	if err != nil {
		return err
	}
	d.queries = queries
	failed := ""
	var returned []topicqueue.Returned
	for i, a := range answers {
		if r, ok := a.Returned(planToolID(i), tool, queries[i]); ok {
			returned = append(returned, r)
		}
		if a.Failed {
			failed = topicqueue.OneLine(a.Text)
			continue
		}
		d.keep(tool, i, queries[i], a)
	}
	if d.returned, err = d.Runner.PutReturned(ctx, d.run.ID, returned); err != nil {
		return err
	}
	switch {
	case len(d.traces) > 0:
		return d.step(ctx, topicqueue.StepEndSearchBackground, "%d queries, %d sources", len(queries), len(d.traces))
	case failed != "":
		return d.step(ctx, topicqueue.StepFailSearchBackground, "planning continues without background: %s",
			topicqueue.Clip(failed, maxReason))
	}
	return d.step(ctx, topicqueue.StepEndSearchBackground, "nothing found: planning continues without background")
}

// backgroundQueries returns the queries for background. In manual mode the model writes as many as sub-topics are
// wanted; the user's words are added if these miss the topic. Otherwise, and for a single sub-topic, the user's words
// are the only query.
func (d *draft) backgroundQueries(ctx context.Context) ([]string, error) {
	own := []string{questionOf(d.run.Topic)}
	if !d.manual() || d.wanted() == 1 {
		return own, nil
	}
	answer, err := llm.Ask[prompts.QueriesAnswer](ctx, d.Model, d.request(0, 0, prompts.Queries(d.run.Options.Language,
		prompts.QueriesData{Topic: d.topic, N: d.wanted()})))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil { // if the model is unusable, decompose reports it
		d.fallBack("queries: background was searched with the topic alone: %s",
			topicqueue.Clip(topicqueue.OneLine(err.Error()), maxReason))
		return own, nil
	}
	queries := cleanQueries(map[string]bool{}, answer.Queries, d.wanted())
	if len(queries) == 0 {
		d.fallBack("queries: background was searched with the topic alone: the model gave no query")
		return own, nil
	}
	// Queries that share no word with the topic are inventions of a weak model.
	if own := questionOf(d.run.Topic); text.Coverage(strings.Join(queries, "\n"), own) == 0 {
		queries = append([]string{own}, queries...)
	}
	return queries, nil
}

// lookUp sends all queries to the tool in parallel; answers[i] belongs to queries[i].
func (d *draft) lookUp(ctx context.Context, tool string, queries []string) ([]tools.Answer, error) {
	answers := make([]tools.Answer, len(queries))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallelLookups)
	for i, q := range queries {
		group.Go(func() (err error) {
			answers[i], err = d.Runner.Call(groupCtx, d.run.ID, tool, tools.Call{ToolID: planToolID(i), Query: q})
			if err != nil {
				return fmt.Errorf("search background with %s: %w", tool, err)
			}
			return nil
		})
	}
	return answers, group.Wait()
}

func planToolID(call int) string { return fmt.Sprintf("plan/1.%d", call+1) }

// keep adds a trace for every new source that is relevant to the topic or query.
func (d *draft) keep(tool string, call int, query string, a tools.Answer) {
	for _, s := range a.Sources {
		if d.has(s) || text.Coverage(s.Text, query+"\n"+d.run.Topic) == 0 {
			continue
		}
		d.traces = append(d.traces, topicqueue.ToolTrace{
			ToolID:                planToolID(call),
			CitationID:            topicqueue.PlanCitationID(len(d.traces) + 1),
			ToolType:              tool,
			Query:                 query,
			RawAnswer:             a.Raw,
			Summary:               lead(s.Text),
			Timestamp:             d.now(),
			RawAnswerTruncated:    a.Truncated,
			RawAnswerOriginalSize: a.OriginalSize,
			Source:                s,
			Claims:                []topicqueue.Claim{},
		})
	}
}

func (d *draft) has(s topicqueue.Source) bool {
	for _, t := range d.traces {
		if t.Source.ID == s.ID && s.ID != "" {
			return true
		}
	}
	return false
}

// lead returns the first sentences of a text, at least one, cut to leadBytes.
func lead(s string) string {
	end := 0
	for _, sentence := range text.Sentences(s) {
		if end > 0 && sentence.End > leadBytes {
			break
		}
		end = sentence.End
	}
	if end == 0 {
		end = len(s)
	}
	return topicqueue.Clip(topicqueue.OneLine(s[:end]), leadBytes)
}
