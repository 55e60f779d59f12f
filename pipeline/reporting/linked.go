package reporting

import (
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/topicqueue"
)

// A writer is shown claims and cites these. What it links besides stays when a tool of the run has returned it, and a
// sentence that cites nothing else is judged by what the run has read of it: nothing, when it was only named.

// noteLinks remembers how addresses were found. Safe for concurrent use.
func (m *material) noteLinks(links []citation.Linked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range links {
		if _, known := m.found[l.Address]; !known {
			m.found[l.Address] = l
		}
	}
}

// links returns the addresses that a draft links, as they were written.
func (m *material) links(d draft) []citation.Linked {
	out := []citation.Linked{}
	if d.extractive { // quotations
		return out
	}
	texts := []string{d.opening.body}
	for _, s := range d.sections {
		if !s.local {
			texts = append(texts, s.body)
		}
	}
	for _, l := range m.registry.Links(strings.Join(append(texts, d.conclusion.body), "\n\n")) {
		if written, known := m.found[l.Address]; known {
			l.URL, l.Match = written.URL, written.Match
		}
		out = append(out, l)
	}
	return out
}

// linked returns the ids of the sources that a text links.
func (m *material) linked(text string) []string {
	if !hasAddress(text) {
		return nil
	}
	var ids []string
	for _, l := range m.registry.Links(text) {
		ids = append(ids, l.Sources...)
	}
	return ids
}

func hasAddress(text string) bool {
	return strings.Contains(text, "://") || strings.Contains(text, "www.")
}

// linkedStatement is a statement that cites nothing and links a source; ok is false for others.
func (m *material) linkedStatement(p part, s statement) (statement, bool) {
	if len(s.ids) > 0 || p.whole || s.text == "" {
		return s, false
	}
	s.ids = m.linked(s.raw(*p.body))
	s.linked = len(s.ids) > 0
	return s, s.linked
}

// source returns the source behind a citation id, or that of a source id.
func (m *material) source(id string) (topicqueue.Source, bool) {
	if s, ok := m.returned[id]; ok {
		return s, true
	}
	t, ok := m.registry.Lookup(id)
	return t.Source, ok
}

// AllReturned returns the sources that tools have returned, each once.
func (in Input) AllReturned() []topicqueue.Source {
	var out []topicqueue.Source
	seen := map[string]bool{}
	for _, c := range in.Returned {
		for _, s := range c.Sources {
			if !seen[s.ID] {
				seen[s.ID] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// Registry returns the registry of a run: what its traces hold, and what its tools returned besides.
func (in Input) Registry() *citation.Registry {
	return citation.NewRegistry(in.Traces(), in.AllReturned()...)
}

// SourceOf returns the id of the source behind a citation of a CheckedSentence; "" when there is none.
func (in Input) SourceOf(registry *citation.Registry) func(cited string) string {
	known := map[string]bool{}
	for _, s := range in.AllReturned() {
		known[s.ID] = true
	}
	for _, t := range in.Traces() {
		known[t.Source.ID] = true
	}
	return func(cited string) string {
		t, ok := registry.Lookup(cited)
		if !ok && known[cited] {
			return cited
		}
		return t.Source.ID
	}
}
