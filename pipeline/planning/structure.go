package planning

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/pipeline/knowledge"
	"nightdesk/topicqueue"
)

// How sections are chosen as sub-topics.
const (
	sectionsPerTopic = 8    // sections looked at for each sub-topic that is wanted
	redundancy       = 0.5  // weight of likeness to what is chosen already
	sameDocument     = 0.12 // off for every section of the same document that is chosen already
)

// fromStructure makes sub-topics of the sections of the corpus that bear on the topic and differ from each other. It
// returns none when the corpus has nothing on the topic and more than one is wanted.
func (d *draft) fromStructure(ctx context.Context) ([]topicqueue.SubTopic, error) {
	hits, err := d.sections(ctx)
	if err != nil {
		return nil, err
	}
	weights, err := d.weigh(ctx, d.question())
	if err != nil {
		return nil, err
	}
	candidates := weights.judge(hits)
	if d.wanted() == 1 {
		t := d.whole()
		if len(candidates) > 0 {
			t.Overview = d.overview(candidates[0])
		}
		return []topicqueue.SubTopic{t}, nil
	}
	var topics []topicqueue.SubTopic
	for _, s := range choose(candidates, d.wanted()) {
		topics = append(topics, topicqueue.SubTopic{
			Title:    s.title,
			Overview: d.overview(s),
			Queries:  starters(s, d.question()),
		})
	}
	return topics, nil
}

// question is the user's topic as a search: its own words, a paragraph shortened to its heading.
func (d *draft) question() string {
	topic := oneLine(d.run.Topic)
	if len(topic) <= maxQuery {
		return topic
	}
	return extractive.Title(topic)
}

// sections are those of the knowledge base that match the topic, else those that background retrieval has found.
func (d *draft) sections(ctx context.Context) ([]knowledge.SectionHit, error) {
	if d.Sections != nil {
		hits, err := d.Sections.Sections(ctx, d.question(), sectionsPerTopic*d.wanted())
		if err != nil {
			return nil, fmt.Errorf("look up the sections of the knowledge base: %w", err)
		}
		return hits, nil
	}
	var hits []knowledge.SectionHit
	for rank, t := range d.traces {
		s := t.Source
		i := slices.IndexFunc(hits, func(h knowledge.SectionHit) bool {
			return h.Document == s.Document && slices.Equal(h.Section, s.Section)
		})
		if i < 0 {
			hits = append(hits, knowledge.SectionHit{
				Document: s.Document, Title: s.Title, Section: s.Section, Anchor: s.Anchor, Lead: s.Text,
				Score: 1 / (1 + float64(rank)/8), // the order is all that a search tells
			})
			i = len(hits) - 1
		}
		hits[i].Passages++
	}
	return hits, nil
}

// choose picks n sections by merit less likeness to those already picked (maximal marginal relevance, Carbonell and
// Goldstein 1998). No document gives more than half of them as long as others have something.
func choose(candidates []section, n int) []section {
	perDocument := map[string]int{}
	var chosen []section
	for _, limit := range []int{(n + 1) / 2, n} {
		for len(chosen) < n {
			best, bestScore := -1, 0.0
			for i, c := range candidates {
				if perDocument[c.hit.Document] >= limit || slices.ContainsFunc(chosen, c.repeats) {
					continue
				}
				score := c.merit - redundancy*c.likeness(chosen) - sameDocument*float64(perDocument[c.hit.Document])
				if score > bestScore {
					best, bestScore = i, score
				}
			}
			if best < 0 {
				break
			}
			chosen = append(chosen, candidates[best])
			perDocument[candidates[best].hit.Document]++
		}
	}
	return chosen
}

// likeness is that to the most similar of others, 0 to 1.
func (s section) likeness(others []section) float64 {
	most := 0.0
	for _, o := range others {
		most = max(most, extractive.Similarity(s.title+" "+s.hit.Lead, o.title+" "+o.hit.Lead))
	}
	return most
}

// repeats reports whether two sections would make the same sub-topic.
func (s section) repeats(other section) bool {
	return topicqueue.Duplicate(s.title, other.title)
}

// overview is 2 to 3 sentences of the section itself; it is empty when the section has no prose.
func (d *draft) overview(s section) string {
	text := s.hit.Lead
	for _, t := range d.traces {
		if t.Source.Document != s.hit.Document || !slices.Equal(t.Source.Section, s.hit.Section) {
			continue
		}
		if strings.Contains(t.Source.Text, text) {
			text = t.Source.Text // the lead and more
		} else {
			text += "\n\n" + t.Source.Text
		}
	}
	for _, about := range []string{s.title + " " + d.question(), s.title} {
		if o := extractive.Overview(text, about); o != "" {
			return clip(oneLine(o), maxOverview)
		}
	}
	return completeLead(text)
}

// starters are the first searches for a section: its heading with the words of the topic, then its heading with what
// stands above it.
func starters(s section, topic string) []string {
	queries := []string{s.title + " " + strings.Join(missingWords(extractive.Title(topic), s.title), " ")}
	if parent := above(s.hit, extractive.Title(s.hit.Title)); !strings.Contains(s.title, parent) {
		queries = append(queries, parent+" "+s.title)
	}
	return queries
}

// missingWords returns the content words of text that are not in other.
func missingWords(text, other string) []string {
	have := map[string]bool{}
	for _, t := range extractive.Terms(other) {
		have[t] = true
	}
	var out []string
	for word := range strings.FieldsSeq(text) {
		for _, t := range extractive.Terms(word) {
			if !have[t] {
				have[t] = true
				out = append(out, strings.Trim(word, `.,;:?!()"'`))
				break
			}
		}
	}
	return out
}
