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
// before it and reported: unknown ids, bare numbers, addresses that no source has (the text of such a link stays), and
// tags that load, run or link something. An address that leads to a source in another way than exactly becomes the
// source's own; links has those that stay, as they were written. Code is left alone. Resolving the result again changes
// nothing, unless brackets are nested a hundred deep. Never fails.
func (r *Registry) Resolve(markdown string) (resolved string, removed []Removal, links []Linked) {
	markdown = strings.ToValidUTF8(markdown, "\uFFFD")
	links = r.Links(markdown)
	// What is removed may join its neighbours to a new marker, so the text is read until nothing changes: twice for
	// real text. The bound is for text that was made to annoy: brackets nested without end.
	for range 30 {
		out, more := r.resolveOnce(markdown)
		removed = append(removed, more...)
		if out == markdown {
			break
		}
		markdown = out
	}
	return markdown, removed, links
}

func (r *Registry) resolveOnce(markdown string) (out string, removed []Removal) {
	note := func(marker, reason string) { removed = append(removed, Removal{marker, reason}) }
	e := markup.Scan(markdown, r.HasURL).Edit()
	e.OnLink = func(t markup.Token) markup.Verdict {
		l, ok := r.Lead(t.Dest)
		switch {
		case t.Raw != "":
			note(t.Raw, ReasonMarkup)
		case !ok:
			note(t.Dest, ReasonUnknownURL)
		case t.Kind == markup.Definition: // goes in any case
		case l.Match == MatchExact:
			return markup.Verdict{Keep: true}
		default:
			return markup.Verdict{Keep: true, Dest: SafeSpelling(l.Address)}
		}
		return markup.Verdict{}
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
		var markers []string
		for _, id := range g.IDs {
			marker := "[" + id.String() + "]"
			if _, known := r.traces[id.String()]; known {
				markers = append(markers, marker)
			} else {
				note(marker, ReasonUnknownKey)
			}
		}
		if g.Dest != "" && !strings.HasPrefix(g.Dest, "#") && !r.HasURL(g.Dest) {
			note(g.Dest, ReasonUnknownURL)
		}
		return e.Cite(markers...), true
	}
	return e.Run(0, len(markdown)), removed
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
func (r *Registry) Links(markdown string) (links []Linked) {
	seen := map[string]bool{}
	for _, t := range markup.Scan(markdown, r.HasURL).Tokens {
		if l, ok := r.Lead(t.Dest); ok && !t.Coded && t.Raw == "" && !seen[l.URL] {
			seen[l.URL] = true
			links = append(links, l)
		}
	}
	return links
}
