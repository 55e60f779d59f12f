package citation

import (
	"slices"

	"nightdesk/pipeline/citation/address"
)

// catalog finds sources by address, document key or title.
type catalog struct {
	sources   []Source
	addresses *address.Index
	documents documents
	titles    map[string]int // by folded title; -1: of several places
}

func newCatalog() catalog {
	return catalog{
		titles:    map[string]int{},
		documents: documents{pages: map[string]*pages{}, base: map[string][]string{}},
		addresses: address.NewIndex(),
	}
}

// sort must be called after the last add.
func (c *catalog) sort() {
	c.addresses.Sort()
	slices.SortStableFunc(c.documents.files, func(a, b string) int { return len(b) - len(a) })
}

func (c *catalog) add(s Source) {
	at := len(c.sources)
	c.sources = append(c.sources, s)
	c.addresses.Add(s.URL, at)
	c.documents.add(s.Key, at)
	if title := foldTitle(s.Title); title != "" {
		first, known := c.titles[title]
		switch {
		case !known:
			c.titles[title] = at
		case first >= 0 && PlaceOf(c.sources[first]) != PlaceOf(s):
			c.titles[title] = -1
		}
	}
}

// MatchURL returns the index in sources of the source that a URL identifies, and the level of the match.
func (c *catalog) MatchURL(raw string) (at int, level string, ok bool) { return c.addresses.Match(raw) }

// HasURL reports whether a source has this URL in any spelling.
func (c *catalog) HasURL(raw string) bool {
	_, level, ok := c.MatchURL(raw)
	return ok && level == MatchExact
}

// Lead returns the source that an address in a text identifies. A host without a path identifies only a source with
// that address. An address that is not allowed in reports identifies none.
func (c *catalog) Lead(dest string) (Linked, bool) {
	at, level, ok := c.MatchURL(dest)
	if !ok || level != MatchExact && (IsSite(dest) || Unfit(c.sources[at].URL) != "") {
		return Linked{}, false
	}
	s := c.sources[at]
	return Linked{URL: dest, Address: s.URL, Match: level, Sources: s.IDs}, true
}

// IsSite reports whether an address names a site without a page.
func IsSite(raw string) bool {
	a, ok := address.Parse(raw)
	return ok && a.IsSite()
}
