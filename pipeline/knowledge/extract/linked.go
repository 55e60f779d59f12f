package extract

import (
	"encoding/json"
	"strings"
)

// maxLinked is the maximum size of linked data that is parsed, in bytes.
const maxLinked = 256 << 10

// linkedData returns the statements of a page's linked data (JSON-LD, schema.org): the first object with an author or a
// publication date. Invalid JSON is ignored.
func linkedData(tree *node) (s stated) {
	tree.find(func(n *node) bool {
		if n.tag != "script" || !strings.EqualFold(n.attr["type"], "application/ld+json") || len(n.kids) == 0 {
			return false
		}
		var data any
		if text := n.kids[0].text; len(text) > maxLinked || json.Unmarshal([]byte(text), &data) != nil {
			return false
		}
		work := writtenWork(data)
		if work == nil {
			return false
		}
		for _, name := range namesIn(work["author"]) {
			s.author(name)
		}
		if names := namesIn(work["publisher"]); len(names) > 0 {
			s.publisher = names[0]
		}
		for _, key := range []string{"datePublished", "dateCreated", "uploadDate"} {
			if day, _ := work[key].(string); s.date == "" {
				s.date = date(day)
			}
		}
		return true
	})
	return s
}

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
		for _, key := range []string{"author", "datePublished", "dateCreated", "uploadDate"} {
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
		if name := clean(data); name != "" && !strings.Contains(name, "://") {
			names = append(names, name)
		}
	case map[string]any:
		if name, _ := data["name"].(string); clean(name) != "" {
			names = append(names, clean(name))
		}
	case []any:
		for _, d := range data[:min(len(data), maxNames)] {
			if _, nested := d.([]any); !nested {
				names = append(names, namesIn(d)...)
			}
		}
	}
	return names
}
