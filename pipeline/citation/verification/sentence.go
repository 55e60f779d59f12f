package verification

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/citation/markup"
	"nightdesk/pipeline/text"
)

// Sentence is one sentence of a verified report, or row of a table, with what it cites.
type Sentence struct {
	Text      string // without markers and markup of links; white space folded; cells of a row are parted by " | "
	Head      string // of a row: the cells of the table's head, as in Text
	Start     int    // bytes into the report; report[Start:End] is the sentence as it stands there, with its markers
	End       int
	Citations []int    // numbers of Valid, in order, each once
	Sources   []int    // positions in Registry.Sources, in order, each once
	IDs       []string // citation ids, of a report that cites by ids
}

// sentences cuts a verified report into the sentences that cite something.
func (t *reading) sentences(valid []Valid) []Sentence {
	if len(valid) == 0 {
		return nil
	}
	c := citedText{reading: t, byNumber: map[int]*Valid{}, byID: map[string]*Valid{}}
	for i := range valid {
		if v := &valid[i]; v.ID != "" {
			c.byID[v.ID] = v
		} else if c.byNumber[v.ReportNumber] == nil {
			c.byNumber[v.ReportNumber] = v
		}
	}
	var out []Sentence
	var head Sentence
	for _, p := range t.proseBlocks() {
		var found []Sentence
		switch p.part {
		case tableHead:
			head = c.row(p.Span)
		case tableRow:
			row := c.row(p.Span)
			if p.headed {
				row.Head = head.Text
				row.cites(head)
			}
			found = []Sentence{row}
		default:
			found = c.cut(p.Span)
		}
		for _, s := range found {
			if s.Text != "" && len(s.Citations) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// cite adds a citation that the sentence does not have yet; nil is none.
func (s *Sentence) cite(v *Valid) {
	if v == nil || slices.Contains(s.Citations, v.Number) {
		return
	}
	s.Citations, s.Sources = append(s.Citations, v.Number), append(s.Sources, v.Source)
	if v.ID != "" {
		s.IDs = append(s.IDs, v.ID)
	}
}

// cites adds what another sentence cites.
func (s *Sentence) cites(o Sentence) {
	for i, n := range o.Citations {
		if !slices.Contains(s.Citations, n) {
			s.Citations, s.Sources = append(s.Citations, n), append(s.Sources, o.Sources[i])
		}
	}
	for _, id := range o.IDs {
		if !slices.Contains(s.IDs, id) {
			s.IDs = append(s.IDs, id)
		}
	}
}

// proseBlock is a part of a text that is cut into sentences.
type proseBlock struct {
	markup.Span
	part   int
	headed bool // a row of a table with a head
}

// The parts: paragraphs and list items, and those of tables.
const (
	prose = iota
	tableHead
	tableRow
)

// tableRule matches the line below the head of a table.
var tableRule = regexp.MustCompile(`^[ \t>]*\|[ \t:|-]*-[ \t:|-]*$`)

// proseBlocks returns the paragraphs, list items and table rows of a text: no headings, no code, no references.
func (t *reading) proseBlocks() []proseBlock {
	var skip markup.Spans // the lists of references
	for _, s := range t.lists() {
		if s.start >= 0 {
			skip = append(skip, markup.Span{Start: s.start, End: s.end + 1})
		}
		for _, e := range s.entries {
			skip = append(skip, markup.Span{Start: e.start, End: e.end + 1})
		}
	}
	slices.SortFunc(skip, func(a, b markup.Span) int { return a.Start - b.Start })
	var blocks []proseBlock
	open, headed := -1, false
	flush := func(end int) {
		if open >= 0 && open < end {
			blocks = append(blocks, proseBlock{Span: markup.Span{Start: open, End: end}})
		}
		open = -1
	}
	for i, l := range t.all {
		line := l.of(t.text)
		body := strings.TrimLeft(line, " \t>")
		headed = headed && strings.HasPrefix(body, "|")
		_, skipped := skip.At(l.start)
		skipped = skipped || l.code || body == ""
		switch {
		case skipped || markup.AtxHeading.MatchString(line) || underline.MatchString(line):
			flush(l.start)
		case body[0] == '|':
			flush(l.start)
			b := proseBlock{markup.Span{Start: l.start, End: l.end}, tableRow, headed}
			if i+1 < len(t.all) && tableRule.MatchString(t.line(i+1)) {
				b.part, headed = tableHead, true
			}
			if !tableRule.MatchString(line) {
				blocks = append(blocks, b)
			}
		case markup.ListItem.MatchString(body):
			flush(l.start)
			open = l.end - len(body) + strings.IndexByte(body, ' ') + 1
		case open < 0:
			open = l.end - len(body)
		}
	}
	flush(len(t.text))
	return blocks
}

// citedText cuts a report into sentences with what they cite.
type citedText struct {
	*reading
	byNumber map[int]*Valid // by ReportNumber
	byID     map[string]*Valid
}

// row returns a line of a table as one sentence with what all its cells cite.
func (c citedText) row(line markup.Span) Sentence {
	row := Sentence{Start: line.Start, End: line.End}
	var cells []string
	for _, cell := range cellsOf(c.text, line) {
		var words []string
		for _, s := range c.cut(cell) {
			if s.Text != "" {
				words = append(words, s.Text)
			}
			row.cites(s)
		}
		cells = append(cells, strings.Join(words, " "))
	}
	if strings.Trim(strings.Join(cells, ""), " ") != "" {
		row.Text = strings.TrimRight(strings.Join(cells, " | "), " |")
	}
	return row
}

// cellsOf returns the cells of a line of a table; the bars around it are optional.
func cellsOf(text string, line markup.Span) []markup.Span {
	end := line.Start + len(strings.TrimRight(text[line.Start:line.End], " \t\r\n"))
	at := end - len(strings.TrimLeft(text[line.Start:end], " \t>"))
	if at < end && text[at] == '|' {
		at++
	}
	if at < end && text[end-1] == '|' && text[end-2] != '\\' {
		end--
	}
	var cells []markup.Span
	start := at
	for ; at < end; at++ {
		if text[at] == '|' && text[at-1] != '\\' {
			cells = append(cells, markup.Span{Start: start, End: at})
			start = at + 1
		}
	}
	return append(cells, markup.Span{Start: start, End: end})
}

// cut cuts a block into sentences. Markers behind the end of a sentence belong to it.
func (c citedText) cut(block markup.Span) []Sentence {
	b := c.words(block)
	var out []Sentence
	for _, s := range text.ParagraphSentences(string(b.shape)) {
		words := spaceBefore.Replace(strings.TrimSpace(text.Line(string(b.words[s.Start:s.End]))))
		out = append(out, Sentence{Text: words, Start: b.places[s.Start], End: b.places[s.End-1] + 1})
	}
	for _, m := range b.markers {
		if len(out) == 0 {
			out = []Sentence{{Start: m.start, End: m.End}}
		}
		at := sort.Search(len(out), func(i int) bool { return out[i].Start >= m.start })
		s := &out[max(0, at-1)]
		s.Start, s.End = min(s.Start, m.start), max(s.End, m.End)
		for _, id := range m.IDs {
			s.cite(c.byID[id.String()])
		}
		for _, n := range m.Numbers {
			s.cite(c.byNumber[n])
		}
	}
	return out
}

// blockWords is a block of a report without its markers. White space is single spaces.
type blockWords struct {
	words   []byte
	shape   []byte // words as sentences see them: none ends within code, and one may begin with a bar, brace or escape
	places  []int  // bytes into the report, by byte of words
	markers []placedGroup
}

type placedGroup struct {
	markup.Group
	start int
}

func (b *blockWords) add(place int, word, shape byte) {
	b.words, b.shape, b.places = append(b.words, word), append(b.shape, shape), append(b.places, place)
}

// words reads a block.
func (c citedText) words(block markup.Span) blockWords {
	var b blockWords
	report, code := c.text[:block.End], c.code.Within(block.Start, block.End)
	around := markup.Surroundings{Text: report[block.Start:], MarkerEnd: -1}
	for i := block.Start; i < block.End; {
		if in, ok := code.At(i - block.Start); ok {
			for ; i < block.Start+in.End; i++ {
				b.add(i, report[i], 'x')
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(report[i:])
		if markup.ClosingBracket(r) != 0 {
			g, ok := markup.ParseGroup(report[block.Start:], i-block.Start, 0)
			if ok && c.isMarker(&around, i-block.Start, g) {
				around.MarkerEnd = g.End
				g.End += block.Start
				b.markers = append(b.markers, placedGroup{g, i})
				i = g.End
				continue
			}
		}
		if unicode.IsSpace(r) {
			b.add(i, ' ', ' ')
			i += size
			continue
		}
		for range size {
			shape := report[i]
			if strings.IndexByte(`|{\`, shape) >= 0 {
				shape = '$'
			}
			b.add(i, report[i], shape)
			i++
		}
	}
	return b
}

// isMarker reports whether a group cites sources of the report.
func (c citedText) isMarker(around *markup.Surroundings, at int, g markup.Group) bool {
	unknown := func(n int) bool { return c.byNumber[n] == nil }
	return len(g.IDs) > 0 || !slices.ContainsFunc(g.Numbers, unknown) && around.IsCitation(at, g)
}

var spaceBefore = strings.NewReplacer(" .", ".", " ,", ",", " ;", ";", " :", ":", " !", "!", " ?", "?", " 。",
	"。", " ，", "，")
