package report

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

var (
	parser     = markdown.NewParser()
	textParser = markdown.NewTextParser()
	// canonical markers, with the space before them; in finished reports they are links to a reference
	markers = regexp.MustCompile(`\s*\[(?:(CIT-\d+-\d+|PLAN-\d+)\](?:\([^()\s]*\))?|` +
		`\[([^\[\]\n]{1,40})\]\(#ref-[a-z0-9-]+\)\])`)
	// markers that follow a full stop, and a second full stop after them
	closed = regexp.MustCompile(`^(?:\s*\[(?:CIT-\d+-\d+|PLAN-\d+)\])+(?:\s*[.。](?:\s|$))?`)
)

// Parse reads Markdown with canonical markers such as [CIT-1-02]. HTML blocks become text.
func Parse(source string) []Block {
	return reader{source: []byte(source)}.blocks(parser.Parse([]byte(source)))
}

// ParseText is Parse for a report of another program: it reads the Markdown in blocks of HTML, too.
func ParseText(source string) []Block {
	return reader{source: []byte(source)}.blocks(textParser.Parse([]byte(source)))
}

// ParseWhole is Parse for text whose paragraphs are one statement each, such as quotations of several sentences with
// one marker at the end.
func ParseWhole(source string) []Block {
	return reader{source: []byte(source), whole: true}.blocks(parser.Parse([]byte(source)))
}

// reader converts a syntax tree.
type reader struct {
	source []byte
	whole  bool
	within bool // in a list or quotation, where a heading is a line in bold
	shown  bool // a finished report, whose pictures are figures
}

func (r reader) blocks(parent ast.Node) (out []Block) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, r.block(n)...)
	}
	return out
}

// block converts a node; a node without text gives nothing.
func (r reader) block(n ast.Node) []Block {
	switch n := n.(type) {
	case *ast.Heading:
		if r.within {
			return r.paragraph("**" + Escape(markdown.Inline(n, r.source)) + "**")
		}
		return []Block{{Kind: KindHeading, Level: n.Level, Sentences: []Sentence{sentence(r.lines(n))}}}
	case *ast.Paragraph, *ast.TextBlock:
		if picture, ok := n.FirstChild().(*ast.Image); ok && r.shown && picture.NextSibling() == nil {
			if m := ownPicture.FindSubmatch(picture.Destination); m != nil {
				return []Block{{Kind: KindFigure, Picture: string(m[1]), Title: markdown.Inline(picture, r.source)}}
			}
		}
		return r.paragraph(r.lines(n))
	case *ast.FencedCodeBlock:
		code := strings.TrimRight(markdown.Lines(n, r.source), "\n")
		return []Block{{Kind: KindCode, Code: code, Language: string(n.Language(r.source))}}
	case *ast.CodeBlock:
		return []Block{{Kind: KindCode, Code: strings.TrimRight(markdown.Lines(n, r.source), "\n")}}
	case *ast.HTMLBlock:
		if n.HTMLBlockType == ast.HTMLBlockType2 { // a comment
			return nil
		}
		return r.paragraph(Escape(markdown.Lines(n, r.source)))
	case *ast.Blockquote:
		r.within = true
		if inner := r.blocks(n); len(inner) > 0 {
			return []Block{{Kind: KindQuote, Blocks: inner}}
		}
		return nil
	case *ast.List:
		r.within = true
		list := Block{Kind: KindList, Ordered: n.IsOrdered(), Start: max(0, min(n.Start, 1_000_000))}
		for item := n.FirstChild(); item != nil; item = item.NextSibling() {
			if inner := r.blocks(item); len(inner) > 0 {
				list.Items = append(list.Items, inner)
			}
		}
		if len(list.Items) == 0 {
			return nil
		}
		return []Block{list}
	case *extensionast.Table:
		return []Block{r.table(n)}
	case *ast.ThematicBreak:
		return nil
	}
	return r.blocks(n) // no other kind is parsed; keep the text
}

// ownPicture matches the address of a figure of a run.
var ownPicture = regexp.MustCompile(`^\.\./cache/[A-Za-z0-9_-]+/(figures/[0-9a-f]{64}\.(?:svg|png))$`)

func (r reader) paragraph(inline string) []Block {
	if list := r.sentences(inline); len(list) > 0 {
		return []Block{{Kind: KindParagraph, Sentences: list}}
	}
	return nil
}

