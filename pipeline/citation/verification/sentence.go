package verification

import (
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	goldtext "github.com/yuin/goldmark/text"

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
	for _, s := range t.lists {
		if s.start >= 0 {
			c.skip = append(c.skip, markup.Span{s.start, s.end + 1})
		}
		for _, e := range s.entries {
			c.skip = append(c.skip, markup.Span{e.start, e.end + 1})
		}
	}
	slices.SortFunc(c.skip, func(a, b markup.Span) int { return a[0] - b[0] })
	_ = ast.Walk(c.Tree, c.block)
	return c.out
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
		v := &Valid{Number: n, Source: o.Sources[i]}
		if len(o.IDs) > 0 {
			v.ID = o.IDs[i]
		}
		s.cite(v)
	}
}

// citedText cuts a report into sentences with what they cite.
type citedText struct {
	*reading
	skip     markup.Spans   // the lists of references
	byNumber map[int]*Valid // by ReportNumber
	byID     map[string]*Valid
	out      []Sentence
}

// block reads a block of the text: no headings, no code, no references.
func (c *citedText) block(n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch n.Kind() {
	case ast.KindParagraph, ast.KindTextBlock:
		if entering {
			c.paragraph(n.Lines())
		}
		return ast.WalkSkipChildren, nil
	case extension.KindTable:
		var head Sentence
		for r := n.FirstChild(); r != nil; r = r.NextSibling() {
			row := c.row(r)
			if r.Kind() == extension.KindTableHeader {
				head = row
				c.add(row)
				continue
			}
			row.Head = head.Text
			row.cites(head)
			c.add(row)
		}
		return ast.WalkSkipChildren, nil
	case ast.KindHeading:
		return ast.WalkSkipChildren, nil
	}
	return ast.WalkContinue, nil
}

// paragraph adds the sentences of a paragraph without the lines of references.
func (c *citedText) paragraph(lines *goldtext.Segments) {
	rest := goldtext.NewSegments()
	for i := range lines.Len() {
		line := lines.At(i)
		if c.skip.Has(line.Start) {
			c.add(c.cut(rest)...)
			rest = goldtext.NewSegments()
			continue
		}
		rest.Append(line)
	}
	c.add(c.cut(rest)...)
}

// add keeps those that cite something.
func (c *citedText) add(sentences ...Sentence) {
	for _, s := range sentences {
		if s.Text != "" && len(s.Citations) > 0 {
			c.out = append(c.out, s)
		}
	}
}

// row returns a line of a table as one sentence with what all its cells cite.
func (c *citedText) row(n ast.Node) Sentence {
	line, _, _ := strings.Cut(c.Markdown[n.Pos():], "\n")
	row := Sentence{Start: n.Pos(), End: n.Pos() + len(line)}
	if c.skip.Has(n.Pos()) {
		return row
	}
	var cells []string
	for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
		var words []string
		for _, s := range c.cut(cell.Lines()) {
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

// cut cuts a block into sentences. Markers behind the end of a sentence belong to it.
func (c *citedText) cut(block *goldtext.Segments) []Sentence {
	b := c.words(block)
	var out []Sentence
	for _, s := range text.ParagraphSentences(string(b.shape)) {
		words := spaceBefore.Replace(strings.TrimSpace(text.Line(string(b.words[s.Start:s.End]))))
		out = append(out, Sentence{Text: words, Start: b.places[s.Start], End: b.places[s.End-1] + 1})
	}
	for _, m := range b.markers {
		if len(out) == 0 {
			out = []Sentence{{Start: m.Start, End: m.Group.End}}
		}
		at := sort.Search(len(out), func(i int) bool { return out[i].Start >= m.Start })
		s := &out[max(0, at-1)]
		s.Start, s.End = min(s.Start, m.Start), max(s.End, m.Group.End)
		for _, id := range m.Group.IDs {
			s.cite(c.byID[id.String()])
		}
		for _, n := range m.Group.Numbers {
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
	markers []markup.Token
}

func (b *blockWords) add(place int, word, shape byte) {
	b.words, b.shape, b.places = append(b.words, word), append(b.shape, shape), append(b.places, place)
}

// words reads a block.
func (c *citedText) words(block *goldtext.Segments) (b blockWords) {
	if block.Len() == 0 {
		return b
	}
	around := markup.Surroundings{Text: c.Markdown, MarkerEnd: -1}
	at, _ := slices.BinarySearchFunc(c.Tokens, block.At(0).Start,
		func(t markup.Token, at int) int { return t.Start - at })
	tokens, i := c.Tokens[at:], 0
	for n := range block.Len() {
		for i = max(i, block.At(n).Start); i < block.At(n).Stop; {
			for len(tokens) > 0 && tokens[0].Start < i {
				tokens = tokens[1:]
			}
			if len(tokens) > 0 && tokens[0].Start == i && c.isMarker(&around, tokens[0]) {
				b.markers = append(b.markers, tokens[0])
				i = tokens[0].Group.End
				around.MarkerEnd = i
				continue
			}
			r, size := utf8.DecodeRuneInString(c.Markdown[i:])
			shape := c.Markdown[i]
			switch {
			case unicode.IsSpace(r):
				b.add(i, ' ', ' ')
				i += size
				continue
			case c.Code.Has(i):
				shape = 'x'
			case strings.IndexByte(`|{\`, shape) >= 0:
				shape = '$'
			}
			b.add(i, c.Markdown[i], shape)
			for k := i + 1; k < i+size; k++ {
				b.add(k, c.Markdown[k], c.Markdown[k])
			}
			i += size
		}
	}
	return b
}

// isMarker reports whether a token cites sources of the report.
func (c *citedText) isMarker(around *markup.Surroundings, t markup.Token) bool {
	if g := t.Group; len(g.IDs) > 0 || g.End == 0 {
		return t.Kind != markup.Named && g.End > 0
	}
	unknown := func(n int) bool { return c.byNumber[n] == nil }
	return !slices.ContainsFunc(t.Group.Numbers, unknown) && around.IsCitation(t.Start, t.Group)
}

var spaceBefore = strings.NewReplacer(" .", ".", " ,", ",", " ;", ";", " :", ":", " !", "!", " ?", "?", " 。",
	"。", " ，", "，")
