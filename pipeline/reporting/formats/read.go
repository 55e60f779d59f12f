package formats

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// maxDepth bounds blocks in blocks and emphasis in emphasis: the walk is recursive.
const maxDepth = 60

// reader turns Markdown into blocks.
type reader struct {
	source  []byte
	doc     *document
	figures int // bytes that are shown
	taken   map[string]bool
	deep    bool
}

// read parses a report.
func read(r Report) (*document, error) {
	if len(r.Markdown) > MaxMarkdown {
		return nil, fmt.Errorf("%w: it has %d bytes, at most %d are possible", ErrTooLarge, len(r.Markdown), MaxMarkdown)
	}
	source := []byte(strings.ToValidUTF8(strings.ReplaceAll(r.Markdown, "\x00", "\uFFFD"), "\uFFFD"))
	if !parsable(source) {
		return nil, ErrTooLarge
	}
	parser := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough)).Parser()
	rd := &reader{source: source, doc: &document{Report: r, cites: map[string][]int{}}, taken: map[string]bool{}}
	rd.doc.blocks = rd.blocks(parser.Parse(text.NewReader(source)), 0)
	if rd.deep {
		return nil, ErrTooLarge
	}
	rd.finish()
	return rd.doc, nil
}

// maxOpeners bounds the signs of one paragraph that may begin a link or emphasis: what they cost the parser grows with
// their square. Two thousand citations have as many.
const maxOpeners = 4000

// maxCells bounds the cells of all tables: the parser fills a row with few of them up to the width of the first.
const maxCells = 100_000

// tableRule is the second line of a table, which says how many columns it has.
var tableRule = regexp.MustCompile(`^[ \t>*+.)0-9-]*[ \t|:-]*\|[ \t|:-]*\s*$`)

// parsable reports whether the parser can do with a text: no line begins with more marks of quotes and lists than any text
// has, for it goes down into each of them, no paragraph has too many openers, and the tables have no more cells than any
// report's.
func parsable(source []byte) bool {
	openers, columns, cells := 0, 0, 0
	for line := range bytes.Lines(source) {
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			columns = 0
		case tableRule.Match(line):
			columns = max(columns, bytes.Count(line, []byte("|"))+1)
		}
		if cells += columns; cells > maxCells {
			return false
		}
		start := bytes.TrimLeft(line, " \t>")
		if len(bytes.TrimSpace(line)) == 0 || bytes.HasPrefix(start, []byte("- ")) || bytes.HasPrefix(start, []byte("## ")) {
			openers = 0
		}
		quotes, marks := 0, 0
	marks:
		for _, c := range line {
			switch c {
			case '>':
				quotes++
			case '-', '*', '+', '.', ')': // rules are long rows of some of them
				marks++
			case ' ', '\t', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			default:
				break marks
			}
		}
		if quotes > maxDepth || quotes > 0 && marks > maxDepth || marks > 400 {
			return false
		}
		for _, c := range line {
			if c == '[' || c == '*' || c == '_' || c == '~' {
				openers++
			}
		}
		if openers > maxOpeners {
			return false
		}
	}
	return true
}

func (r *reader) tooDeep(depth int) bool {
	r.deep = r.deep || depth > maxDepth
	return r.deep
}

