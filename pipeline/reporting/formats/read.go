package formats

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
)

// reader parses Markdown into blocks.
type reader struct {
	source  []byte
	doc     *document
	figures int // bytes of figures shown
	taken   map[string]bool
	cells   int // table cells, including those missing in short rows
}

// maxCells is the maximum number of table cells in a report. Short rows are filled to the width of their table.
const maxCells = 100_000

var parser = markdown.NewParser()

// read parses a report.
func read(r Report) (*document, error) {
	if len(r.Markdown) > MaxMarkdown {
		return nil, fmt.Errorf("%w: it has %d bytes, but at most %d are allowed", ErrTooLarge, len(r.Markdown), MaxMarkdown)
	}
	source := []byte(strings.ToValidUTF8(strings.ReplaceAll(r.Markdown, "\x00", "\uFFFD"), "\uFFFD"))
	rd := &reader{source: source, doc: &document{Report: r, cites: map[string][]int{}}, taken: map[string]bool{}}
	rd.doc.blocks = rd.blocks(parser.Parse(source))
	if rd.cells > maxCells {
		return nil, fmt.Errorf("%w: its tables have %d cells, but at most %d are allowed", ErrTooLarge, rd.cells, maxCells)
	}
	rd.finish()
	return rd.doc, nil
}

func (r *reader) blocks(parent ast.Node) []block {
	var out []block
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			out = append(out, block{kind: heading, level: n.Level, runs: r.runs(n)})
		case *ast.Paragraph, *ast.TextBlock:
			out = append(out, r.paragraphs(n)...)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			out = append(out, block{kind: code, text: strings.TrimRight(markdown.Lines(n, r.source), "\n")})
		case *ast.HTMLBlock:
			if raw := text.Line(markdown.Lines(n, r.source)); raw != "" {
				out = append(out, block{kind: paragraph, runs: []run{{text: raw}}})
			}
		case *ast.Blockquote:
			out = append(out, block{kind: quote, blocks: r.blocks(n)})
		case *ast.List:
			b := block{kind: list, ordered: n.IsOrdered(), start: max(0, min(n.Start, 1_000_000))}
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				b.items = append(b.items, r.blocks(item))
			}
			out = append(out, b)
		case *ast.ThematicBreak:
			out = append(out, block{kind: rule})
		case *extensionast.Table:
			out = append(out, r.table(n))
		default: // no other kind is parsed; keep the text
			out = append(out, r.blocks(n)...)
		}
	}
	return out
}

func (r *reader) table(n *extensionast.Table) block {
	b, columns := block{kind: table}, 0
	for line := n.FirstChild(); line != nil; line = line.NextSibling() {
		var cols row
		for c := line.FirstChild(); c != nil; c = c.NextSibling() {
			right := len(cols) < len(n.Alignments) && n.Alignments[len(cols)] == extensionast.AlignRight
			cols = append(cols, cell{runs: r.runs(c), right: right})
		}
		b.rows, columns = append(b.rows, cols), max(columns, len(cols))
	}
	r.cells += columns * len(b.rows)
	return b
}

// ownAnchor matches the anchor before a reference.
var ownAnchor = regexp.MustCompile(`^<a id="(ref-[a-z0-9-]{1,36})">$`)

// paragraphs converts a paragraph. A paragraph of references is split at its anchors: the text before the first anchor,
// and one paragraph per anchor. Each anchor is used once.
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
		w.node(c, run{})
	}
	flush()
	return out
}

// mark returns the anchor of a node; "" if the node has none or the anchor is taken.
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

// finish numbers headings and citations and resolves their links.
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
