package citation

import (
	"regexp"
	"strconv"
	"strings"
)

// entry is one item of a list of references.
type entry struct {
	section    int
	number     int    // as written, or by position if no entry has a number; noNumber if it has none
	bare       bool   // its number was not written
	id         string // canonical citation id; empty: it has a number
	anchor     bool   // an HTML anchor stands before the label
	start, end int    // bytes of its lines, without the last line break
	prefix     string // list marker and indent before the label
	body       int    // byte at which its text begins
	table      bool   // a row of a table
	footnote   bool   // defines its number in the middle of the text
	line       int    // line of the original text, from 1; 0 = unknown
	split      bool   // follows another entry on the same line

	found        // the target of the text
	final int    // number in the result
	same  *entry // the entry that this one duplicates
}

// noNumber is the number of an entry without one; some lists count from 0.
const noNumber = -1

// entryParser finds the entries of one list. Text between them belongs to the report and stays.
type entryParser struct {
	*reading
	lines   []textLine // up to the end of the list
	plain   bool       // the heading is doubtful: it has no markup, or is ambiguous
	section int

	entries []*entry
	cur     *entry
	style   entryStyle
	last    int // number of the last entry
	once    int // number of the first entry
	next    int // no earlier line of the list, from the start of the search, has a target

	below      span // lines for which nextHasTarget is known
	belowLeads bool
}

