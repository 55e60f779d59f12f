package planning

import (
	"context"
	"fmt"
	"strings"

	"nightdesk/pipeline/extractive"
	"nightdesk/topicqueue"
)

const sectionsPerTopic = 8 // sections looked at for each sub-topic that is wanted

// section is a part of the corpus that could become a sub-topic.
type section struct {
	*node
	title string  // as a heading of the report
	merit float64 // how well it answers the topic
	said  float64 // how much of the topic it speaks of
	alone bool    // without the sections below it
}

// fromStructure makes sub-topics of the structure of the corpus: of the sections of the document that is about the
// topic, in its order, and of sections of other documents that add something. It returns none when the corpus has
// nothing on the topic and more than one is wanted.
func (d *draft) fromStructure(ctx context.Context) ([]topicqueue.SubTopic, error) {
	w, hits, err := d.weigh(ctx, d.question())
	if err != nil {
		return nil, err
	}
	documents := d.foundDocuments(w)
	if d.Sections != nil {
		more, err := d.Sections.Sections(ctx, d.question(), sectionsPerTopic*d.wanted())
		if err != nil {
			return nil, fmt.Errorf("look up the sections of the knowledge base: %w", err)
		}
		hits = append(more, hits...)
		if documents, err = d.documents(ctx, w, hits); err != nil {
			return nil, err
		}
		if short := w.shorten(documents); len(short) > 0 { // now that they are known, what uses them counts, too
			for _, s := range short {
				more, err := d.Sections.Sections(ctx, s, perWord)
				if err != nil {
					return nil, fmt.Errorf("look up %q in the knowledge base: %w", s, err)
				}
				hits = append(hits, more...)
			}
			if documents, err = d.documents(ctx, w, hits); err != nil {
				return nil, err
			}
		}
	}
	candidates := w.candidates(documents, d.wanted())
	if d.wanted() == 1 {
		t := d.whole()
		if len(candidates) > 0 {
			t.Overview = d.overview(candidates[0])
			t.Queries = append(t.Queries, candidates[0].places()...)
		}
		return []topicqueue.SubTopic{t}, nil
	}
	var topics []topicqueue.SubTopic
	for _, s := range inOrder(w.choose(candidates, d.wanted())) {
		topics = append(topics, topicqueue.SubTopic{
			Title:    s.title,
			Overview: d.overview(s),
			Queries:  w.starters(s, d.question()),
		})
	}
	return topics, nil
}

// question is the user's topic as a search: its own words, a paragraph shortened to its heading.
func (d *draft) question() string {
	topic := topicqueue.OneLine(d.run.Topic)
	if len(topic) <= maxQuery {
		return topic
	}
	return extractive.Title(topic)
}

// overview is 2 to 3 sentences of the section itself; it is empty when the section has no prose.
func (d *draft) overview(s section) string {
	text := s.allText()
	for _, about := range []string{s.title + " " + d.question(), s.title} {
		if o := extractive.Overview(text, about); o != "" {
			return topicqueue.Clip(topicqueue.OneLine(o), maxOverview)
		}
	}
	return completeLead(text)
}

// allText is the beginning of a section with those below it.
func (s section) allText() string {
	var text strings.Builder
	s.walk(func(n *node) {
		if text.Len() < maxRead {
			text.WriteString("\n\n" + n.text)
		}
	})
	return text.String()
}

// starters are the first look-ups for a section: the place where it stands, read as a whole, then a search for its
// heading with the words of the topic that tell something.
func (w weights) starters(s section, topic string) []string {
	return append(s.places(), s.title+" "+strings.Join(missingWords(strings.Join(w.telling(topic), " "), s.title), " "))
}

// places is where the section stands, for those who can read it as a whole.
func (s section) places() []string {
	if s.document.web {
		return nil
	}
	return []string{topicqueue.Place(s.document.title, s.path)}
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
