package verification

import (
	"slices"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
)

// reading caches the lines, headings and lists of references of a text. Each is found once, on first use.
type reading struct {
	r    *citation.Registry
	text string
	code markup.Spans
	all  []textLine

	targets  []int8     // by line: whether it leads somewhere; 0 = not yet known
	headings []*heading // by line; noHeading = it is none, nil = not yet known

	sections []*refSection // see lists
	known    bool
	markers  []int // by number: where the first marker with this or a lower number stands; nil: not yet known
}

func newReading(r *citation.Registry, text string) *reading {
	code := markup.CodeSpans(text)
	lines := textLines(text, code)
	return &reading{r: r, text: text, code: code, all: lines, targets: make([]int8, len(lines)),
		headings: make([]*heading, len(lines))}
}

// changed returns a reading of the changed text.
func (t *reading) changed(text string) *reading {
	if text == t.text {
		return t
	}
	return newReading(t.r, text)
}

// plainMarkers returns a reading with all markers in the usual form. places: without a list, numbers are places in the
// registry's sources.
func (t *reading) plainMarkers(places bool) *reading {
	listed := map[int]bool{}
	for n := range t.r.Len() {
		listed[n+1] = places && len(t.lists()) == 0
	}
	for _, s := range t.lists() {
		for i, e := range s.entries {
			listed[e.number] = true
			listed[i+1] = listed[i+1] || e.number == noNumber
		}
	}
	return t.changed(plainMarkers(t.text, func(n int) bool { return listed[n] }))
}

// textLine is a line of Markdown: text[start:end] without its line break.
type textLine struct {
	start, end int
	code       bool // begins within a code block
}

func (l textLine) of(text string) string { return text[l.start:l.end] }

// textLines cuts a text with this code into lines.
func textLines(text string, code markup.Spans) []textLine {
	var lines []textLine
	start := 0
	for line := range strings.SplitSeq(text, "\n") {
		l := textLine{start: start, end: start + len(line)}
		if c, ok := code.At(start); ok && c.End >= l.end {
			l.code = text[c.Start] != '`' || strings.HasPrefix(text[c.Start:], "```")
		}
		lines = append(lines, l)
		start = l.end + 1
	}
	return lines
}

// lineAt returns the first line that begins at a byte or behind it.
func (t *reading) lineAt(pos int) int {
	i, _ := slices.BinarySearchFunc(t.all, pos, func(l textLine, pos int) int { return l.start - pos })
	return i
}

// lists returns the lists of references, in order.
func (t *reading) lists() []*refSection {
	if !t.known {
		t.sections, t.known = t.findSections(), true
	}
	return t.sections
}

var noHeading = &heading{}

// heading recognises the heading at line i.
func (t *reading) heading(i int) (heading, bool) {
	if t.headings[i] == nil {
		t.headings[i] = noHeading
		if h, ok := headingAt(t.text, t.all, i); ok {
			t.headings[i] = &h
		}
	}
	return *t.headings[i], t.headings[i] != noHeading
}

// isHeading reports whether markup makes line i a heading.
func (t *reading) isHeading(i int) bool {
	h, ok := t.heading(i)
	return ok && !h.plain
}

// start recognizes an entry that begins at line i.
func (t *reading) start(i int) (label, bool) { return entryStart(t.line(i)) }

// leads reports whether line i, without its label, names an address or a document.
func (t *reading) leads(i int) bool {
	if t.targets[i] == 0 {
		line := t.line(i)
		if pre, ok := t.start(i); ok {
			line = line[len(pre.raw):]
		}
		t.targets[i] = -1
		if strings.TrimSpace(line) != "" && hasTarget(t.r, line) {
			t.targets[i] = 1
		}
	}
	return t.targets[i] > 0
}

// line returns line i.
func (t *reading) line(i int) string { return t.all[i].of(t.text) }

// isBlank reports whether line i shows nothing.
func (t *reading) isBlank(i int) bool { return strings.TrimSpace(t.line(i)) == "" }
