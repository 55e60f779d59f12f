package verification

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
)

// refSection is a list of references: the lines from to until, the first of which are its heading.
type refSection struct {
	head    heading
	start   int // byte of the heading, if it is one of the list; -1: there is none
	end     int // byte behind the heading's lines
	until   int // byte at which the next heading begins
	entries []*entry
}

func (s *refSection) last() *entry { return s.entries[len(s.entries)-1] }

// findSections finds the lists of references.
func (t *reading) findSections() []*refSection {
	sections := t.headed()
	if s := t.definitions(sections); s != nil {
		sections = append(sections, s)
	}
	return sections
}

// headed finds the lists below headings that name references.
func (t *reading) headed() []*refSection {
	lines := t.all
	level := func(i int) int { // of a real heading
		if h, ok := t.heading(i); ok && !h.plain && (h.level < 7 || isReferenceLabel(h.label)) {
			return h.level
		}
		return 0
	}
	next := make([]int, len(lines)+1) // the real heading at or after a line
	next[len(lines)] = len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		if next[i] = next[i+1]; level(i) != 0 {
			next[i] = i
		}
	}
	var sections []*refSection
	for i := 0; i < len(lines); i++ {
		h, ok := t.heading(i)
		if !ok || !isReferenceLabel(h.label) {
			continue
		}
		first := i + h.lines
		until := next[min(first, len(lines))]
		for until < len(lines) && level(until) > h.level {
			until = next[until+1]
		}
		s := &refSection{head: h, start: lines[i].start, end: lines[min(first, len(lines))-1].end, until: lines[until-1].end}
		p := entryParser{reading: t, until: until, plain: h.plain || softLabels[h.label], section: len(sections)}
		if s.entries = p.parse(first); len(s.entries) == 0 && !p.plain {
			s.entries = p.parsePlain(first)
		}
		if len(s.entries) > 0 {
			sections = append(sections, s)
			i = until - 1
		}
	}
	return sections
}

// footnote is the definition of a numbered footnote or reference link.
var footnote = regexp.MustCompile(`^ {0,3}\[\^?[0-9]{1,4}\]:`)

// definitions collects what defines markers outside the lists: footnotes, and without any list the entries that end
// the text.
func (t *reading) definitions(sections []*refSection) *refSection {
	var lists markup.Spans
	for _, s := range sections {
		lists = append(lists, markup.Span{Start: s.start, End: s.last().end + 1})
	}
	tail := len(t.all)
	if len(sections) == 0 {
		tail = t.tail(len(t.all))
	}
	p := entryParser{reading: t, section: len(sections)}
	for i := 0; i < len(t.all); i++ {
		line := t.line(i)
		if _, inside := lists.At(t.all[i].start); inside || t.all[i].code || i < tail && !footnote.MatchString(line) {
			continue
		}
		pre, ok := t.start(i)
		if !ok || i < tail && !citation.HasAddress(line) && !strings.Contains(pre.raw, "^") {
			continue
		}
		if p.until = len(t.all); len(lists) > 0 {
			p.until = t.lineAt(lists[0].Start)
		}
		p.open(i, pre)
		p.cur.footnote = i < tail
		i = p.follow(i)
		p.entries = append(p.entries, p.cur)
	}
	if len(p.entries) == 0 {
		return nil
	}
	return &refSection{start: -1, entries: p.entries}
}

// another is the label of a further entry on the same line.
var another = regexp.MustCompile(`[ \t;,|]+\[([0-9]{1,3})\][ \t:]+`)

// splitEntries puts the entries of a list that share a line on lines of their own, also behind its heading:
// "**Sources:** [1] ... [2] ...".
func (t *reading) splitEntries() *reading {
	var breaks []markup.Change
	for i, l := range t.all {
		line := t.line(i)
		if l.code || strings.Count(line, "[") < 2 && !strings.ContainsAny(line, ":：") {
			continue
		}
		last, from := noNumber, 0
		if pre, ok := t.start(i); ok {
			last, from = pre.number, len(pre.raw)
		}
		for _, m := range another.FindAllStringSubmatchIndex(line, -1) {
			n, _ := strconv.Atoi(line[m[2]:m[3]])
			follows := last >= 0 && n > last && m[0] >= from && hasTarget(t.r, line[from:m[0]])
			heads := last < 0 && isReferenceLabel(headingLabel(strings.TrimLeft(line[:m[0]], "# "))) &&
				hasTarget(t.r, line[m[1]:])
			if !follows && !heads {
				continue
			}
			breaks = append(breaks, markup.Change{Start: l.start + m[0], End: l.start + m[2] - 1, With: "\n"})
			last, from = n, m[1]
		}
	}
	return t.changed(markup.OutsideCode(t.text, breaks))
}

// tail returns the line at which the list begins that ends the lines before until and has no heading that names
// references, and until where there is none. Entries with labels such as [1] each lead somewhere. A numbered list,
// which may be one of other things, counts from 1, has an address in each item, and the text above it cites by its
// numbers.
func (t *reading) tail(until int) int {
	at, count := until, 0
	var top label
	target, address := false, false // of the entry whose lines these are
	for i := until - 1; i >= 0; i-- {
		line := t.line(i)
		if t.isBlank(i) || count == 0 && strings.HasPrefix(strings.TrimSpace(line), "</") {
			continue
		}
		pre, ok := t.start(i)
		target, address = target || t.leads(i), address || citation.HasAddress(line)
		if t.all[i].code || !ok && !isIndented(line) && !markup.IsOnlyAddress(line) {
			break
		}
		if !ok {
			continue // goes on with the entry above
		}
		ordered := pre.style == orderedStyle
		if found := pre.style == bracketStyle && target || ordered && address; !found {
			break
		}
		if count > 0 && (pre.style != top.style || ordered && pre.number != top.number-1) {
			break
		}
		at, top, target, address = i, pre, false, false
		if count++; ordered && top.number == 1 {
			break
		}
	}
	if top.style == orderedStyle && (top.number != 1 || !t.cites(at, count)) {
		return until
	}
	return at
}

// marked is a number in brackets, alone or the first of several.
var marked = regexp.MustCompile(`[\[【［]\^?([0-9]{1,3})[\]】］,;†–-]`)

// maxMarked is the highest number that marked finds.
const maxMarked = 999

// cites reports whether the text above line i has a marker with a number from 1 to most.
func (t *reading) cites(i, most int) bool {
	if t.markers == nil {
		t.markers = slices.Repeat([]int{len(t.text)}, maxMarked+1)
		for _, m := range marked.FindAllStringSubmatchIndex(t.text, -1) {
			if n, err := strconv.Atoi(t.text[m[2]:m[3]]); err == nil && n > 0 {
				t.markers[n] = min(t.markers[n], m[0])
			}
		}
		for n := 2; n <= maxMarked; n++ {
			t.markers[n] = min(t.markers[n], t.markers[n-1])
		}
	}
	return t.markers[min(most, maxMarked)] < t.all[i].start
}
