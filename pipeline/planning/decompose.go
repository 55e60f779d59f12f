package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const (
	// passageBytes is the maximum size of the background in the decompose prompt: about 2,500 tokens of English. With
	// instructions and answer it fits a window of 8,192 tokens. For a smaller window it is halved, then omitted.
	passageBytes    = 10_000
	starterQueries  = 4 // per sub-topic; iterations add more
	decomposeShrink = 3
)

// subTopics decomposes the topic. The result is reported to watchers when the plan is committed or the run has failed.
func (d *draft) subTopics(ctx context.Context) error {
	if err := d.step(ctx, topicqueue.StepStartResearchPlanner, "cutting the topic into at most %d sub-topics",
		d.wanted()); err != nil {
		return err
	}
	return d.decompose(ctx)
}

func (d *draft) decompose(ctx context.Context) error {
	var planned []topicqueue.SubTopic
	switch {
	case len(d.Collection) > 0 && d.wanted() == 1: // nothing is to be divided, and no query is needed
		planned = []topicqueue.SubTopic{whole(d.run.Topic)}
	case d.Model != nil:
		answer, err := d.askDecompose(ctx)
		switch {
		case err == nil:
			planned = d.checked(answer.SubTopics)
			if len(planned) == 0 {
				d.fallBack("decompose: the model gave no usable sub-topic; the plan follows the sources")
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, llm.ErrAnswer), errors.Is(err, llm.ErrContextLength):
			d.fallBack("decompose: the plan follows the sources: %s",
				topicqueue.Clip(topicqueue.OneLine(err.Error()), maxReason))
		default:
			return fmt.Errorf("ask the planner model for sub-topics: %w", err)
		}
	}
	d.topics = planned
	if len(planned) == 0 {
		var err error
		if d.topics, err = d.fromSources(ctx); err != nil {
			return err
		}
	}
	d.cleanStarters()
	return nil
}

// askDecompose asks for sub-topics, with as much background as the model's window allows.
func (d *draft) askDecompose(ctx context.Context) (answer prompts.DecomposeAnswer, err error) {
	limit := passageBytes
	for try := range decomposeShrink {
		prompt := prompts.Decompose(d.run.Options.Language, prompts.DecomposeData{
			Topic: d.topic, Exactly: d.manual(), N: d.wanted(), Passages: d.passages(limit),
		})
		answer, err = llm.Ask[prompts.DecomposeAnswer](ctx, d.Model, d.request(0, try, prompt))
		if !errors.Is(err, llm.ErrContextLength) {
			break
		}
		if limit /= 2; try == decomposeShrink-2 {
			limit = 0
		}
	}
	return answer, err
}

// passages returns what fits limit bytes: of the documents that will be read whole, the first passage of each, then the
// second, and so on; or else the background.
func (d *draft) passages(limit int) (out []prompts.Passage) {
	for _, t := range d.byRank() {
		shown := passage(t.CitationID, t.Source)
		size := len(shown.ID) + len(shown.Title) + len(shown.By) + len(shown.Date) + len(shown.Place) + len(shown.Text)
		if size <= limit {
			limit -= size
			out = append(out, shown)
		}
	}
	return out
}

func passage(id string, s topicqueue.Source) prompts.Passage {
	return prompts.Passage{
		ID: id, Title: topicqueue.OneLine(s.Title), By: s.By(), Date: s.Date, Place: s.Place(), Text: s.Text,
	}
}

// byRank returns the background in its order, or the passages of the collection by rank in their document.
func (d *draft) byRank() []topicqueue.ToolTrace {
	traces, rank, of := d.traces, map[string]int{}, map[string]int{}
	for i, s := range d.Collection {
		id := topicqueue.PlanCitationID(i + 1)
		traces = append(traces, topicqueue.ToolTrace{CitationID: id, Source: s})
		rank[id] = of[s.Document]
		of[s.Document]++
	}
	return slices.SortedStableFunc(slices.Values(traces), func(a, b topicqueue.ToolTrace) int {
		return cmp.Compare(rank[a.CitationID], rank[b.CitationID])
	})
}

// checked converts a model's answer to sub-topics. It cleans titles, drops empty and duplicate ones, and keeps at most
// the wanted number. A single sub-topic gets the topic's title.
func (d *draft) checked(answers []prompts.DecomposedTopic) []topicqueue.SubTopic {
	var topics []topicqueue.SubTopic
	for _, a := range answers {
		t := topicqueue.SubTopic{
			Title:    cleanTitle(prompts.Unmarked(a.Title)),
			Overview: topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(a.Overview)), maxOverview),
			Queries:  a.Queries,
		}
		if d.wanted() == 1 {
			t.Title = whole(d.run.Topic).Title
		}
		if t.Title != "" && !planned(topics, t.Title) && len(topics) < d.wanted() {
			topics = append(topics, t)
		}
	}
	return topics
}

func planned(topics []topicqueue.SubTopic, title string) bool {
	for _, t := range topics {
		if topicqueue.Duplicate(t.Title, title) {
			return true
		}
	}
	return false
}

// whole returns the topic itself as a sub-topic.
func whole(topic string) topicqueue.SubTopic {
	return topicqueue.SubTopic{Title: text.Title(topic), Queries: []string{topicqueue.OneLine(topic)}}
}

// cleanStarters cleans the starter queries of all sub-topics. A repeated query stays with its first sub-topic.
func (d *draft) cleanStarters() {
	seen := map[string]bool{}
	for i := range d.topics {
		d.topics[i].Queries = cleanQueries(seen, d.topics[i].Queries, starterQueries)
	}
}

// cleanQueries returns at most limit usable queries whose canonical form is not in seen, and adds them to seen.
func cleanQueries(seen map[string]bool, queries []string, limit int) []string {
	var out []string
	for _, q := range queries {
		q = topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(q)), maxQuery)
		key := topicqueue.CanonicalQuery(q)
		if topicqueue.IsPlace(q) { // in a place, the order and repetition of words matter
			key = q
		}
		if key == "" || seen[key] || len(out) == limit {
			continue
		}
		seen[key] = true
		out = append(out, q)
	}
	return out
}
