package planning

import (
	"context"
	"fmt"

	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

// nearlyAsGood is the minimum share of the best score for another section or document title to become a sub-topic.
const nearlyAsGood = 0.8

// fromSources returns the plan without a model. It consists of the topic itself, which covers the best section, and of
// other documents and sections that match it nearly as well, up to the wanted number. Fewer are normal, because nothing
// is planned that was not asked for.
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

// within returns a title as a query within the topic.
func within(topic, title string) string {
	query := topicqueue.Clip(questionOf(topic)+" "+title, maxQuery)
	if topicqueue.CanonicalQuery(query) == topicqueue.CanonicalQuery(questionOf(topic)) { // already in the topic
		return title
	}
	return query
}

// sectionTitle returns the title of a section with its document: "Developing with asyncio: Running blocking code".
func sectionTitle(document string, section []string) string {
	title := text.Heading(document)
	if n := len(section); n > 0 {
		if last := text.Heading(section[n-1]); last != "" && last != title {
			title += ": " + last
		}
	}
	return topicqueue.Clip(title, maxTitle)
}

// questionOf returns the user's topic as a query: its own words, or its heading if it is too long.
func questionOf(topic string) string {
	topic = topicqueue.OneLine(topic)
	if len(topic) <= maxQuery {
		return topic
	}
	return text.Title(topic)
}
