package markdown

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// tables converts paragraphs with a delimiter row in the second or a later line to tables. It is more tolerant than
// goldmark's own reader: bars in code do not separate cells, and rows keep their number of cells without padding.
type tables struct{}

var delimiterRow = regexp.MustCompile(`^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\n?$`)

// maxDelimiterRow is the maximum length of a delimiter row, in bytes.
const maxDelimiterRow = 4096

func (tables) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	source, lines := reader.Source(), node.Lines()
	for i := 1; i < lines.Len(); i++ {
		head, rule := lines.At(i-1), lines.At(i)
		raw := rule.Value(source)
		if len(raw) > maxDelimiterRow || !bytes.ContainsAny(raw, "|:") || !bytes.Contains(head.Value(source), []byte("|")) ||
			!delimiterRow.Match(raw) {
			continue
		}
		table := extensionast.NewTable()
		table.SetPos(head.Start)
		for _, cell := range cells(rule, source) {
			table.Alignments = append(table.Alignments, alignment(cell.Value(source)))
		}
		table.AppendChild(table, extensionast.NewTableHeader(row(head, source)))
		for j := i + 1; j < lines.Len(); j++ {
			table.AppendChild(table, row(lines.At(j), source))
		}
		node.Parent().InsertAfter(node.Parent(), node, table)
		if lines.SetSliced(0, i-1); lines.Len() == 0 {
			node.Parent().RemoveChild(node.Parent(), node)
			return
		}
		last := lines.At(i - 2)
		lines.Set(i-2, last.TrimRightSpace(source))
		return
	}
}

func alignment(cell []byte) extensionast.Alignment {
	left, right := bytes.HasPrefix(cell, []byte(":")), bytes.HasSuffix(cell, []byte(":"))
	switch {
	case left && right:
		return extensionast.AlignCenter
	case left:
		return extensionast.AlignLeft
	case right:
		return extensionast.AlignRight
	}
	return extensionast.AlignNone
}

func row(line text.Segment, source []byte) *extensionast.TableRow {
	r := extensionast.NewTableRow(nil)
	r.SetPos(line.Start)
	for _, c := range cells(line, source) {
		cell := extensionast.NewTableCell()
		cell.SetPos(c.Start)
		cell.Lines().Append(c)
		r.AppendChild(r, cell)
	}
	return r
}

// cells splits a line at its bars, except escaped bars and bars in code.
func cells(line text.Segment, source []byte) (found []text.Segment) {
	line = trim(line.Start, line.Stop, source)
	raw := source[line.Start:line.Stop]
	start, code := 0, false
	if bytes.HasPrefix(raw, []byte("|")) {
		start = 1
	}
	lastTick := bytes.LastIndexByte(raw, '`')
	for i := start; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '`':
			code = !code && i < lastTick
		case '|':
			if !code {
				found = append(found, trim(line.Start+start, line.Start+i, source))
				start = i + 1
			}
		}
	}
	if start < len(raw) {
		found = append(found, trim(line.Start+start, line.Stop, source))
	}
	return found
}

// trim returns the segment without leading and trailing white space.
func trim(start, stop int, source []byte) text.Segment {
	start += len(source[start:stop]) - len(bytes.TrimLeft(source[start:stop], " \t\n"))
	return text.NewSegment(start, start+len(bytes.TrimRight(source[start:stop], " \t\n")))
}
