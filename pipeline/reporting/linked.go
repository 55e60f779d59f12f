package reporting

import (
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/topicqueue"
)

// A writer gets claims and cites them. Other links stay if a tool of the run returned their address. A sentence that
// only links is judged by the text that the run read from the address, which is none if the address was only mentioned.

// noteLinks records how addresses were found. It is safe for concurrent use.
func (m *material) noteLinks(links []citation.Linked) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range links {
		if _, known := m.found[l.Address]; !known {
			m.found[l.Address] = l
		}
	}
}

// links returns the addresses that a draft links, as written.
func (m *material) links(d draft) []citation.Linked {
	out := []citation.Linked{}
	if d.extractive { // quotations only
		return out
	}
	var texts []string
	for _, p := range d.parts() {
		if !p.Local {
			texts = append(texts, p.Body)
		}
	}
	for _, l := range m.registry.Links(strings.Join(texts, "\n\n")) {
		if written, known := m.found[l.Address]; known {
			l.URL, l.Match = written.URL, written.Match
		}
		out = append(out, l)
	}
	return out
}

// linked returns the ids of the sources that a text links.
func (m *material) linked(text string) []string {
	if !citation.HasAddress(text) {
		return nil
	}
	var ids []string
	for _, l := range m.registry.Links(text) {
		ids = append(ids, l.Sources...)
	}
	return ids
}

// linkedStatement returns a statement with the ids of the sources that it links, if it does not cite any.
func (m *material) linkedStatement(p *part, s statement) statement {
	if len(s.ids) == 0 && !p.Local && s.text != "" {
		s.ids = m.linked(s.raw(p.Body))
		s.linked = len(s.ids) > 0
	}
	return s
}

// source returns the source of a citation id or a source id.
func (m *material) source(id string) (topicqueue.Source, bool) {
	if s, ok := m.returned[id]; ok {
		return s, true
	}
	t, ok := m.registry.Lookup(id)
	return t.Source, ok
}

// AllReturned returns the distinct sources that tools returned.
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

// Registry returns the registry of a run, built from its traces and other sources that its tools returned.
func (in Input) Registry() *citation.Registry {
	return citation.NewRegistry(in.Traces(), in.AllReturned()...)
}

// SourceOf returns a function that maps a citation of a CheckedSentence to its source id, or "".
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
