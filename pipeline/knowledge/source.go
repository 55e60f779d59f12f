package knowledge

import (
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// Source returns a passage as the source that it is for a run, retrieved at a time.
func (p Passage) Source(at time.Time) topicqueue.Source {
	s := topicqueue.Source{
		Kind: topicqueue.SourceDocument, Title: p.Title, Document: p.Document, Section: p.Section, Anchor: p.Anchor,
		Page: p.Page, Offset: p.Offset, Hash: p.Hash, Date: p.Date, Head: p.Head, File: p.File, RetrievedAt: at, Text: p.Text,
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
