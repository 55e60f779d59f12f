package citation

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/address"
)

// NormalizeURL returns the form in which URLs are compared, see address.Normalize.
func NormalizeURL(raw string) string { return address.Normalize(raw) }

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
		case first >= 0 && placeOf(c.sources[first]) != placeOf(s):
			c.titles[title] = -1
		}
	}
}

// matchURL returns the index in sources of the source that a URL identifies, and the level of the match.
func (c *catalog) matchURL(raw string) (at int, level string, ok bool) { return c.addresses.Match(raw) }

// HasURL reports whether a source has this URL in any spelling.
func (c *catalog) HasURL(raw string) bool {
	_, level, ok := c.matchURL(raw)
	return ok && level == MatchExact
}

// Lead returns the source that an address in a text identifies. A host without a path identifies only a source with
// that address. An address that is not allowed in reports identifies none.
func (c *catalog) Lead(dest string) (Linked, bool) {
	at, level, ok := c.matchURL(dest)
	if !ok || level != MatchExact && (isSite(dest) || unfit(c.sources[at].URL) != "") {
		return Linked{}, false
	}
	s := c.sources[at]
	return Linked{URL: dest, Address: s.URL, Match: level, Sources: s.IDs}, true
}

// isSite reports whether an address names a site without a page.
func isSite(raw string) bool {
	a, ok := address.Parse(raw)
	return ok && a.IsSite()
}

// knows reports whether an address in running text belongs to a source.
func (c *catalog) knows(raw string) bool {
	d, kind := destination(raw)
	_, _, ok := c.matchURL(d)
	return ok && kind == destWeb
}

// hasTarget reports whether a line names a target: an address, a document, or a name that looks like a document.
func (c *catalog) hasTarget(line string) bool {
	if hasAddress(line) {
		return true
	}
	_, key := c.matchText(line)
	return key != "" || c.titled(line) >= 0
}

// noScheme is an address without a scheme.
var noScheme = regexp.MustCompile(`(?i)(?:^|[\s(<\[*"“])((?:[\pL\pN-]+\.)+[\pL]{2,24}/[^\s<>"` + "`" + `|]+)`)

// complete writes the names of papers and addresses without a scheme as addresses of sources.
func (c *catalog) complete(text string) string {
	if len(text) > maxLine || strings.Contains(text, "://") {
		return text
	}
	if text = c.replaceNames(text); strings.Contains(text, "://") {
		return text
	}
	var changes []change
	for _, m := range noScheme.FindAllStringSubmatchIndex(text, 8) {
		rest := text[m[2]:m[3]]
		rest = strings.TrimRight(rest[:addressEnd(rest, 0, len(rest))], addressMarks)
		if c.HasURL("https://" + rest) {
			changes = append(changes, change{m[2], m[2], "https://"})
		}
	}
	return outsideCode(text, changes)
}

// paperName is what papers are called by, doi:10.1000/182 and arXiv:2401.01234, and has an address by.
var paperName = regexp.MustCompile(`(?i)\b(?:doi[:：]?[ ]?(10\.[0-9]{4,9}/[^\s<>"` + "`" +
	`|]+)|arxiv[:：][ ]?([0-9]{4}\.[0-9]{4,5}(?:v[0-9]{1,2})?))`)

// replaceNames writes the names of papers as the addresses of sources that they stand for.
func (c *catalog) replaceNames(text string) string {
	return paperName.ReplaceAllStringFunc(text, func(name string) string {
		m := paperName.FindStringSubmatch(name)
		address, after := "https://arxiv.org/abs/"+m[2], ""
		if m[1] != "" {
			id := strings.TrimRight(m[1][:addressEnd(m[1], 0, len(m[1]))], addressMarks)
			address, after = "https://doi.org/"+id, m[1][len(id):]
		}
		if _, level, ok := c.matchURL(address); !ok || level != MatchExact {
			return name
		}
		return address + after
	})
}