func (r reader) table(n *extensionast.Table) Block {
	t := Block{Kind: KindTable}
	for _, a := range n.Alignments {
		side := ""
		if a != extensionast.AlignNone {
			side = a.String()
		}
		t.Align = append(t.Align, side)
	}
	for line := n.FirstChild(); line != nil; line = line.NextSibling() {
		var row Row
		for c := line.FirstChild(); c != nil; c = c.NextSibling() {
			row.Cells = append(row.Cells, sentence(r.lines(c)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// lines returns the inline Markdown of a block on one line. A line break between characters of a script without spaces
// is no space.
func (r reader) lines(n ast.Node) string {
	var b strings.Builder
	last := ' '
	for line := range strings.Lines(markdown.Lines(n, r.source)) {
		if hard, ok := strings.CutSuffix(line, "\\\n"); ok && !strings.HasSuffix(hard, `\`) { // a line break
			line = hard
		}
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if first := []rune(line)[0]; b.Len() > 0 && (!text.Wide(first) || !text.Wide(last)) {
			b.WriteByte(' ')
		}
		b.WriteString(line)
		last = []rune(line)[len([]rune(line))-1]
	}
	return b.String()
}

// sentences splits inline Markdown. Markers after a full stop belong to the sentence before them.
func (r reader) sentences(inline string) (out []Sentence) {
	at := 0
	cut := func(end int) {
		if s := sentence(inline[at:end]); s.Text != "" || len(s.Cites) > 0 {
			out = append(out, s)
		}
		at = end
	}
	if !r.whole {
		for i, s := range text.ParagraphSentences(inline) {
			if end := s.Start + len(closed.FindString(inline[s.Start:])); i > 0 && end > at {
				cut(end)
			}
		}
	}
	cut(len(inline))
	return out
}

// Written returns inline Markdown with canonical markers as sentences.
func Written(inline string) []Sentence { return reader{}.sentences(text.Line(inline)) }

// comment matches a comment, or the start of one that would hide the text after it.
var comment = regexp.MustCompile(`<!--(?:.*?-->)?`)

// sentence separates inline Markdown from its markers and comments.
func sentence(inline string) (s Sentence) {
	inline = strings.TrimSpace(inline)
	if strings.Contains(inline, "<!--") {
		inline = outsideCode(inline, func(words string) string { return comment.ReplaceAllString(words, "") })
	}
	code := codeOf(inline)
	var b strings.Builder
	at := 0
	for _, m := range markers.FindAllStringSubmatchIndex(inline, -1) {
		id := inline[max(m[2], m[4]):max(m[3], m[5])]
		if slices.ContainsFunc(code, func(c [2]int) bool { return c[0] <= m[0] && m[1] <= c[1] }) {
			continue
		}
		b.WriteString(inline[at:m[0]])
		at = m[1]
		s.Cites = append(s.Cites, Cite{id, b.Len()})
	}
	b.WriteString(inline[at:])
	s.Text = strings.TrimRightFunc(b.String(), unicode.IsSpace)
	if start := len(s.Text) - len(strings.TrimLeftFunc(s.Text, unicode.IsSpace)); start > 0 { // a marker comes first
		s.Text = s.Text[start:]
		for i := range s.Cites {
			s.Cites[i].At -= start
		}
	}
	for i := range s.Cites {
		s.Cites[i].At = max(0, min(s.Cites[i].At, len(s.Text)))
	}
	return s
}

func codeOf(inline string) [][2]int {
	if !strings.Contains(inline, "`") {
		return nil
	}
	source := []byte(inline)
	return markdown.CodeRanges(parser.Parse(source), source)
}

// outsideCode applies change to the text between code spans.
func outsideCode(inline string, change func(string) string) string {
	var b strings.Builder
	at := 0
	for _, c := range codeOf(inline) {
		b.WriteString(change(inline[at:c[0]]))
		b.WriteString(inline[c[0]:c[1]])
		at = c[1]
	}
	return b.String() + change(inline[at:])
}

// Chunk is Markdown from one heading to the next. Headings within lists, quotations and code are none of its ends.
type Chunk struct {
	Level   int    // of its heading; 0: the text before the first heading
	Heading string // as written, on one line
	Line    int    // line of its heading, from 1
	Source  string // with the heading
	Body    string
}

// Chunks divides Markdown at its headings. The first chunk has no heading.
func Chunks(source string) []Chunk {
	src := []byte(source)
	out, start, body := []Chunk{{Line: 1}}, 0, 0
	end := func(at int) {
		last := &out[len(out)-1]
		last.Source, last.Body = source[start:at], source[min(body, at):at]
	}
	after := func(at int) int { // the line of a position
		_, rest, _ := strings.Cut(source[at:], "\n")
		return len(source) - len(rest)
	}
	for n := parser.Parse(src).FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		at := strings.LastIndexByte(source[:h.Pos()], '\n') + 1
		end(at)
		start, body = at, after(h.Pos())
		if lines := h.Lines(); !strings.HasPrefix(strings.TrimLeft(source[at:], " "), "#") && lines.Len() > 0 {
			body = after(after(lines.At(lines.Len() - 1).Start)) // it is underlined
		}
		out = append(out, Chunk{Level: h.Level, Heading: text.Line(markdown.Lines(h, src)),
			Line: 1 + strings.Count(source[:at], "\n")})
	}
	end(len(source))
	return out
}
