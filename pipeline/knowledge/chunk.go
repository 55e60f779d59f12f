package knowledge

import (
	"slices"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/text"
)

// chunk is a passage that is not yet stored in a base.
type chunk struct {
	section int // index into Document.Sections
	page    int
	offset  int
	text    string // Document.Text[offset : offset+len(text)]
}

// chunks cuts a document into passages, each within one section.
func chunks(doc extract.Document) []chunk {
	var out []chunk
	for i, s := range doc.Sections {
		end := len(doc.Text)
		if i+1 < len(doc.Sections) {
			end = doc.Sections[i+1].Offset
		}
		for _, p := range text.Passages(doc.Text[s.Offset:end], isItem) {
			at := s.Offset + p.Start
			out = append(out, chunk{section: i, page: pageAt(doc.Pages, at), offset: at, text: doc.Text[at : s.Offset+p.End]})
		}
	}
	return out
}

// pageAt returns the page, counted from 1, that holds an offset; 0 for a document without pages.
func pageAt(pages []int, offset int) int {
	// Find the first page that begins after the offset. Pages without text begin where the next page begins.
	n, _ := slices.BinarySearch(pages, offset+1)
	return n
}
