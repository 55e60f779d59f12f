package citation

import (
	"strings"

	"nightdesk/pipeline/citation/markup"
)

// Why something was taken out of a text.
const (
	ReasonUnknownKey = "citation_key_not_in_registry"
	ReasonUnknownURL = "url_not_in_registry"
	ReasonNumber     = "number_without_reference" // [7]: a model's own numbering refers to nothing
	ReasonMarkup     = "html_not_allowed"         // tags that load, run or link something
)

// Removal records one marker or address that was taken out of a text because nothing in the registry stands behind it.
type Removal struct {
	Marker string `json:"marker"` // [CIT-9-01], [7], a URL or a tag
	Reason string `json:"reason"` // one of the Reason... constants
}

// Resolve returns Markdown in which every marker has its canonical form, [CIT-3-01], one bracket for each id, and
// stands for a citation of the registry. Everything else that looks like a citation is removed together with the space
// before it and reported: unknown ids, bare numbers, addresses that no source has (the text of such a link stays). An
// address that leads to a source in another way than exactly becomes the source's own. Code is left alone. Resolving
// the result again changes nothing, unless brackets are nested a hundred deep. Never fails.
func (r *Registry) Resolve(markdown string) (string, []Removal) {
	resolved, removed, _ := r.ResolveLinks(markdown)
	return resolved, removed
}

// ResolveLinks is Resolve, and returns the addresses that stay, as they were written.
func (r *Registry) ResolveLinks(markdown string) (resolved string, removed []Removal, kept []Linked) {
	markdown = strings.ToValidUTF8(markdown, "\uFFFD")
	// What is removed may join its neighbours to a new marker, so the text is read until nothing changes: twice for
	// real text. The bound is for text that was made to annoy: brackets nested without end.
	var found linkList
	for range 30 {
		out, more, links := r.resolveOnce(markdown)
		removed = append(removed, more...)
		for _, l := range links {
			if l.Match != MatchExact || !found.led[l.Address] { // else it was made so
				found.add(l)
			}
		}
		if out == markdown {
			break
		}
		markdown = out
	}
	return markdown, removed, found.list
}

func (r *Registry) resolveOnce(markdown string) (out string, removed []Removal, kept []Linked) {
	note := func(marker, reason string) { removed = append(removed, Removal{marker, reason}) }
	var found linkList
	e := markup.Scan(markdown, r.HasURL).Edit()
	e.OnTag = func(tag string) { note(tag, ReasonMarkup) }
	e.OnLink = func(t markup.Token) markup.Verdict {
		l, ok := r.Lead(t.Dest)
		switch {
		case !ok:
			note(t.Dest, ReasonUnknownURL)
			return markup.Verdict{}
		case t.Kind == markup.Definition: // goes in any case
			return markup.Verdict{}
		}
		found.add(l)
		if l.Match == MatchExact {
			return markup.Verdict{Keep: true}
		}
		return markup.Verdict{Keep: true, Dest: SafeSpelling(l.Address)}
	}
	e.OnMarker = func(t markup.Token) (string, bool) {
		g := t.Group
		if len(g.IDs) == 0 {
			if t.Kind == markup.Link || !e.IsCitedNumber(t.Start, g) {
				return "", false
			}
			note(markdown[t.Start:g.End], ReasonNumber)
			return "", true
		}
		var b strings.Builder
		for _, id := range g.IDs {
			if _, known := r.traces[id.String()]; known {
				if e.Fresh(id.String()) {
					b.WriteString("[" + id.String() + "]")
				}
			} else {
				note("["+id.String()+"]", ReasonUnknownKey)
			}
		}
		if g.Dest != "" && !strings.HasPrefix(g.Dest, "#") && !r.HasURL(g.Dest) {
			note(g.Dest, ReasonUnknownURL)
		}
		return b.String(), true
	}
	return e.Run(0, len(markdown)), removed, found.list
}

// Linked is an address in a text and the source that it leads to.
type Linked struct {
	URL     string   `json:"url"`     // as the writer had it
	Address string   `json:"address"` // the source's own
	Match   string   `json:"match"`   // one of the Match... constants
	Sources []string `json:"source_ids"`
}

// Links returns the addresses of a Markdown text, outside code, that lead to a source of the registry, each once, in
// order. Never fails.
func (r *Registry) Links(markdown string) []Linked {
	var out linkList
	e := markup.Scan(markdown, r.HasURL).Edit()
	e.OnMarker = func(t markup.Token) (string, bool) { return markdown[t.Start:t.Group.End], len(t.Group.IDs) > 0 }
	e.OnLink = func(t markup.Token) markup.Verdict {
		if l, ok := r.Lead(t.Dest); ok {
			out.add(l)
		}
		return markup.Verdict{Keep: true}
	}
	e.Run(0, len(markdown))
	return out.list
}

// linkList has links in order, each of those that were written alike once.
type linkList struct {
	list []Linked
	urls map[string]bool
	led  map[string]bool // addresses
}

func (l *linkList) add(link Linked) {
	if l.urls[link.URL] {
		return
	}
	if l.urls == nil {
		l.urls, l.led = map[string]bool{}, map[string]bool{}
	}
	l.urls[link.URL], l.led[link.Address] = true, true
	l.list = append(l.list, link)
}
