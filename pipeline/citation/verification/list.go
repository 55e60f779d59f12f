package verification

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
)

// refSection is a list of references, with its heading if it has one.
type refSection struct {
	start   int // byte of the heading, if it is one of the list; -1: there is none
	end     int // byte behind the heading's lines
	entries []*entry
}

func (s *refSection) last() *entry { return s.entries[len(s.entries)-1] }

// headed finds the lists below headings that name references.
func (t *reading) headed() []*refSection {
	level := func(i int) int { // of a real heading
		if t.isHeading(i) && (t.lines[i].head.level < 7 || t.names(i)) {
			return t.lines[i].head.level
		}
		return 0
	}
	next := make([]int, len(t.lines)+1) // the real heading at or after a line
	next[len(t.lines)] = len(t.lines)
	for i := len(t.lines) - 1; i >= 0; i-- {
		if next[i] = next[i+1]; level(i) != 0 {
			next[i] = i
		}
	}
	var sections []*refSection
	for i := 0; i < len(t.lines); i++ {
		if !t.names(i) {
			continue
		}
		h := t.lines[i].head
		first := min(i+h.lines, len(t.lines))
		until := next[first]
		for until < len(t.lines) && level(until) > h.level {
			until = next[until+1]
		}
		s := &refSection{start: t.lines[i].start, end: t.lines[first-1].end}
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
		lists = append(lists, markup.Span{s.start, s.last().end + 1})
	}
	tail := len(t.lines)
	if len(sections) == 0 {
		tail = t.tail()
	}
	p := entryParser{reading: t, section: len(sections)}
	for i := 0; i < len(t.lines); i++ {
		line := t.line(i)
		if _, inside := lists.At(t.lines[i].start); inside || t.lines[i].code || i < tail && !footnote.MatchString(line) {
			continue
		}
		pre := t.lines[i].label
		if pre == nil || i < tail && !citation.HasAddress(line) && !strings.Contains(pre.raw, "^") {
			continue
		}
		if p.until = len(t.lines); len(lists) > 0 {
			p.until = t.lineAt(lists[0][0])
		}
		p.open(i, *pre)
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
	for i, l := range t.lines {
		line := t.line(i)
		if l.code || strings.Count(line, "[") < 2 && !strings.ContainsAny(line, ":：") {
			continue
		}
		last, from := noNumber, 0
		if pre := l.label; pre != nil {
			last, from = pre.number, len(pre.raw)
		}
		for _, m := range another.FindAllStringSubmatchIndex(line, -1) {
			n, _ := strconv.Atoi(line[m[2]:m[3]])
			follows := last >= 0 && n > last && m[0] >= from && hasTarget(t.r, line[from:m[0]])
			heads := last < 0 && m[0] < 100 && isReferenceLabel(headingLabel(strings.TrimLeft(line[:m[0]], "# "))) &&
				hasTarget(t.r, line[m[1]:])
			if !follows && !heads {
				continue
			}
			breaks = append(breaks, markup.Change{Start: l.start + m[0], End: l.start + m[2] - 1, With: "\n"})
			last, from = n, m[1]
		}
	}
	return t.changed(t.Replace(breaks))
}

// tail returns the line at which the list begins that ends the text and has no heading that names references, and the
// number of lines where there is none. Entries with labels such as [1] each lead somewhere. A numbered list,
// which may be one of other things, counts from 1, has an address in each item, and the text above it cites by its
// numbers.
func (t *reading) tail() int {
	until := len(t.lines)
	at, count := until, 0
	var top label
	target, address := false, false // of the entry whose lines these are
	for i := until - 1; i >= 0; i-- {
		line := t.line(i)
		if t.isBlank(i) || count == 0 && strings.HasPrefix(strings.TrimSpace(line), "</") {
			continue
		}
		pre := t.lines[i].label
		target, address = target || t.leads(i), address || citation.HasAddress(line)
		if t.lines[i].code || pre == nil && !isIndented(line) && !markup.IsOnlyAddress(line) {
			break
		}
		if pre == nil {
			continue // goes on with the entry above
		}
		ordered := pre.style == orderedStyle
		if found := pre.style == bracketStyle && target || ordered && address; !found {
			break
		}
		if count > 0 && (pre.style != top.style || ordered && pre.number != top.number-1) {
			break
		}
		at, top, target, address = i, *pre, false, false
		if count++; ordered && top.number == 1 {
			break
		}
	}
	if top.style == orderedStyle && (top.number != 1 || !t.cites(at, count)) {
		return until
	}
	return at
}

// cites reports whether the text above line i has a marker with a number from 1 to most.
func (t *reading) cites(i, most int) bool {
	inList := func(n int) bool { return 0 < n && n <= most }
	return slices.ContainsFunc(t.Tokens, func(k markup.Token) bool {
		return k.Start < t.lines[i].start && slices.ContainsFunc(k.Group.Numbers, inList)
	})
}
