package citation

import (
	"slices"
	"strings"

	"nightdesk/pipeline/citation/address"
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
// before it and reported: unknown ids, bare numbers, addresses that no source has (the text of such a link stays, and
// of an address the site's name), and tags that load, run or link something. An address that leads to a source in
// another way than exactly becomes the source's own; links has those that stay, as they were written. Code is left
// alone. Resolving the result again changes nothing, unless the text was made to annoy. Never fails.
func (r *Registry) Resolve(markdown string) (resolved string, removed []Removal, links []Linked) {
	markdown = Normalize(markdown)
	links = r.Links(markdown)
	// What is removed may join its neighbours to a new marker, so the text is read until nothing changes.
	for range 30 {
		c := resolver{Registry: r, text: r.Scan(markdown), rowEnd: -1}
		for _, k := range c.text.Tokens {
			if !k.Coded {
				c.edits = append(c.edits, c.resolve(k)...)
			}
		}
		out := c.text.Apply(0, len(markdown), c.edits)
		removed = append(removed, c.removed...)
		if out == markdown {
			break
		}
		markdown = out
	}
	return markdown, removed, links
}

type resolver struct {
	*Registry
	text    *Text
	edits   []Edit
	removed []Removal
	row     []string // markers that stand side by side
	rowEnd  int      // where the last of them ends
}

func (c *resolver) note(marker, reason string) {
	c.removed = append(c.removed, Removal{marker, reason})
}

// resolve returns what changes about a token.
func (c *resolver) resolve(k Token) []Edit {
	raw := c.text.Markdown[k.Start:k.End]
	switch {
	case slices.ContainsFunc(k.IDs, func(id string) bool { return Canonical(id) != "" || k.Kind == KindMarker }):
		if dest := k.Dest; dest != "" && !c.HasURL(dest) {
			c.note(dest, ReasonUnknownURL)
		}
		return []Edit{{Start: k.Start, End: k.End, With: c.marker(k)}}
	case k.Kind == KindMarker:
		if len(k.Numbers) == 0 || !c.text.IsCitation(k, false, c.rowEnd) {
			return nil
		}
		c.note(raw, ReasonNumber)
		return []Edit{{Start: k.Start, End: k.End, With: Gone}}
	case k.Kind == KindTag:
		c.note(raw, ReasonMarkup)
		return []Edit{{Start: k.Start, End: k.End, With: Gone}}
	}
	switch at, level, ok := c.Lead(k.Dest); {
	case !ok:
		c.note(k.Dest, ReasonUnknownURL)
	case level == MatchExact && !k.Labelled:
		return nil
	default:
		return []Edit{c.text.Relink(k, SafeSpelling(c.At(at).URL))}
	}
	return c.text.Unlink(k, SiteName(k.Dest))
}

// marker returns the canonical markers of a token that are not yet in its row.
func (c *resolver) marker(k Token) string {
	if k.Start != c.rowEnd {
		c.row = nil
	}
	c.rowEnd = k.End
	var with strings.Builder
	for _, id := range k.IDs {
		marker := "[" + id + "]"
		if _, known := c.traces[id]; !known {
			c.note(marker, ReasonUnknownKey)
		} else if !slices.Contains(c.row, marker) {
			c.row = append(c.row, marker)
			with.WriteString(marker)
		}
	}
	if with.Len() == 0 {
		return Gone
	}
	return with.String()
}

// SiteName returns the name of the site of an address; "" if it names none that a reader should see.
func SiteName(dest string) string {
	a, ok := address.Parse(dest)
	if !ok || a.IsIP() || a.IsShortened() {
		return ""
	}
	return strings.TrimPrefix(a.Host, "www.")
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
	for _, k := range r.Scan(markdown).Tokens {
		if at, level, ok := r.Lead(k.Dest); ok && !k.Coded && !seen[k.Dest] {
			seen[k.Dest] = true
			links = append(links, Linked{URL: k.Dest, Address: r.At(at).URL, Match: level, Sources: r.At(at).IDs})
		}
	}
	return links
}
