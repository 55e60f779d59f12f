package knowledge

import (
	"encoding/json"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// Byline names who wrote and who published a document, as it says.
type Byline struct {
	Authors   []string `json:",omitempty"`
	Publisher string   `json:",omitempty"`
}

// bylineColumn selects the byline of document d.
const bylineColumn = `coalesce((SELECT value FROM meta WHERE meta.key = 'by/' || d.id), '')`

// Scan reads a byline from the column of a base; an index of an earlier version has none.
func (b *Byline) Scan(column any) error {
	row, _ := column.(string)
	if row == "" {
		return nil
	}
	return json.Unmarshal([]byte(row), b)
}

// By names them in one line.
func (b Byline) By() string {
	return topicqueue.Source{Authors: b.Authors, Publisher: b.Publisher}.By()
}

// Source returns a passage as the source that it is for a run, retrieved at a time.
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
