package extract

import (
	"encoding/json"
	"strings"
)

// maxLinked bounds the linked data of a page that are read, in bytes.
const maxLinked = 256 << 10

// linkedData returns what the linked data of a page (JSON-LD, schema.org) say of it: the first object that has an
// author or a date of publication. Data that are no JSON say nothing.
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

// writtenWork finds an object with an author or a date in a list of objects, or in a graph of them.
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

// namesIn returns the names of people or organisations, each a string or an object.
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
