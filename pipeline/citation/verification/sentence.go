package verification

import (
	"slices"
	"strings"
	"unicode"

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
	Citations []int  // numbers of Valid, in order, each once
	Sources   []int  // positions in Registry.Sources, in order, each once
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
}

// cites adds what another sentence cites.
func (s *Sentence) cites(o Sentence) {
	for i, n := range o.Citations {
		s.cite(&Valid{Number: n, Source: o.Sources[i]})
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
		if !entering {
			return ast.WalkContinue, nil
		}
		var head Sentence
		for r := n.FirstChild(); r != nil; r = r.NextSibling() {
			row := c.row(r)
			if r.Kind() == extension.KindTableHeader {
				head = row
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
	var row Sentence
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
func (c *citedText) cut(block *goldtext.Segments) (out []Sentence) {
	b := c.words(block)
	var starts []int
	for _, s := range text.ParagraphSentences(b.shape.String()) {
		words := spaceBefore.Replace(strings.TrimSpace(text.Line(b.words.String()[s.Start:s.End])))
		out, starts = append(out, Sentence{Text: words}), append(starts, s.Start)
	}
	for i, m := range b.markers {
		if len(out) == 0 {
			out = []Sentence{{}}
		}
		at, _ := slices.BinarySearch(starts, b.places[i])
		s := &out[max(0, at-1)]
		for _, id := range m.IDs {
			s.cite(c.byID[id.String()])
		}
		for _, n := range m.Numbers {
			s.cite(c.byNumber[n])
		}
	}
	return out
}

// blockWords is a block of a report without its markers. White space is spaces.
type blockWords struct {
	words   strings.Builder
	shape   strings.Builder // words as sentences see them: none ends within code, and one may begin with any mark
	markers []markup.Group
	places  []int // bytes of words before each marker
}

func (b *blockWords) add(words string, code bool) {
	words = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, words)
	b.words.WriteString(words)
	if code {
		words = strings.Repeat("x", len(words))
	}
	b.shape.WriteString(marks.Replace(words))
}

// marks are characters with which a sentence may begin.
var marks = strings.NewReplacer("|", "$", "{", "$", `\`, "$")

// words reads a block.
func (c *citedText) words(block *goldtext.Segments) *blockWords {
	b, code, around := &blockWords{}, c.Code, markup.Surroundings{Text: c.Markdown, MarkerEnd: -1}
	tokens, i := c.Tokens, 0
	if block.Len() > 0 {
		tokens = c.TokensFrom(block.At(0).Start)
	}
	for n := range block.Len() {
		end := block.At(n).Stop
		for i = max(i, block.At(n).Start); i < end; {
			for len(tokens) > 0 && (tokens[0].Start < i || tokens[0].Start < end && !c.isMarker(&around, tokens[0])) {
				tokens = tokens[1:]
			}
			next := end
			if len(tokens) > 0 {
				next = min(end, tokens[0].Start)
			}
			within, coded := code.At(i)
			switch {
			case coded:
				next = min(end, within[1])
			case next == i:
				b.markers, b.places = append(b.markers, tokens[0].Group), append(b.places, b.words.Len())
				i, around.MarkerEnd = tokens[0].Group.End, tokens[0].Group.End
				continue
			case len(code) > 0:
				next = min(next, code[0][0])
			}
			b.add(c.Markdown[i:next], coded)
			i = next
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
