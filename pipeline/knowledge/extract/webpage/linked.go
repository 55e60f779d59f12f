package webpage

import (
	"encoding/json"
	"iter"
	"strings"

	"nightdesk/pipeline/knowledge/extract/document"
)

// maxLinked is the maximum size of linked data that is parsed, in bytes.
const maxLinked = 256 << 10

// linkedData yields the linked data (JSON-LD, schema.org) of a page. Invalid JSON is omitted.
func linkedData(tree *node) iter.Seq[any] {
	return func(yield func(any) bool) {
		for n := range tree.all() {
			if n.tag != "script" || !strings.EqualFold(n.attr["type"], "application/ld+json") || len(n.kids) == 0 {
				continue
			}
			var data any
			text := n.kids[0].text
			if len(text) <= maxLinked && json.Unmarshal([]byte(text), &data) == nil && !yield(data) {
				return
			}
		}
	}
}

// linkedStates returns the statements of the first object in a page's linked data with an author or a publication date.
func linkedStates(tree *node) (s document.Metadata) {
	for data := range linkedData(tree) {
		work := writtenWork(data)
		if work == nil {
			continue
		}
		for _, name := range namesIn(work["author"]) {
			s.AddAuthor(name)
		}
		if names := namesIn(work["publisher"]); len(names) > 0 {
			s.Publisher = names[0]
		}
		for _, key := range datesOfWork {
			if day, _ := work[key].(string); s.Date == "" {
				s.Date = document.ParseDate(day)
			}
		}
		return s
	}
	return s
}

// datesOfWork are the properties with the date of publication, most reliable first.
var datesOfWork = []string{"datePublished", "dateCreated", "uploadDate"}

// writtenWork returns the first object with an author or a date in a list or graph of objects.
func writtenWork(data any) map[string]any {
	switch data := data.(type) {
	case []any:
		for _, d := range data {
			if work := writtenWork(d); work != nil {
				return work
			}
		}
	case map[string]any:
		for _, key := range append([]string{"author"}, datesOfWork...) {
			if data[key] != nil {
				return data
			}
		}
		return writtenWork(data["@graph"])
	}
	return nil
}

// namesIn returns names of people or organisations. data is a string, an object or a list of these.
func namesIn(data any) (names []string) {
	switch data := data.(type) {
	case string:
		if name := document.Clean(data); name != "" && !strings.Contains(name, "://") {
			names = append(names, name)
		}
	case map[string]any:
		if name, _ := data["name"].(string); document.Clean(name) != "" {
			names = append(names, document.Clean(name))
		}
	case []any:
		for _, d := range data[:min(len(data), document.MaxNames)] {
			if _, nested := d.([]any); !nested {
				names = append(names, namesIn(d)...)
			}
		}
	}
	return names
}
