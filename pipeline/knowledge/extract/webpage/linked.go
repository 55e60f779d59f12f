package webpage

import (
	"encoding/json"
	"iter"
	"regexp"
	"strings"
	"time"

	"nightdesk/pipeline/knowledge/extract/document"
)

// maxLinked is the maximum size of linked data that is parsed, in bytes.
const maxLinked = 256 << 10

// linkedTexts yields the linked data (JSON-LD, schema.org) of a page as text.
func linkedTexts(tree *node) iter.Seq[string] {
	return func(yield func(string) bool) {
		for n := range tree.all() {
			if n.tag != "script" || len(n.kids) == 0 || !strings.EqualFold(n.attr["type"], "application/ld+json") {
				continue
			}
			if text := n.kids[0].text; len(text) <= maxLinked && !yield(text) {
				return
			}
		}
	}
}

// linkedData yields the linked data of a page. Invalid JSON is omitted.
func linkedData(tree *node) iter.Seq[any] {
	return func(yield func(any) bool) {
		for text := range linkedTexts(tree) {
			var data any
			if json.Unmarshal([]byte(text), &data) == nil && !yield(data) {
				return
			}
		}
	}
}

// about returns what a page states about its kind in meta elements and linked data.
func about(tree *node) document.About {
	a := document.About{
		Type:  document.Clean(firstMeta(tree, "og:type")),
		Paper: firstMeta(tree, "citation_title", "citation_doi") != "",
	}
	for text := range linkedTexts(tree) {
		if a.Schema == "" {
			a.Schema = mainType(text)
		}
	}
	return a
}

var schemaType = regexp.MustCompile(`"@type"\s*:\s*\[?\s*"([A-Za-z]{1,40})"`)

// everyPage lists types of linked data that occur on all kinds of pages.
var everyPage = document.Set(`
	WebSite WebPage Organization Person BreadcrumbList ListItem ImageObject SearchAction EntryPoint
	NewsMediaOrganization Article VideoObject Corporation SiteNavigationElement Comment Rating Offer Brand Product
	Question Answer
`)

// mainType returns the first type in linked data that distinguishes kinds of pages. It ignores products and videos,
// because pages of all kinds have them.
func mainType(linked string) string {
	for _, m := range schemaType.FindAllStringSubmatch(linked, 50) {
		if !everyPage[m[1]] {
			return m[1]
		}
	}
	return ""
}

// firstTime returns the date of the first <time> of a page.
func firstTime(tree *node) string {
	t := tree.find(func(n *node) bool { return n.tag == "time" && len(n.attr["datetime"]) >= len(time.DateOnly) })
	if t == nil {
		return ""
	}
	return document.ParseDate(strings.TrimSpace(t.attr["datetime"])[:len(time.DateOnly)])
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
