package planning

import (
	"context"
	"fmt"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// nearlyAsGood is the share of the best score from which another section, or the title of another document, is worth a
// sub-topic of its own.
const nearlyAsGood = 0.8

// fromSources is the plan without a model: the topic itself, to which the best section belongs, then other documents
// whose titles, and other sections whose passages answer it nearly as well, as many as are wanted at most. Fewer are
// normal: nothing is planned that was not asked for.
func (d *draft) fromSources(ctx context.Context) ([]topicqueue.SubTopic, error) {
	topics := []topicqueue.SubTopic{whole(d.run.Topic)}
	if d.Sections == nil || d.wanted() == 1 {
		return topics, nil
	}
	documents, err := d.Sections.Titles(ctx, questionOf(d.run.Topic), d.wanted())
	if err != nil {
		return nil, fmt.Errorf("look up the titles of the knowledge base: %w", err)
	}
	sections, err := d.Sections.Sections(ctx, questionOf(d.run.Topic), d.wanted())
	if err != nil {
		return nil, fmt.Errorf("look up the sections of the knowledge base: %w", err)
	}
	add := func(title, overview string) {
		if len(topics) < d.wanted() && !planned(topics, title) {
			topics = append(topics, topicqueue.SubTopic{
				Title: title, Overview: topicqueue.Clip(topicqueue.OneLine(overview), maxOverview),
				Queries: []string{within(d.run.Topic, title)},
			})
		}
	}
	for _, h := range documents {
		if h.Score >= nearlyAsGood*documents[0].Score && len(sections) > 0 && h.Document != sections[0].Document {
			add(sectionTitle(h.Title, nil), "")
		}
	}
	for i, h := range sections {
		if i > 0 && h.Score >= nearlyAsGood*sections[0].Score {
			add(sectionTitle(h.Title, h.Section), h.Lead)
		}
	}
	return topics, nil
}

// within is a title as a search within the topic.
func within(topic, title string) string {
	query := topicqueue.Clip(questionOf(topic)+" "+title, maxQuery)
	if topicqueue.CanonicalQuery(query) == topicqueue.CanonicalQuery(questionOf(topic)) { // it is in the topic already
		return title
	}
	return query
}

// sectionTitle names a section of a document: "Developing with asyncio: Running blocking code".
func sectionTitle(document string, section []string) string {
	title := text.Heading(document)
	if n := len(section); n > 0 {
		if last := text.Heading(section[n-1]); last != "" && last != title {
			title += ": " + last
		}
	}
	return topicqueue.Clip(title, maxTitle)
}

// questionOf is the user's topic as a search: its own words, a paragraph shortened to its heading.
func questionOf(topic string) string {
	topic = topicqueue.OneLine(topic)
	if len(topic) <= maxQuery {
		return topic
	}
	return text.Title(topic)
}
