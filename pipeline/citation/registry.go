package citation

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"nightdesk/topicqueue"
)

// Registry knows every citation of one run. It is immutable and safe for concurrent use.
type Registry struct {
	traces map[string]topicqueue.ToolTrace
	ids    []string // ordered by Compare
	urls   map[string]bool
}

// NewRegistry returns the registry of these traces. Of two traces with one id the first counts; a trace whose id is not
// a citation id is left out, for nothing could cite it.
func NewRegistry(traces []topicqueue.ToolTrace) *Registry {
	r := &Registry{traces: make(map[string]topicqueue.ToolTrace, len(traces)), urls: map[string]bool{}}
	for _, t := range traces {
		id, ok := ParseID(t.CitationID)
		if !ok {
			continue
		}
		key := id.String()
		if _, known := r.traces[key]; known {
			continue
		}
		r.traces[key] = t
		r.ids = append(r.ids, key)
		if u := canonicalURL(t.Source.URL); u != "" {
			r.urls[u] = true
		}
	}
	slices.SortFunc(r.ids, Compare)
	return r
}

// IDs returns all citation ids in order: planning first, then by block and number. The slice is the caller's.
func (r *Registry) IDs() []string { return slices.Clone(r.ids) }

// Lookup returns the trace of a citation id in any form that ParseID accepts.
func (r *Registry) Lookup(id string) (topicqueue.ToolTrace, bool) {
	parsed, ok := ParseID(id)
	if !ok {
		return topicqueue.ToolTrace{}, false
	}
	t, ok := r.traces[parsed.String()]
	return t, ok
}

// Only returns a registry that knows no other citations than these; unknown ids are ignored. A section may cite just what
// it was given.
func (r *Registry) Only(ids []string) *Registry {
	traces := make([]topicqueue.ToolTrace, 0, len(ids))
	for _, id := range ids {
		if t, ok := r.Lookup(id); ok {
			traces = append(traces, t)
		}
	}
	return NewRegistry(traces)
}

// HasURL reports whether a source has this URL, apart from fragment, trailing slash and the case of scheme and host.
func (r *Registry) HasURL(raw string) bool {
	u := canonicalURL(raw)
	return u != "" && r.urls[u]
}

// canonicalURL returns the form in which URLs are compared, and "" for what is no absolute http(s) URL.
func canonicalURL(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" {
		return ""
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	u.Host = strings.ToLower(u.Host)
	u.Fragment, u.RawFragment = "", ""
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return u.String()
}

// Place says for a person where a source stands: "handbook.html › 3.2 Memory › Locks, p. 15". It begins with the
// document key, else the URL, else the title; a source of which nothing is known has the place "".
func Place(s topicqueue.Source) string {
	base := s.Document
	if base == "" {
		base = s.URL
	}
	if base == "" {
		base = fold(s.Title)
	}
	place, path := base, sectionPath(s)
	if path != "" {
		place = strings.TrimPrefix(base+" › "+path, " › ")
	}
	if s.Page > 0 {
		place = strings.TrimPrefix(place+", "+page(s.Page), ", ")
	}
	return place
}

// within says where in its document a source stands: section path and page.
func within(s topicqueue.Source) string {
	place := sectionPath(s)
	if s.Page > 0 {
		place = strings.TrimPrefix(place+", "+page(s.Page), ", ")
	}
	return place
}

func page(n int) string { return "p. " + strconv.Itoa(n) }

// sectionPath joins the headings above a source, without the document's own title and doubled ones: they say nothing new.
func sectionPath(s topicqueue.Source) string {
	var path []string
	for _, heading := range s.Section {
		h := fold(heading)
		if h == "" || len(path) == 0 && h == fold(s.Title) || len(path) > 0 && path[len(path)-1] == h {
			continue
		}
		path = append(path, h)
	}
	return strings.Join(path, " › ")
}

// Link returns where a source can be opened: its URL, else its document key, with the anchor as fragment. It is empty
// when the source has neither.
func Link(s topicqueue.Source) string {
	link := s.URL
	if link == "" {
		link = s.Document
	}
	if link != "" && s.Anchor != "" && !strings.Contains(link, "#") {
		link += "#" + s.Anchor
	}
	return link
}

// placeKey tells sources apart for numbered references: passages of one page or of one section of a document are one
// source for a reader.
func placeKey(s topicqueue.Source) string {
	if u := canonicalURL(s.URL); u != "" {
		return u
	}
	if s.Document != "" {
		return s.Document + "\x00" + strings.Join(s.Section, "\x00") + "\x00" + strconv.Itoa(s.Page)
	}
	return s.Kind + "\x00" + s.ID + "\x00" + s.Title
}

// fold makes one line of text: white space becomes single spaces.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }
