package citation

import (
	"regexp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

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
			head = c.row(p.span)
		case tableRow:
			row := c.row(p.span)
			if p.headed {
				row.Head = head.Text
				row.cites(head)
			}
			found = []Sentence{row}
		default:
			found = c.cut(p.span)
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
	span
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
	var skip spans // the lists of references
	for _, s := range t.lists() {
		if s.start >= 0 {
			skip = append(skip, span{s.start, s.end + 1})
		}
		for _, e := range s.entries {
			skip = append(skip, span{e.start, e.end + 1})
		}
	}
	slices.SortFunc(skip, func(a, b span) int { return a.start - b.start })
	var blocks []proseBlock
	open, headed := -1, false
	flush := func(end int) {
		if open >= 0 && open < end {
			blocks = append(blocks, proseBlock{span: span{open, end}})
		}
		open = -1
	}
	for i, l := range t.all {
		line := l.of(t.text)
		body := strings.TrimLeft(line, " \t>")
		headed = headed && strings.HasPrefix(body, "|")
		_, skipped := skip.at(l.start)
		skipped = skipped || l.code || body == ""
		switch {
		case skipped || atxHeading.MatchString(line) || underline.MatchString(line):
			flush(l.start)
		case body[0] == '|':
			flush(l.start)
			b := proseBlock{span{l.start, l.end}, tableRow, headed}
			if i+1 < len(t.all) && tableRule.MatchString(t.line(i+1)) {
				b.part, headed = tableHead, true
			}
			if !tableRule.MatchString(line) {
				blocks = append(blocks, b)
			}
		case listItem.MatchString(body):
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
func (c citedText) row(line span) Sentence {
	row := Sentence{Start: line.start, End: line.end}
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
func cellsOf(text string, line span) []span {
	end := line.start + len(strings.TrimRight(text[line.start:line.end], " \t\r\n"))
	at := end - len(strings.TrimLeft(text[line.start:end], " \t>"))
	if at < end && text[at] == '|' {
		at++
	}
	if at < end && text[end-1] == '|' && text[end-2] != '\\' {
		end--
	}
	var cells []span
	start := at
	for ; at < end; at++ {
		if text[at] == '|' && text[at-1] != '\\' {
			cells = append(cells, span{start, at})
			start = at + 1
		}
	}
	return append(cells, span{start, end})
}

// cut cuts a block into sentences. Markers behind the end of a sentence belong to it.
func (c citedText) cut(block span) []Sentence {
	b := c.words(block)
	var out []Sentence
	for _, s := range text.ParagraphSentences(string(b.shape)) {
		words := spaceBefore.Replace(strings.TrimSpace(text.Line(string(b.words[s.Start:s.End]))))
		out = append(out, Sentence{Text: words, Start: b.places[s.Start], End: b.places[s.End-1] + 1})
	}
	for _, m := range b.markers {
		if len(out) == 0 {
			out = []Sentence{{Start: m.start, End: m.end}}
		}
		at := sort.Search(len(out), func(i int) bool { return out[i].Start >= m.start })
		s := &out[max(0, at-1)]
		s.Start, s.End = min(s.Start, m.start), max(s.End, m.end)
		for _, id := range m.ids {
			s.cite(c.byID[id.String()])
		}
		for _, n := range m.numbers {
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
	group
	start int
}

func (b *blockWords) add(place int, word, shape byte) {
	b.words, b.shape, b.places = append(b.words, word), append(b.shape, shape), append(b.places, place)
}

// words reads a block.
func (c citedText) words(block span) blockWords {
	var b blockWords
	report, code := c.text[:block.end], c.code.within(block.start, block.end)
	around := surroundings{text: report[block.start:], markerEnd: -1}
	for i := block.start; i < block.end; {
		if in, ok := code.at(i - block.start); ok {
			for ; i < block.start+in.end; i++ {
				b.add(i, report[i], 'x')
			}
			continue
		}
		r, size := utf8.DecodeRuneInString(report[i:])
		if closingBracket(r) != 0 {
			g, ok := parseGroup(report[block.start:], i-block.start, 0)
			if ok && c.isMarker(&around, i-block.start, g) {
				around.markerEnd = g.end
				g.end += block.start
				b.markers = append(b.markers, placedGroup{g, i})
				i = g.end
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
func (c citedText) isMarker(around *surroundings, at int, g group) bool {
	unknown := func(n int) bool { return c.byNumber[n] == nil }
	return len(g.ids) > 0 || !slices.ContainsFunc(g.numbers, unknown) && around.isCitation(at, g)
}

var spaceBefore = strings.NewReplacer(" .", ".", " ,", ",", " ;", ";", " :", ":", " !", "!", " ?", "?", " 。",
	"。", " ，", "，")
