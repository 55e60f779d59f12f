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

var (
	// brokenScheme is an address whose beginning is garbled: https:/x.org, htps://x.org, https:// x.org,
	// https://https://x.org.
	brokenScheme = regexp.MustCompile(`(?i)\b(?:hxxps?|h{1,2}t{1,3}ps?|h?ttp?ps?|ttps?)[ ]?(?::|;)?[ ]?[/\\]{0,3}[ ]?` +
		`(?:https?(?::|;)?[/\\]{1,3})?` +
		`((?:[\pL\pN-]+\.)+[\pL]{2,24}(?::[0-9]{1,5})?(?:[/?][^\s<>"` + "`" + `|]*)?)`)
	// noScheme is an address without one.
	noScheme = regexp.MustCompile(`(?i)(?:^|[\s(<\[*"“])((?:[\pL\pN-]+\.)+[\pL]{2,24}/[^\s<>"` + "`" + `|]+)`)
)

// mend repairs garbled addresses of an entry if the result is the address of a source. Other addresses are unchanged.
func (c *catalog) mend(text string) string {
	if len(text) > maxLine {
		return text
	}
	text = c.replaceNames(text)
	text = c.replaceAddress(text, brokenScheme)
	if !strings.Contains(text, "://") {
		text = c.replaceAddress(text, noScheme)
	}
	return text
}

func (c *catalog) replaceAddress(text string, pattern *regexp.Regexp) string {
	var b strings.Builder
	pos := 0
	for _, m := range pattern.FindAllStringSubmatchIndex(text, 8) {
		start := m[0]
		if pattern == noScheme {
			start = m[2]
		}
		rest := text[m[2]:m[3]]
		rest = strings.TrimRight(rest[:addressEnd(rest, 0, len(rest))], addressMarks)
		if prefix := strings.ToLower(text[start:m[2]]); prefix == "http://" || prefix == "https://" {
			continue // nothing is wrong with it
		}
		if _, level, ok := c.matchURL("https://" + rest); !ok || level != MatchExact && isSite("https://"+rest) {
			continue
		}
		b.WriteString(text[pos:start] + "https://" + rest)
		pos = m[2] + len(rest)
	}
	return b.String() + text[pos:]
}

// paperName is what papers are called by, doi:10.1000/182 and arXiv:2401.01234, and has an address by.
var paperName = regexp.MustCompile(`(?i)\b(?:doi[:：]?[ ]?(10\.[0-9]{4,9}/[^\s<>"` + "`" +
	`|]+)|arxiv[:：][ ]?([0-9]{4}\.[0-9]{4,5}(?:v[0-9]{1,2})?))`)

// replaceNames writes the names of papers as the addresses of sources that they stand for.
func (c *catalog) replaceNames(text string) string {
	if strings.Contains(text, "://") {
		return text
	}
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
