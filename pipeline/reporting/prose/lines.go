package prose

import (
	"regexp"
	"slices"
	"strings"

	"nightdesk/pipeline/citation/markup"
)

var (
	atxHeading = regexp.MustCompile(`^ {0,3}(#{1,6})(?:[ \t]+(.*?))?[ \t]*$`)
	setext     = regexp.MustCompile(`^ {0,3}(?:=+|-{2,})[ \t]*$`)
	listMark   = regexp.MustCompile(`^[ \t>]*(?:[-*+]|\d{1,3}[.)])[ \t]+`)
	TableRule  = regexp.MustCompile(`^[ \t]*\|?[ \t:|-]*-[ \t:|-]*$`)
	notProse   = regexp.MustCompile(`^\s*(?:[-*+>|#]|\d{1,3}[.)]\s)|\n\s*[|]|\n\s*(?:[-*+]|\d{1,3}[.)])\s`)
)

// Line is a line of Markdown, or a heading with its underline.
type Line struct {
	text       string // without the underline
	start, end int    // byte offsets, without the line break
	code       bool   // inside a code block
	Level      int    // heading level; 0: not a heading
	Heading    string // text of the heading
}

func (l Line) blank() bool { return !l.code && strings.TrimSpace(l.text) == "" }

// Lines splits Markdown into lines and recognizes headings.
func Lines(text string) []Line {
	blocks := markup.Code(text)
	var lines []Line
	at := 0
	for raw := range strings.SplitSeq(text, "\n") {
		l := Line{text: raw, start: at, end: at + len(raw)}
		at = l.end + 1
		for len(blocks) > 0 && blocks[0][1] <= l.start {
			blocks = blocks[1:]
		}
		if len(blocks) > 0 && blocks[0][0] <= l.start {
			l.code = l.end <= blocks[0][1] || raw == ""
		}
		if m := atxHeading.FindStringSubmatch(raw); m != nil && !l.code {
			l.Level, l.Heading = len(m[1]), strings.TrimRight(m[2], "# \t")
		}
		if !l.code && setext.MatchString(raw) && endsWithTitle(lines) {
			title := &lines[len(lines)-1]
			title.Level, title.Heading, title.end = 2, title.text, l.end
			if strings.Contains(raw, "=") {
				title.Level = 1
			}
			continue
		}
		lines = append(lines, l)
	}
	return lines
}

// endsWithTitle reports whether the last line is a paragraph of its own, which an underline makes a heading.
func endsWithTitle(lines []Line) bool {
	n := len(lines)
	return n > 0 && isParagraphLine(lines[n-1]) && (n == 1 || !isParagraphLine(lines[n-2]))
}

func isParagraphLine(l Line) bool {
	t := strings.TrimSpace(l.text)
	return !l.code && l.Level == 0 && t != "" && !strings.ContainsAny(t[:1], "|>-*+#")
}

// paragraph is a part of Markdown between blank lines, or a heading.
type paragraph struct {
	start, end    int    // byte offsets
	Text          string // as written
	code, Heading bool
	prose         bool // not a heading, list, table, quotation or code
}

func Paragraphs(body string) []paragraph {
	var found []paragraph
	open := false // the last paragraph may have more lines
	for _, l := range Lines(body) {
		if l.blank() {
			open = false
			continue
		}
		last := len(found) - 1
		if open && l.Level == 0 && l.code == found[last].code {
			found[last].end = l.end
			continue
		}
		found = append(found, paragraph{start: l.start, end: l.end, code: l.code, Heading: l.Level > 0})
		open = l.Level == 0
	}
	for i := range found {
		p := &found[i]
		p.Text = strings.TrimRight(body[p.start:p.end], "\n")
		p.end = p.start + len(p.Text)
		p.prose = !p.code && !p.Heading && !notProse.MatchString(p.Text)
	}
	return slices.DeleteFunc(found, func(p paragraph) bool { return strings.TrimSpace(p.Text) == "" })
}

// block is a text within a paragraph, a list item or a table row, as byte offsets without surrounding white space.
type block struct {
	start, end int
	row        bool
	head       string // the table's header row, as written
}

// blocksOf returns the blocks of a paragraph. It omits headings, code, and table headers without citations.
func blocksOf(p paragraph) []block {
	if p.code || p.Heading {
		return nil
	}
	var out []block
	open := false            // the last block may have more lines
	head, below := "", false // of a table: its header, and whether the delimiter row is above
	at := p.start
	for raw := range strings.SplitSeq(p.Text, "\n") {
		b, bare := block{start: at, end: at + len(raw)}, strings.TrimSpace(raw)
		at += len(raw) + 1
		b.row = strings.HasPrefix(bare, "|")
		switch {
		case b.row && TableRule.MatchString(bare):
			below = true
		case b.row && below:
			b.head = head
			out = append(out, b)
		case b.row:
			if head = bare; AnyMarker.MatchString(bare) { // a header row with citations is treated as a row
				out = append(out, b)
			}
		case listMark.MatchString(raw):
			b.start += len(listMark.FindString(raw))
			out = append(out, b)
		case open:
			out[len(out)-1].end = b.end
		default:
			out = append(out, b)
		}
		open, below = !b.row, below && b.row
	}
	for i := range out {
		b := &out[i]
		raw := p.Text[b.start-p.start : b.end-p.start]
		b.end -= len(raw) - len(strings.TrimRight(raw, " \t\n"))
		b.start = min(b.end, b.start+len(raw)-len(strings.TrimLeft(raw, " \t\n")))
	}
	return slices.DeleteFunc(out, func(b block) bool { return b.start == b.end })
}