func (r *reader) blocks(parent ast.Node, depth int) []block {
	if r.tooDeep(depth) {
		return nil
	}
	var out []block
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			out = append(out, block{kind: heading, level: n.Level, runs: r.runs(n)})
		case *ast.Paragraph, *ast.TextBlock:
			out = append(out, r.paragraphs(n)...)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			out = append(out, block{kind: code, text: strings.TrimRight(r.lines(n), "\n")})
		case *ast.HTMLBlock:
			raw := r.lines(n)
			if n.HasClosure() {
				raw += string(n.ClosureLine.Value(r.source))
			}
			if raw = strings.Join(strings.Fields(raw), " "); raw != "" {
				out = append(out, block{kind: paragraph, runs: []run{{text: raw}}})
			}
		case *ast.Blockquote:
			out = append(out, block{kind: quote, blocks: r.blocks(n, depth+1)})
		case *ast.List:
			b := block{kind: list, ordered: n.IsOrdered(), start: max(0, min(n.Start, 1_000_000))}
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				b.items = append(b.items, r.blocks(item, depth+1))
			}
			out = append(out, b)
		case *ast.ThematicBreak:
			out = append(out, block{kind: rule})
		case *extensionast.Table:
			out = append(out, r.table(n))
		default: // no other kind is parsed; its text stays
			out = append(out, r.blocks(n, depth+1)...)
		}
	}
	return out
}

func (r *reader) lines(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(r.source))
	}
	return b.String()
}

func (r *reader) table(n *extensionast.Table) block {
	b := block{kind: table}
	for line := n.FirstChild(); line != nil; line = line.NextSibling() {
		var cols row
		for c := line.FirstChild(); c != nil; c = c.NextSibling() {
			right := len(cols) < len(n.Alignments) && n.Alignments[len(cols)] == extensionast.AlignRight
			cols = append(cols, cell{runs: r.runs(c), right: right})
		}
		b.rows = append(b.rows, cols)
	}
	return b
}

// ownAnchor is the mark before a reference.
var ownAnchor = regexp.MustCompile(`^<a id="(ref-[a-z0-9-]{1,36})">$`)

// paragraphs returns a paragraph; one of the references as what stands before the first mark, and a paragraph for each mark. Each
// mark is given once.
func (r *reader) paragraphs(n ast.Node) (out []block) {
	b, w := block{kind: paragraph}, inline{reader: r}
	flush := func() {
		if b.runs = tidy(w.out); len(b.runs) > 0 {
			b.runs[0].text = strings.TrimLeft(b.runs[0].text, " ")
			b.runs[len(b.runs)-1].broken = false
			out = append(out, b)
		}
		w.out = nil
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if anchor := r.mark(c); anchor != "" {
			flush()
			b = block{kind: paragraph, anchor: anchor}
			r.taken[anchor] = true
			if closing, ok := c.NextSibling().(*ast.RawHTML); ok && string(closing.Segments.Value(r.source)) == "</a>" {
				c = closing
			}
			continue
		}
		w.node(c, run{}, 0)
	}
	flush()
	return out
}

// mark returns the anchor that a node is the mark of; "" when it is none, or one that was there before.
func (r *reader) mark(n ast.Node) string {
	raw, ok := n.(*ast.RawHTML)
	if !ok {
		return ""
	}
	m := ownAnchor.FindSubmatch(raw.Segments.Value(r.source))
	if m == nil || r.taken[string(m[1])] {
		return ""
	}
	return string(m[1])
}

// finish gives places and citations their names, once all of them are known.
func (r *reader) finish() {
	headings := 0
	eachBlock(r.doc.blocks, func(b *block) {
		if b.kind == heading {
			headings++
			b.anchor = "part-" + strconv.Itoa(headings)
		}
	})
	known, number := r.doc.anchors(), 0
	eachBlock(r.doc.blocks, func(b *block) {
		before := ""
		for _, runs := range append([][]run{b.runs}, cellsOf(b)...) {
			for i := range runs {
				x := &runs[i]
				if strings.HasPrefix(x.link, "#") && !known[x.link[1:]] {
					x.link, x.cited = "", ""
				}
				if x.cited == "" {
					before = lastBytes(before + x.text)
					continue
				}
				number++
				x.number = number
				r.doc.cites[x.cited] = append(r.doc.cites[x.cited], number)
				x.passage = r.doc.Notes[x.cited].passage(sentenceEnd(before))
			}
		}
	})
}

func cellsOf(b *block) (cells [][]run) {
	for _, r := range b.rows {
		for _, c := range r {
			cells = append(cells, c.runs)
		}
	}
	return cells
}
