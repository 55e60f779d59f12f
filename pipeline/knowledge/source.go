package knowledge

import (
	"encoding/json"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// Byline holds the authors and the publisher that a document states.
type Byline struct {
	Authors   []string `json:",omitempty"`
	Publisher string   `json:",omitempty"`
}

// bylineColumn selects the byline of document d.
const bylineColumn = `coalesce((SELECT value FROM meta WHERE meta.key = 'by/' || d.id), '')`

// Scan reads a byline from a database column. Bases from earlier versions have none.
func (b *Byline) Scan(column any) error {
	row, _ := column.(string)
	if row == "" {
		return nil
	}
	return json.Unmarshal([]byte(row), b)
}

// By returns authors and publisher in one line.
func (b Byline) By() string {
	return topicqueue.Source{Authors: b.Authors, Publisher: b.Publisher}.By()
}

// Source converts a passage to a source of a run, retrieved at the given time.
func (p Passage) Source(at time.Time) topicqueue.Source {
	s := topicqueue.Source{
		Kind: topicqueue.SourceDocument, Title: p.Title, Document: p.Document, Section: p.Section, Anchor: p.Anchor,
		Page: p.Page, Offset: p.Offset, Hash: p.Hash, Date: p.Date, Authors: p.Authors,
		Publisher: p.Publisher, Head: p.Head, File: p.File, RetrievedAt: at, Text: p.Text,
		Share: p.Share,
	}
	if IsURL(p.Document) {
		s.URL = p.Document
		if p.Anchor != "" && !strings.Contains(s.URL, "#") {
			s.URL += "#" + p.Anchor
		}
	}
	s.ID = topicqueue.SourceID(s)
	return s
}
