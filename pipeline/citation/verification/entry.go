package verification

import (
	"regexp"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/citation/markup"
)

// entry is one item of a list of references.
type entry struct {
	label
	section    int
	bare       bool // its number was not written, but is that of its place
	start, end int  // bytes of its lines, without the last line break
	body       int  // byte at which its text begins
	footnote   bool // defines its number in the middle of the text
	line       int  // line of the original text, from 1; 0 = unknown

	found        // the target of the text
	final int    // number in the result
	same  *entry // the entry that this one duplicates
}

// stays reports whether the entry is one of the result.
func (e *entry) stays() bool { return e.reason == "" }

// noNumber is the number of an entry without one; some lists count from 0.
const noNumber = -1

// entryParser finds the entries of one list. Text between them belongs to the report and stays.
type entryParser struct {
	*reading
	until   int  // the line behind the list
	plain   bool // the heading is doubtful: it has no markup, or is ambiguous
	section int

	entries []*entry
	cur     *entry
	style   entryStyle
	last    int // number of the last entry
	once    int // number of the first entry
}

// parse reads the lines from first on.
func (p *entryParser) parse(first int) []*entry {
	prose := false // there was other text since the last entry
	for i := first; i < p.until; i++ {
		line := p.line(i)
		if p.lines[i].code {
			prose = true
			continue
		}
		if p.isBlank(i) {
			continue
		}
		pre, ok := p.begins(i)
		if again := p.style == orderedStyle && pre.style == orderedStyle && pre.number == p.once; again && !prose {
			pre.number = p.last + 1 // Markdown allows lists numbered 1. 1. 1.
		}
		if ok && p.fits(pre, i, prose) {
			if len(p.entries) == 0 {
				p.once = pre.number
			}
			p.open(i, pre)
			i = p.follow(i)
			p.entries = append(p.entries, p.cur)
			prose = false
			continue
		}
		if len(p.entries) == 0 && p.plain {
			return nil // a single word above a paragraph is not a heading
		}
		prose = prose || !strings.HasPrefix(strings.TrimSpace(line), "|") && !rule.MatchString(line)
	}
	return p.entries
}

// begins returns the label of an entry that line i may begin: one of its own, the bar of a table's row that leads
// somewhere, or the marker of a list's item with an address.
func (p *entryParser) begins(i int) (label, bool) {
	if l := p.lines[i].label; l != nil {
		return *l, true
	}
	if p.lines[i].row && (p.style == 0 || p.style == tableStyle) && p.leads(i) {
		line := p.line(i)
		bar := line[:len(line)-len(strings.TrimLeft(line, "| \t"))]
		return label{style: tableStyle, number: noNumber, raw: bar}, true
	}
	m := bulletEntry.FindString(p.line(i))
	fits := m != "" && (p.style == 0 || p.style == bulletStyle) && citation.HasAddress(p.line(i))
	return label{style: bulletStyle, number: noNumber, indent: m, raw: m}, fits
}

// fits reports whether an apparent entry belongs to this list.
func (p *entryParser) fits(pre label, i int, prose bool) bool {
	if p.style != 0 && pre.style != p.style {
		return false
	}
	switch {
	case p.leads(i) || p.nextHasTarget(i) || pre.id != "":
		return true
	case len(p.entries) == 0: // a to-do list below "Notes" has no targets
		return !prose && (!p.plain || p.hasTargets(i))
	case pre.style == bracketStyle:
		return !prose
	}
	return !prose && pre.number > p.last
}

// nextHasTarget reports whether the entry continues after line i with an address or document.
func (p *entryParser) nextHasTarget(i int) bool {
	for j := i + 1; j < p.until && p.goesOn(i, j); j++ {
		if p.leads(j) {
			return true
		}
	}
	return false
}

// hasTargets reports whether a line of the list from line i on leads somewhere. A to-do list below "Notes" has none.
func (p *entryParser) hasTargets(i int) bool {
	for ; i < p.until; i++ {
		if p.names(i) {
			return false
		}
		if p.leads(i) || p.nextHasTarget(i) {
			return true
		}
	}
	return false
}

// apart is the beginning of a line that does not go on with an entry: the label of a footnote, or a tag.
var apart = regexp.MustCompile(`^ {0,3}(?:\[\^?[^\[\]\s^]{1,80}\]:|</|<li\b)`)

// goesOn reports whether line j continues an entry that begins at line i: it has no label and is of the same item or
// paragraph, or moved to the right.
func (p *entryParser) goesOn(i, j int) bool {
	l := p.lines[j]
	within := l.unit == p.lines[i].unit && l.unit > 0 || isIndented(p.line(j))
	return within && l.label == nil && !apart.MatchString(p.line(j))
}

// isIndented reports whether a line is moved to the right, as lines are that continue an item.
func isIndented(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
}

func (p *entryParser) open(i int, pre label) {
	l := p.lines[i]
	p.style, p.last = pre.style, max(pre.number, p.last)
	p.cur = &entry{label: pre, section: p.section, start: l.start, end: l.end, body: l.start + len(pre.raw)}
}

