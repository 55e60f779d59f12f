package citation

import (
	"strings"
)

// catalog finds sources by address, document key or title.
type catalog struct {
	sources   []Source
	addresses addresses
	documents documents
	titles    map[string]int // by folded title; -1: of several places
}

func (c *catalog) add(s Source) {
	at := len(c.sources)
	c.sources = append(c.sources, s)
	if a, ok := parseAddress(s.URL); ok {
		c.addresses.add(a, at)
	}
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

// matchURL returns the index in sources of the source that a URL identifies, and the level of the match: MatchExact to
// MatchQuery. An ambiguous URL identifies no source. An ellipsis in the URL matches omitted text.
func (c *catalog) matchURL(raw string) (at int, level string, ok bool) {
	raw = strings.TrimSpace(raw)
	whole := withoutHalfEscape(raw)
	head, tail, cut := strings.Cut(strings.ReplaceAll(raw, "…", "..."), "...")
	if at, level, ok = c.addresses.match(raw, cut || whole != raw); ok {
		return at, level, true
	}
	if whole != raw {
		return c.addresses.match(whole, true)
	}
	if !cut {
		return 0, "", false
	}
	tail = strings.Trim(tail, ".")
	if strings.Trim(tail, "/") == "" {
		return c.addresses.match(strings.TrimRight(head, "."), true)
	}
	at, ok = c.addresses.between(strings.TrimRight(head, "."), tail)
	return at, MatchTruncation, ok
}

// HasURL reports whether a source has this URL in any spelling.
func (c *catalog) HasURL(raw string) bool {
	_, level, ok := c.matchURL(raw)
	return ok && level == MatchExact
}

// Lead returns the source that an address in a text identifies. A host without a path identifies only a source with
// that address. An address that is not allowed in reports identifies none.
func (c *catalog) Lead(dest string) (Linked, bool) {
	at, level, ok := c.matchURL(dest)
	if !ok || level != MatchExact && (isHost(dest) || unfit(c.sources[at].URL) != "") {
		return Linked{}, false
	}
	s := c.sources[at]
	return Linked{URL: dest, Address: s.URL, Match: level, Sources: s.IDs}, true
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

// isRemark reports whether a footnote is a remark: it has no target, or an address in the middle of a sentence.
func (c *catalog) isRemark(note string) bool {
	if !hasAddress(note) {
		return !c.hasTarget(note)
	}
	found := noteAddress.FindAllStringIndex(note, -1)
	if len(found) == 0 {
		return false
	}
	before, after := note[:found[0][0]], note[found[len(found)-1][1]:]
	return len(strings.Fields(before)) >= 5 && len(strings.Fields(after)) >= 2 && !visited.MatchString(after)
}
