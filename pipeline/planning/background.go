package planning

import (
	"context"
	"fmt"
	"strings"

	"nightdesk/pipeline/text"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

const leadBytes = 400 // bytes of a source used as the summary of its trace

// background searches the knowledge base, or the web if there is none, for the topic in the user's words. Without a
// model, a tool or results, planning continues without background.
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
	query := questionOf(d.run.Topic)
	answer, err := d.Runner.Call(ctx, d.run.ID, tool, tools.Call{ToolID: backgroundCall, Query: query})
	if err != nil {
		return fmt.Errorf("search background with %s: %w", tool, err)
	}
	d.queries = []string{query}
	if r, ok := answer.Returned(backgroundCall, tool, query); ok {
		if d.returned, err = d.Runner.PutReturned(ctx, d.run.ID, []topicqueue.Returned{r}); err != nil {
			return err
		}
	}
	if answer.Failed {
		return d.step(ctx, topicqueue.StepFailSearchBackground, "planning continues without background: %s",
			topicqueue.Clip(topicqueue.OneLine(answer.Text), maxReason))
	}
	if d.keep(tool, query, answer); len(d.traces) == 0 {
		return d.step(ctx, topicqueue.StepEndSearchBackground, "nothing found: planning continues without background")
	}
	return d.step(ctx, topicqueue.StepEndSearchBackground, "%d sources", len(d.traces))
}

// backgroundCall is the id of the search for background.
const backgroundCall = "plan/1.1"

// keep adds a trace for every source that is relevant to the topic.
func (d *draft) keep(tool, query string, a tools.Answer) {
	for _, s := range a.Sources {
		about := strings.Join(append(s.Section, s.Title, s.Text), "\n")
		if text.Coverage(about, query) == 0 {
			continue
		}
		d.traces = append(d.traces, topicqueue.ToolTrace{
			ToolID:                backgroundCall,
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