// follow extends the entry by the lines after i that belong to it, and returns the last of them: also an address below
// it, if it has none.
func (p *entryParser) follow(i int) int {
	first, target, blank := i, p.leads(i), false
	for j := i + 1; j < p.until && p.cur.style != tableStyle; j++ {
		if p.isBlank(j) {
			blank = true
			continue
		}
		address, bullet := markup.IsOnlyAddress(p.line(j)), bulletEntry.MatchString(p.line(j))
		within := p.goesOn(first, j) && !(target && address && bullet)
		below := address && !(target && (blank || bullet))
		if !within && (!below || p.lines[j].label != nil) {
			break
		}
		target, blank = target || p.leads(j), false
		p.cur.end, i = p.lines[j].end, j
	}
	return i
}

// linkLabel is the label of a link's address.
var linkLabel = regexp.MustCompile(`^ {0,3}\[[^\[\]\s^]{1,80}\]:[ \t]*`)

// entryStyle is the form of an entry's label. All entries of a list have the same style.
type entryStyle int

const (
	bracketStyle entryStyle = iota + 1 // [1] 【1】 [^1]:
	orderedStyle                       // 1. 1) (1)
	tableStyle                         // | 1 |
	bulletStyle                        // - https://...
	plainStyle                         // https://...
)

// label is the text before an entry's content.
type label struct {
	style  entryStyle
	number int    // as written; noNumber if it has none
	id     string // canonical citation id; empty: it has a number
	anchor bool   // an HTML anchor stands before it
	indent string // list marker and indent before it
	raw    string // all of it
}

// anchorBefore is an anchor before a label.
const anchorBefore = `((?:<a (?:id|name)=["'][^"'<>]{0,100}["']>[ \t]*</a>[ \t]*)?)`

var (
	bracketEntry = regexp.MustCompile(`^([ \t>]{0,8}(?:[-*+•][ \t]+|#{3,6}[ \t]+` +
		`|<(?:li|p|div|dt|dd)(?:[ ][^<>]{0,60})?>[ \t]*)?)` + anchorBefore + `(?:\*\*|__)?(?:` +
		`\[\^?#?([0-9]{1,4}|[٠-٩۰-۹०-९]{1,4})\]|【([0-9]{1,4})(?:†[^】]{0,80})?】|［([0-9]{1,4})］|\\\[([0-9]{1,4})\\\]` +
		`|\[\[([0-9]{1,4})\](?:\(#[^)\s]{0,100}\))?\]|\[((?i:CIT|PLAN)[-0-9]{2,20})\]` +
		`)(?:\*\*|__)?[.:：]?[ \t]*`)
	orderedEntry = regexp.MustCompile(`^([ \t>]{0,8}(?:[-*+•][ \t]+|#{3,6}[ \t]+)?)` + anchorBefore + `(?:\*\*|__)?(?:` +
		`([0-9]{1,4})(?:[.):](?:\*\*|__)?[ \t]+|、[ \t]*|．[ \t]*)|\(([0-9]{1,4})\)[ \t]+|（([0-9]{1,4})）[ \t]*)`)
	tableEntry = regexp.MustCompile(`^([ \t]{0,3}\|[ \t]*)` + anchorBefore +
		`(?:\[\^?([0-9]{1,4})\](?:[ \t]*\||[ \t]+)|([0-9]{1,4})\.?[ \t]*\|)`)
	bulletEntry = regexp.MustCompile(`^([ \t>]{0,8}(?:[-*+•][ \t]+|<li(?:[ ][^<>]{0,60})?>[ \t]*))`)
)

// entryStart recognizes the start of an entry with a label.
func entryStart(line string) *label {
	first := strings.TrimLeft(line[:min(len(line), 40)], " \t>-+*•_#")
	begins := first != "" && (first[0] >= 0x80 || strings.IndexByte(`[(\<|0123456789`, first[0]) >= 0)
	if !begins {
		return nil // nearly every line of a report
	}
	for i, pattern := range []*regexp.Regexp{bracketEntry, orderedEntry, tableEntry} {
		style := entryStyle(i + 1)
		m := pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		p := label{style: style, number: noNumber, indent: m[1], anchor: m[2] != "", raw: m[0]}
		for _, mark := range []string{"**", "__"} { // emphasis that goes on behind the label
			if label := m[0][len(m[1]):]; strings.HasPrefix(label, mark) && strings.Count(label, mark) == 1 {
				p.indent += mark
			}
		}
		for _, label := range m[3:] {
			if id, ok := markup.ParseID(label); ok {
				p.id = id.String()
			} else if n, length := markup.ScanNumber(label); length > 0 && length == len(label) {
				p.number = n
			}
		}
		if p.number >= 0 || p.id != "" {
			return &p
		}
	}
	return nil
}

// parsePlain reads a list whose entries have neither numbers nor bullets: a paragraph with one address is an entry,
// and of a paragraph with several each line that has one ends an entry.
func (p *entryParser) parsePlain(first int) []*entry {
	for i := first; i < p.until; i++ {
		if p.lines[i].code || p.isBlank(i) || p.isHeading(i) {
			continue
		}
		var ends []int
		end := i
		for ; end < p.until && !p.lines[end].code && !p.isBlank(end); end++ {
			if end > i && !p.goesOn(i, end) {
				break
			}
			if citation.HasAddress(p.line(end)) {
				ends = append(ends, end)
			}
		}
		for k, last := range ends {
			if k == len(ends)-1 {
				last = end - 1
			}
			p.open(i, label{style: plainStyle, number: noNumber, raw: linkLabel.FindString(p.line(i))})
			p.cur.end = p.lines[last].end
			p.entries, i = append(p.entries, p.cur), last+1
		}
		i = end - 1
	}
	return p.entries
}
