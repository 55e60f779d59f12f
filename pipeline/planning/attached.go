package planning

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"nightdesk/pipeline/knowledge"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Attached provides the documents attached to a run; *knowledge.Base implements it.
type Attached interface {
	Documents(ctx context.Context) ([]knowledge.Document, error)
	Passages(ctx context.Context, key string) ([]topicqueue.Source, error)
}

const (
	summariesBytes = 4_000  // all summaries together, because every planning prompt includes them
	leastSummary   = 120    // minimum bytes per document
	excerptsBytes  = 24_000 // all excerpts together that the model summarizes
	shownHeadings  = 30     // headings per document in the prompt
	namedHeadings  = 6      // headings per document in a summary without the model
)

// Summarize returns the documents attached to a run, each with a summary of one paragraph. The model summarizes all of
// them in one call. Without it, a summary consists of the title, the beginning, headings and the passage most relevant
// to the topic.
//
// The error is the end of ctx (its cause is wrapped), or an error of reading the documents.
func (p *Planner) Summarize(ctx context.Context, run topicqueue.Run, from Attached) ([]topicqueue.Document, error) {
	documents, err := from.Documents(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the attached documents: %w", err)
	}
	texts := make([][]topicqueue.Source, len(documents))
	for i, d := range documents {
		if texts[i], err = from.Passages(ctx, d.Key); err != nil {
			return nil, fmt.Errorf("read the attached document %s: %w", d.Key, err)
		}
	}
	d := &draft{Planner: p, run: run, topic: topicqueue.OneLine(run.Topic)}
	written, err := d.askSummaries(ctx, documents, texts)
	if err != nil {
		return nil, err
	}
	out := make([]topicqueue.Document, len(documents))
	each := max(leastSummary, summariesBytes/max(1, len(documents)))
	for i, doc := range documents {
		summary := written[i+1]
		if summary == "" {
			summary = excerptSummary(doc, texts[i], run.Topic)
		}
		out[i] = topicqueue.Document{FileName: doc.Key, Summary: topicqueue.Clip(summary, each)}
	}
	return out, nil
}

// askSummaries returns the model's summaries by document number. It returns none without a model, or if the model
// fails; later planning steps then report the failure.
func (d *draft) askSummaries(ctx context.Context, documents []knowledge.Document,
	texts [][]topicqueue.Source) (map[int]string, error) {
	if d.Model == nil {
		return nil, nil
	}
	var answer prompts.SummarizeAnswer
	var err error
	for try := range decomposeShrink {
		data := prompts.SummarizeData{Topic: d.topic}
		each := excerptsBytes / max(1, len(documents)) >> try
		for i, doc := range documents {
			data.Documents = append(data.Documents, prompts.DocumentExcerpt{Number: i + 1, FileName: doc.Key, Title: doc.Title,
				Sections: headings(texts[i], shownHeadings), Text: beginning(texts[i], each)})
		}
		answer, err = llm.Ask[prompts.SummarizeAnswer](ctx, d.Model, d.request(0, try,
			prompts.Summarize(d.run.Options.Language, data)))
		if !errors.Is(err, llm.ErrContextLength) {
			break
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		zerolog.Ctx(ctx).Warn().Str("err", topicqueue.Clip(llm.Why(err), maxReason)).
			Msg("attached documents are summarized without the model")
		return nil, nil
	}
	written := map[int]string{}
	for _, s := range answer.Summaries {
		written[s.Document] = topicqueue.OneLine(prompts.Unmarked(s.Summary))
	}
	return written, nil
}

// headings returns the distinct headings of a document, at most most.
func headings(passages []topicqueue.Source, most int) []string {
	var out []string
	for _, p := range passages {
		for _, heading := range p.Section {
			if len(out) < most && !slices.Contains(out, heading) {
				out = append(out, heading)
			}
		}
	}
	return out
}

// beginning returns the beginning of a document, at most most bytes.
func beginning(passages []topicqueue.Source, most int) string {
	var b strings.Builder
	for _, p := range passages {
		if b.Len() >= most {
			break
		}
		b.WriteString(p.Text + "\n\n")
	}
	return topicqueue.Clip(strings.TrimSpace(b.String()), most)
}

// excerptSummary returns the summary of a document without a model.
func excerptSummary(doc knowledge.Document, passages []topicqueue.Source, topic string) string {
	if len(passages) == 0 {
		return doc.Title
	}
	parts := []string{doc.Title, lead(passages[0].Text)}
	if h := headings(passages, namedHeadings); len(h) > 0 {
		parts = append(parts, strings.Join(h, "; "))
	}
	docs := make([]text.Document, len(passages))
	for i, p := range passages {
		docs[i] = text.Document{Text: p.Text}
	}
	best, scores := 0, text.BM25(topic, docs)
	for i, score := range scores {
		if score > scores[best] {
			best = i
		}
	}
	if best > 0 {
		parts = append(parts, lead(passages[best].Text))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " | ")
}