// parse reads the lines from first on.
func (p *entryParser) parse(first int) []*entry {
	prose := false // there was other text since the last entry
	for i := first; i < len(p.lines); i++ {
		line := p.lines[i].of(p.text)
		if p.lines[i].code && (prose || p.plain || !p.isShifted(i)) {
			prose = true
			continue
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		pre, ok := p.start(i)
		if !ok && hasAddress(line) {
			pre, ok = p.unlabelled(line)
		}
		if ok && pre.style == orderedStyle && pre.number == p.once && p.style == orderedStyle && !prose {
			pre.number = p.last + 1 // Markdown allows lists numbered 1. 1. 1.
		}
		if ok && !p.fits(pre, i, prose) {
			ok = false
		}
		if !ok {
			if len(p.entries) == 0 && p.plain {
				return nil // a single word above a paragraph is not a heading
			}
			h, isHeading := p.heading(i)
			if isHeading && !h.plain {
				p.last = 0
			}
			prose = prose || !strings.HasPrefix(strings.TrimSpace(line), "|") && !underline.MatchString(line)
			continue
		}
		if len(p.entries) == 0 {
			p.once = pre.number
		}
		p.open(i, pre)
		i = p.follow(i)
		p.close()
		prose = false
	}
	return p.entries
}

// unlabelled recognizes a list item or table row without a label.
func (p *entryParser) unlabelled(line string) (entryPrefix, bool) {
	style, pattern := bulletStyle, bulletEntry
	if strings.HasPrefix(strings.TrimLeft(line, " \t"), "|") {
		style, pattern = rowStyle, rowEntry
	}
	if p.style != 0 && p.style != style {
		return entryPrefix{}, false
	}
	m := pattern.FindString(line)
	return entryPrefix{style: style, number: noNumber, indent: m, raw: m, length: len(m)}, m != ""
}

// isShifted reports whether line i, which Markdown treats as indented code, is an entry of an indented list.
func (p *entryParser) isShifted(i int) bool {
	pre, ok := p.start(i)
	isFirst := len(p.entries) == 0 || strings.TrimLeft(p.cur.prefix, " \t") != p.cur.prefix
	return ok && isFirst && pre.style == bracketStyle && hasAddress(p.lines[i].of(p.text))
}

// fits reports whether an apparent entry belongs to this list.
func (p *entryParser) fits(pre entryPrefix, i int, prose bool) bool {
	if p.style != 0 && pre.style != p.style {
		return false
	}
	switch {
	case p.leads(i) || p.nextHasTarget(i) || pre.id != "":
		return true
	case len(p.entries) == 0: // a to-do list below "Notes" has no targets
		return !prose && (!p.plain || p.listHasTarget(i))
	case pre.style == bracketStyle:
		return !prose
	}
	return !prose && pre.number > p.last
}

// nextHasTarget reports whether the entry continues after line i with an address or document.
func (p *entryParser) nextHasTarget(i int) bool {
	if i >= p.below.start && i < p.below.end {
		return p.belowLeads
	}
	j := i + 1
	for ; j < len(p.lines); j++ {
		if blank := strings.TrimSpace(p.lines[j].of(p.text)) == ""; blank &&
			(j+1 == len(p.lines) || !isOnlyAddress(p.lines[j+1].of(p.text))) ||
			!blank && (p.leads(j) || !p.goesOn(j)) {
			break
		}
	}
	p.below = span{i, j} // the result is the same for all these lines
	p.belowLeads = j < len(p.lines) && p.leads(j) && p.goesOn(j)
	return p.belowLeads
}

// goesOn reports whether the non-blank line j may continue the entry above it.
func (p *entryParser) goesOn(j int) bool {
	line := p.lines[j].of(p.text)
	trimmed := strings.TrimSpace(line)
	indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
	if _, isEntry := p.start(j); isEntry {
		return false
	}
	h, isHeading := p.heading(j)
	return !(isHeading && !h.plain || namedNote.MatchString(line) || p.lines[j].code && !indented || trimmed[0] == '|' ||
		strings.HasPrefix(trimmed, "</") ||
		underline.MatchString(line) || !indented && bulletEntry.MatchString(line) && !isOnlyAddress(line))
}

// listHasTarget reports whether an item of the list that begins at line i has a target. Another list may follow.
func (p *entryParser) listHasTarget(i int) bool {
	next := max(i, p.next)
	for ; next < len(p.lines); next++ { // each line is examined once
		if h, ok := p.heading(next); ok && isReferenceLabel(h.label) && next > i {
			break
		}
		if _, ok := p.start(next); ok && (p.leads(next) || p.nextHasTarget(next)) {
			p.next = next
			return true
		}
	}
	p.next = next
	return false
}

func (p *entryParser) open(i int, pre entryPrefix) {
	l := p.lines[i]
	p.style, p.last = pre.style, max(pre.number, p.last)
	p.cur = &entry{section: p.section, number: pre.number, id: pre.id, anchor: pre.anchor, start: l.start, end: l.end,
		prefix: pre.indent, body: l.start + pre.length, table: pre.style == tableStyle}
}

// follow extends the entry by the lines after i that belong to it, and returns the last of them.
func (p *entryParser) follow(i int) int {
	if p.cur.table {
		return i
	}
	target := p.leads(i)
	blank := false
	for j := i + 1; j < len(p.lines); j++ {
		line := p.lines[j].of(p.text)
		if strings.TrimSpace(line) == "" {
			blank = true
			continue
		}
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		// of our own: a query, then its source
		onlyAddress := isOnlyAddress(line) || p.cur.id != "" && !target && p.leads(j) && !p.heads(j)
		if !p.goesOn(j) || blank && !indented && (target || !onlyAddress) || !indented && onlyAddress && target &&
			bulletEntry.MatchString(line) {
			break
		}
		target = target || p.leads(j)
		p.cur.end, blank, i = p.lines[j].end, false, j
	}
	return i
}

// heads reports whether line j names the document of the entries directly below it.
func (p *entryParser) heads(j int) bool {
	if j+1 == len(p.lines) {
		return false
	}
	pre, isEntry := p.start(j + 1)
	return isEntry && pre.id != ""
}

// isOnlyAddress reports whether a line consists of an address only.
func isOnlyAddress(line string) bool {
	line = strings.Trim(strings.TrimLeft(strings.TrimSpace(line), "-*+• "), "<>`* ")
	return isAddress(line) && !strings.ContainsAny(line, " \t")
}

// several finds further entries on the same line.
var several = regexp.MustCompile(`[ \t;,|]+\[([0-9]{1,3})\][ \t:]+`)

// close adds the entry, split if its line has several.
func (p *entryParser) close() {
	e := p.cur
	first := p.text[e.body:e.end]
	if nl := strings.IndexByte(first, '\n'); nl >= 0 {
		first = first[:nl]
	}
	if e.number >= 0 && !e.table && strings.Contains(first, "[") {
		from := 0
		for _, m := range several.FindAllStringSubmatchIndex(first, -1) {
			n, _ := strconv.Atoi(first[m[2]:m[3]])
			if n <= e.number || !p.r.hasTarget(first[from:m[0]]) {
				continue
			}
			next := *e
			base := p.cur.body
			next.number, next.start, next.body, next.split, next.prefix = n, base+m[0], base+m[1], true, ""
			e.end = base + m[0]
			p.entries = append(p.entries, e)
			e, from = &next, m[1]
			p.last = max(p.last, n)
		}
	}
	if e.number == noNumber && e.id == "" {
		base := e.body
		for _, m := range onlyAddresses(first) {
			next := *e
			next.start, next.body, next.split = base+m[0], base+m[0], true
			e.end = base + m[1]
			p.entries = append(p.entries, e)
			e = &next
		}
	}
	p.entries = append(p.entries, e)
}

// oneAddress is an address, or a link.
var oneAddress = regexp.MustCompile(`(?i)<?https?://[^\s,;|<>]+>?|\[[^\[\]]{1,200}\]\(<?https?://[^()\s]{1,1000}\)`)

// onlyAddresses splits a line that has several addresses and no words. It returns the start of the second and each
// further entry, and the end of the entry before it.
func onlyAddresses(line string) (entries [][2]int) {
	last := 0
	for i, m := range oneAddress.FindAllStringIndex(line, -1) {
		gap := line[last:m[0]]
		if strings.Trim(gap, " \t,;|") != "" || i > 0 && gap == "" {
			return nil
		}
		if i > 0 {
			entries = append(entries, [2]int{m[0], last})
		}
		last = m[1]
	}
	if strings.Trim(line[last:], " \t.,;|") != "" {
		return nil
	}
	return entries
}

// hasAddress reports whether a line holds a URL.
func hasAddress(line string) bool {
	return strings.Contains(line, "://") || strings.Contains(line, "www.")
}
