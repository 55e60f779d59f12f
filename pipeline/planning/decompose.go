package planning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

const (
	// passageBytes is how much background the decomposition shows to the model: about 2,500 tokens of English, which
	// fits a window of 8,192 with instructions and answer. A smaller window gets half, then none.
	passageBytes    = 10_000
	starterQueries  = 4 // per sub-topic; more are iterations' business
	decomposeShrink = 3
)

// subTopics decomposes the topic. How it ended is told to watchers when the plan is committed or the run has failed.
func (d *draft) subTopics(ctx context.Context) error {
	if err := d.step(ctx, topicqueue.StepStartResearchPlanner, "cutting the topic into at most %d sub-topics",
		d.wanted()); err != nil {
		return err
	}
	return d.decompose(ctx)
}

func (d *draft) decompose(ctx context.Context) error {
	var planned []topicqueue.SubTopic
	if d.Model != nil {
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

// askDecompose asks with as much background as the model's window takes.
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

// passages are the sources of background retrieval that bear on the topic, as many as fit limit bytes: the best of each
// query, then the second of each. What bears only on a query that the model made up would lead the plan astray.
func (d *draft) passages(limit int) []prompts.Passage {
	var out []prompts.Passage
	for _, t := range d.byRank() {
		s := t.Source
		headings := s.Title + "\n" + strings.Join(s.Section, "\n") + "\n"
		shown := passage(t.CitationID, s)
		size := len(shown.ID) + len(shown.Title) + len(shown.By) + len(shown.Date) + len(shown.Place) + len(shown.Text)
		if text.Coverage(headings+s.Text, questionOf(d.run.Topic)) == 0 || size > limit {
			continue
		}
		limit -= size
		out = append(out, shown)
	}
	return out
}

func passage(id string, s topicqueue.Source) prompts.Passage {
	return prompts.Passage{
		ID: id, Title: topicqueue.OneLine(s.Title), By: s.By(), Date: s.Date, Place: s.Place(), Text: s.Text,
	}
}

// byRank returns the traces of background retrieval by their place among what their query has returned.
func (d *draft) byRank() []topicqueue.ToolTrace {
	rank, of := map[string]int{}, map[string]int{}
	for _, t := range d.traces {
		rank[t.CitationID] = of[t.ToolID]
		of[t.ToolID]++
	}
	return slices.SortedStableFunc(slices.Values(d.traces), func(a, b topicqueue.ToolTrace) int {
		return cmp.Compare(rank[a.CitationID], rank[b.CitationID])
	})
}

// checked makes sub-topics of a model's answer: titles cleaned, blank ones and duplicates dropped, at most as many as
// are wanted. An only sub-topic is the topic, whatever the model calls it.
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

// whole is the topic itself as a sub-topic.
func whole(topic string) topicqueue.SubTopic {
	return topicqueue.SubTopic{Title: text.Title(topic), Queries: []string{topicqueue.OneLine(topic)}}
}

// cleanStarters cleans the starter queries of all sub-topics; a query stays with the first that has it.
func (d *draft) cleanStarters() {
	seen := map[string]bool{}
	for i := range d.topics {
		d.topics[i].Queries = cleanQueries(seen, d.topics[i].Queries, starterQueries)
	}
}

// cleanQueries returns the queries that say something and are not in seen by their canonical form, at most limit, and
// adds them to seen.
func cleanQueries(seen map[string]bool, queries []string, limit int) []string {
	var out []string
	for _, q := range queries {
		q = topicqueue.Clip(topicqueue.OneLine(prompts.Unmarked(q)), maxQuery)
		key := topicqueue.CanonicalQuery(q)
		if topicqueue.IsPlace(q) { // the same words in another order, or twice, are another place
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
