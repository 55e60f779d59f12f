package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// What goldmark's time or depth grows with faster than with the length of a text.
const (
	maxNesting    = 32       // lists and quotes within each other
	maxRun        = 32       // characters of one delimiter
	maxDelimiters = 512      // delimiters of emphasis in a block: each is compared with those before it
	maxOpen       = 64       // brackets in a block that nothing has closed yet
	maxRuns       = 64       // lengths of backtick runs that nothing closes: each is looked for to the end of the block
	maxSteps      = 16 << 20 // bytes and lines that are gone through for brackets that are no links
	maxCells      = 100_000  // cells of a table: short rows are filled up to the width of the first
)

// nested limits the depth of a container.
type nested struct{ parser.BlockParser }

func (n nested) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for p := parent; p != nil; p = p.Parent() {
		switch p.(type) {
		case *ast.List, *ast.Blockquote:
			depth++
		}
	}
	if depth >= maxNesting {
		return nil, parser.NoChildren
	}
	return n.BlockParser.Open(parent, reader, pc)
}

// effort is what the inline parsers have spent on one block.
type effort struct {
	block      ast.Node
	size       int // bytes
	delimiters int
	open       int
	steps      int
	unclosed   map[int]bool // lengths of runs of backticks
}

var effortKey = parser.NewContextKey()

func effortOn(block ast.Node, pc parser.Context) *effort {
	e, _ := pc.Get(effortKey).(*effort)
	if e == nil || e.block != block {
		e = &effort{block: block}
		if lines := block.Lines(); lines.Len() > 0 {
			e.size = lines.At(lines.Len()-1).Stop - lines.At(0).Start
		}
		pc.Set(effortKey, e)
	}
	return e
}

// emphasis limits delimiters. Those within words are text at once.
type emphasis struct{ parser.InlineParser }

func (p emphasis) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	e := effortOn(parent, pc)
	line, segment := block.PeekLine()
	run := runOf(line)
	limited := run > maxRun || e.delimiters >= maxDelimiters
	d := parser.ScanDelimiter(line, block.PrecendingCharacter(), 1, delimiters{})
	if inWord := d == nil || !d.CanOpen && !d.CanClose; limited || inWord {
		block.Advance(run)
		return ast.NewTextSegment(segment.WithStop(segment.Start + run))
	}
	e.delimiters++
	return p.InlineParser.Parse(parent, block, pc)
}

// delimiters recognises all of them.
type delimiters struct{}

func (delimiters) IsDelimiter(c byte) bool                   { return c == '*' || c == '_' || c == '~' }
func (delimiters) CanOpenCloser(_, _ *parser.Delimiter) bool { return false }
func (delimiters) OnMatch(int) ast.Node                      { return nil }

// runOf returns how often the first character of a line is repeated.
func runOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, string(line[:1]))) }

// codeSpans does not look again for the end of a run that has none.
type codeSpans struct{ parser.InlineParser }

func (p codeSpans) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	e := effortOn(parent, pc)
	line, segment := block.PeekLine()
	run := runOf(line)
	if e.unclosed[run] || len(e.unclosed) >= maxRuns {
		block.Advance(run)
		return ast.NewTextSegment(segment.WithStop(segment.Start + run))
	}
	node := p.InlineParser.Parse(parent, block, pc)
	if _, ok := node.(*ast.CodeSpan); !ok {
		if e.unclosed == nil {
			e.unclosed = map[int]bool{}
		}
		e.unclosed[run] = true
	}
	return node
}

// links limits open brackets, and what failed links cost.
type links struct{ parser.InlineParser }

func (p links) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	e := effortOn(parent, pc)
	line, _ := block.PeekLine()
	if line[0] != ']' {
		if e.open >= maxOpen {
			return nil
		}
		node := p.InlineParser.Parse(parent, block, pc)
		if node != nil {
			e.open++
		}
		return node
	}
	if e.steps > maxSteps {
		return nil
	}
	node := p.InlineParser.Parse(parent, block, pc)
	e.steps += parent.Lines().Len()
	if node == nil && len(line) > 1 && (line[1] == '(' || line[1] == '[') {
		e.steps += e.size
	}
	e.open = max(0, e.open-1)
	return node
}

// CloseBlock makes text of the brackets that are still open.
func (p links) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	p.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}
