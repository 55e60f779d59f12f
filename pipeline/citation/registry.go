// Package citation ensures that a report cites only sources that the run has found.
//
// A Registry holds the citations of one run. Scan finds markers and links in Markdown. Resolve takes Markdown that a
// model wrote and leaves only markers and links that the registry knows; References builds the list of references for
// them. Text inside code fences, indented code and inline code is never changed. The package does no input or output
// and calls no model.
//
// Package address finds the source that a URL identifies, verification checks the citations of a report of another
// program, and support checks whether a source supports a sentence.
package citation

import (
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation/address"
	"nightdesk/topicqueue"
)

// Source is something that a run has retrieved, or that a foreign report was given. One of URL and Key is set.
type Source struct {
	URL   string   // absolute
	Key   string   // of a document: "handbook.pdf", "handbook.pdf, p. 15"
	Title string   // may be empty
	Text  string   // what was retrieved; empty when it is not at hand
	Hash  string   // lower-case hex SHA-256 of the text, or empty
	IDs   []string // of a run: source ids of all that it has of this place
}

// Registry knows every citation and every source of one run. It is immutable and safe for concurrent use.
type Registry struct {
	traces    map[string]topicqueue.ToolTrace
	sources   []Source
	addresses *address.Index
	documents documents
	titles    map[string]int // by folded title; -1: of several places
}

// NewRegistry returns the registry of these traces, and of what else the tools of the run returned: to that an address
// may lead, but no citation id names it. Of two traces with one id the first counts; a trace whose id is not a
// citation id is left out, for nothing could cite it.
func NewRegistry(traces []topicqueue.ToolTrace, returned ...topicqueue.Source) *Registry {
	r := newRegistry()
	places := map[string]int{}
	add := func(s topicqueue.Source) {
		at, known := places[placeKey(s)]
		if !known {
			at = len(r.sources)
			places[placeKey(s)] = at
			r.add(sourceOf(s))
		}
		if ids := &r.sources[at].IDs; s.ID != "" && !slices.Contains(*ids, s.ID) {
			*ids = append(*ids, s.ID)
		}
	}
	for _, t := range traces {
		key := Canonical(t.CitationID)
		if _, known := r.traces[key]; !known && key != "" {
			r.traces[key] = t
			add(t.Source)
		}
	}
	for _, s := range returned {
		add(s)
	}
	r.sort()
	return r
}

// RegistryOf returns the registry of these sources, which no citation id names.
func RegistryOf(sources []Source) *Registry {
	r := newRegistry()
	for _, s := range sources {
		r.add(s)
	}
	r.sort()
	return r
}

func newRegistry() *Registry {
	return &Registry{
		traces:    map[string]topicqueue.ToolTrace{},
		addresses: address.NewIndex(),
		documents: documents{pages: map[string]*pages{}, base: map[string][]string{}},
		titles:    map[string]int{},
	}
}

func sourceOf(s topicqueue.Source) Source {
	key := s.Document
	if key != "" && s.Page > 0 {
		key += ", p. " + strconv.Itoa(s.Page)
	}
	return Source{URL: s.URL, Key: key, Title: s.Title, Text: s.Text, Hash: s.Hash}
}

// Sources returns all sources in the order in which they were added. The slice is the caller's.
func (r *Registry) Sources() []Source { return slices.Clone(r.sources) }

// Len returns the number of sources.
func (r *Registry) Len() int { return len(r.sources) }

// At returns a source by its position in Sources.
func (r *Registry) At(i int) Source { return r.sources[i] }

// Lookup returns the trace of a citation id in any form that ParseID accepts.
func (r *Registry) Lookup(id string) (topicqueue.ToolTrace, bool) {
	t, ok := r.traces[Canonical(id)]
	return t, ok
}

// Source returns what a citation id stands for.
func (r *Registry) Source(id string) (Source, bool) {
	t, ok := r.Lookup(id)
	return sourceOf(t.Source), ok
}

// Only returns a registry of the same sources that knows no other citations than these; unknown ids are ignored. A
// section may cite just what it was given.
func (r *Registry) Only(ids []string) *Registry {
	only := *r
	only.traces = map[string]topicqueue.ToolTrace{}
	for _, id := range ids {
		if t, known := r.Lookup(id); known {
			only.traces[Canonical(id)] = t
		}
	}
	return &only
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
	if s.AsOf != nil { // what it said then
		return s.AsOf.RunID + "\x00" + s.ID
	}
	if u := address.Normalize(s.URL); u != "" {
		return u
	}
	if s.Document != "" {
		return s.Document + "\x00" + strings.Join(s.Section, "\x00") + "\x00" + strconv.Itoa(s.Page)
	}
	return s.Kind + "\x00" + s.ID + "\x00" + s.Title
}
