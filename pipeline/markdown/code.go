package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
)

// CodeRanges returns the byte ranges of code in a document, in order and without overlap: fenced blocks including fence
// lines, indented blocks including indentation, and code spans including backticks.
func CodeRanges(document ast.Node, source []byte) [][2]int {
	var ranges [][2]int
	end := 0
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		start, stop := 0, 0
		switch {
		case !entering:
		case n.Kind() == ast.KindCodeSpan:
			start, stop = SpanOf(n).Start, SpanOf(n).End
		case n.Kind() == ast.KindFencedCodeBlock:
			start, stop = lineStart(source, n.Pos()), endOfFenced(n, source)
		case n.Kind() == ast.KindCodeBlock:
			start, stop = lineStart(source, n.Lines().At(0).Start), n.Lines().At(n.Lines().Len()-1).Stop
		}
		if start = max(start, end); start < stop {
			ranges, end = append(ranges, [2]int{start, stop}), stop
		}
		return ast.WalkContinue, nil
	})
	return ranges
}

// endOfFenced returns the offset after a fenced block, including its closing fence if there is one.
func endOfFenced(block ast.Node, source []byte) int {
	fence := source[block.Pos() : block.Pos()+runOf(source[block.Pos():])]
	end := lineEnd(source, block.Pos())
	if lines := block.Lines(); lines.Len() > 0 {
		end = lines.At(lines.Len() - 1).Stop
	}
	next := lineEnd(source, end)
	closing := bytes.Trim(source[end:next], " \t>\n")
	if bytes.HasPrefix(closing, fence) && runOf(closing) == len(closing) {
		return next
	}
	return end
}

func lineStart(source []byte, at int) int { return bytes.LastIndexByte(source[:at], '\n') + 1 }

func lineEnd(source []byte, at int) int {
	if n := bytes.IndexByte(source[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(source)
}
