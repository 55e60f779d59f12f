package citation

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"nightdesk/pipeline/text"
)

// textLine is a line of Markdown: text[start:end] without its line break.
type textLine struct {
	start, end int
	code       bool // begins within a code block
}

func (l textLine) of(text string) string { return text[l.start:l.end] }

// textLines cuts a text with this code into lines.
func textLines(text string, code []span) []textLine {
	var lines []textLine
	for start := 0; start <= len(text); {
		end := len(text)
		if nl := strings.IndexByte(text[start:], '\n'); nl >= 0 {
			end = start + nl
		}
		for len(code) > 0 && code[0].end <= start {
			code = code[1:]
		}
		inBlock := len(code) > 0 && code[0].start <= start &&
			(text[code[0].start] != '`' || strings.HasPrefix(text[code[0].start:], "```"))
		lines = append(lines, textLine{start, end, inBlock && code[0].end >= end})
		start = end + 1
	}
	return lines
}

// heading is a line, or a line and its underline, that could name what follows it.
type heading struct {
	label string // folded, without markup
	level int    // 1 to 6; 7: bold or plain text on a line of its own
	plain bool   // nothing but its words makes it a heading
	html  bool   // made by tags that end elsewhere
	lines int
}

var (
	atxLine      = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]*(.*?)[ \t]*#*[ \t]*$`)
	emphasisLine = regexp.MustCompile(`^ {0,3}(?:\*{1,3}|_{1,3})([^*_]{1,60})(?:\*{1,3}|_{1,3})[ \t]*[:：]?[ \t]*$`)
	htmlHeading  = regexp.MustCompile(`(?i)^ {0,3}<h([1-6])[^>]*>([^<]{1,80})</h[1-6]>[ \t]*$`)
	tagsLine     = regexp.MustCompile(`(?i)^ {0,3}(?:<(?:details|summary|p|div|b|strong|section` +
		`|h[1-6])>[ \t]*)+([^<]{1,60})(?:</[a-z0-9]+>[ \t]*)*$`)
	underline = regexp.MustCompile(`^ {0,3}(?:=+|-{2,})[ \t]*$`)
	numbering = regexp.MustCompile(`^(?:(?:[0-9]{1,2}(?:\.[0-9]{1,2})*[.)]?|[ivxIVX]{1,5}[.)]|[A-Z][.)]` +
		`|[一二三四五六七八九十]{1,3}[、.．])\s*)`)
)

// headingAt recognises the heading at line i.
func headingAt(text string, lines []textLine, i int) (heading, bool) {
	if lines[i].code {
		return heading{}, false
	}
	line := lines[i].of(text)
	if len(line) > 300 || strings.TrimSpace(line) == "" {
		return heading{}, false
	}
	if m := atxLine.FindStringSubmatch(line); m != nil {
		return heading{label: headingLabel(m[2]), level: len(m[1]), lines: 1}, true
	}
	if m := htmlHeading.FindStringSubmatch(line); m != nil {
		return heading{label: headingLabel(m[2]), level: int(m[1][0] - '0'), lines: 1}, true
	}
	if i+1 < len(lines) && underline.MatchString(lines[i+1].of(text)) &&
		(i == 0 || strings.TrimSpace(lines[i-1].of(text)) == "") {
		level := 2
		if strings.Contains(lines[i+1].of(text), "=") {
			level = 1
		}
		return heading{label: headingLabel(line), level: level, lines: 2}, true
	}
	if m := tagsLine.FindStringSubmatch(line); m != nil {
		return heading{label: headingLabel(m[1]), level: 7, html: true, lines: 1}, true
	}
	if m := emphasisLine.FindStringSubmatch(line); m != nil {
		return heading{label: headingLabel(m[1]), level: 7, lines: 1}, true
	}
	if len(line) <= 80 {
		return heading{label: headingLabel(line), level: 7, plain: true, lines: 1}, true
	}
	return heading{}, false
}

func headingLabel(s string) string {
	s = strings.Trim(text.Line(s), "*_ ")
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r > 0x7f && !unicode.IsLetter(r) || r == '[' })
	if s = strings.TrimSpace(s); s != "" && (s[0] >= 0x80 || isDigit(s[0]) || len(s) > 1 &&
		strings.ContainsAny(s[1:min(len(s), 6)], ".)")) {
		s = numbering.ReplaceAllString(s, "")
	}
	return strings.ToLower(strings.Trim(s, "*_:：. ]【】"))
}

// refSection is a list of references: the lines from to until, the first of which are its heading.
type refSection struct {
	head    heading
	start   int // byte of the heading, if it is one of the list; -1: there is none
	end     int // byte behind the heading's lines
	until   int // byte at which the next heading begins
	entries []*entry
}

// findSections finds the lists of references.
func (t *reading) findSections() []*refSection {
	text, lines := t.text, t.all
	levels := make([]int, len(lines)) // of real headings
	for i := range lines {
		if h, ok := t.heading(i); ok && !h.plain && (h.level < 7 || isReferenceLabel(h.label)) {
			levels[i] = h.level
		}
	}
	next := make([]int, len(lines)+1) // the real heading at or after a line
	next[len(lines)] = len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		if next[i] = next[i+1]; levels[i] != 0 {
			next[i] = i
		}
	}
	var sections []*refSection
	collect := func(named bool) {
		for i := 0; i < len(lines); i++ {
			h, ok := t.heading(i)
			if !ok || named != isReferenceLabel(h.label) {
				continue
			}
			first := i + h.lines
			until := next[min(first, len(lines))]
			for named && until < len(lines) && levels[until] > h.level {
				until = next[until+1]
			}
			if !named && (h.level == 7 || !t.isCitedList(first, until)) {
				continue
			}
			s := &refSection{head: h, start: lines[i].start, end: lines[min(first, len(lines))-1].end, until: lines[until-1].end}
			if !named { // its heading is one of the text
				s.start = s.end
			}
			p := entryParser{reading: t, lines: lines[:until], plain: h.plain || softLabels[h.label], section: len(sections)}
			if s.entries = p.parse(first); len(s.entries) == 0 && !p.plain && !labelled(text, lines[first:until]) {
				s.entries = p.parsePlain(first)
			}
			if len(s.entries) == 0 {
				continue
			}
			sections = append(sections, s)
			i = until - 1
		}
	}
	collect(true)
	if len(sections) == 0 { // in a language, or by a name, that is not known here
		collect(false)
	}
	if s := t.definitions(sections); s != nil {
		sections = append(sections, s)
	}
	return sections
}

// labelled reports whether the first line that says something begins with a label, or is part of a table.
func labelled(text string, lines []textLine) bool {
	for _, l := range lines {
		if line := l.of(text); !l.code && strings.TrimSpace(line) != "" {
			_, ok := entryStart(line)
			return ok || strings.HasPrefix(strings.TrimSpace(line), "|") || footnote.MatchString(line) ||
				namedNote.MatchString(line)
		}
	}
	return false
}

// definitions collects what defines markers outside the lists: footnotes, and without any list the entries that end
// the text.
func (t *reading) definitions(sections []*refSection) *refSection {
	text, lines := t.text, t.all
	inside := func(l textLine) bool {
		at, found := slices.BinarySearchFunc(sections, l.start, func(s *refSection, pos int) int { return s.start - pos })
		return found || at > 0 && l.start <= sections[at-1].entries[len(sections[at-1].entries)-1].end
	}
	s := &refSection{start: -1}
	p := entryParser{reading: t, lines: lines, section: len(sections)}
	tail := len(lines)
	if len(sections) == 0 {
		tail = t.tail(len(lines))
	}
	for i := 0; i < len(lines); i++ {
		if len(lines[i].of(text)) == 0 || lines[i].code || i < tail && !footnote.MatchString(lines[i].of(text)) ||
			inside(lines[i]) {
			continue
		}
		if pre, ok := t.start(i); ok && (i >= tail || hasAddress(lines[i].of(text)) || strings.Contains(pre.raw, "^")) {
			p.lines = lines
			if at, _ := slices.BinarySearchFunc(sections, lines[i].start, func(s *refSection, pos int) int {
				return s.start - pos
			}); at < len(sections) {
				end, _ := slices.BinarySearchFunc(lines, sections[at].start, func(l textLine, pos int) int { return l.start - pos })
				p.lines = lines[:end]
			}
			p.open(i, pre)
			p.cur.footnote = i < tail
			i = p.follow(i)
			p.close()
		}
	}
	s.entries = p.entries
	if len(s.entries) == 0 {
		return nil
	}
	return s
}

// footnote is the definition of a numbered footnote or reference link.
var footnote = regexp.MustCompile(`^ {0,3}\[\^?[0-9]{1,4}\]:`)

// splitHeads puts the entries of a list on a line of their own where they stand behind its heading: "**Sources:** [1]
// ...".
func (t *reading) splitHeads() *reading {
	var breaks []change
	for _, l := range t.all {
		line := l.of(t.text)
		at := strings.IndexAny(line[:min(len(line), 80)], "[【")
		if at < 3 || l.code {
			continue
		}
		head := strings.TrimRight(line[:at], " \t")
		if !strings.ContainsAny(head, ":：#*_") || !isReferenceLabel(headingLabel(strings.TrimLeft(head, "# "))) {
			continue
		}
		if pre, ok := entryStart(line[at:]); ok && t.r.hasTarget(line[at+pre.length:]) {
			breaks = append(breaks, change{l.start + len(head), l.start + at, "\n"})
		}
	}
	return t.changed(outsideCode(t.text, slices.Values(breaks)))
}
