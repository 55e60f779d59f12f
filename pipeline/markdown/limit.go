package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Limits for constructs that cost goldmark more than linear time or depth.
const (
	maxNesting    = 32       // nested lists and quotes
	maxRun        = 32       // characters in one delimiter run
	maxDelimiters = 512      // emphasis delimiters in a block, because each is compared with the previous ones
	maxOpen       = 64       // open brackets in a block
	maxRuns       = 64       // lengths of unclosed backtick runs, because each search reaches the end of the block
	maxSteps      = 16 << 20 // bytes and lines searched for brackets that are not links
)

// nested limits the nesting depth of a container.
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

// effort is the work that the inline parsers have done on one block.
type effort struct {
	block      ast.Node
	size       int // bytes
	delimiters int
	open       int
	steps      int
	unclosed   map[int]bool // lengths of unclosed backtick runs
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

// emphasis limits the number of delimiters. Delimiters within words become text immediately.
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

// delimiters recognizes all emphasis delimiters.
type delimiters struct{}

func (delimiters) IsDelimiter(c byte) bool                   { return c == '*' || c == '_' || c == '~' }
func (delimiters) CanOpenCloser(_, _ *parser.Delimiter) bool { return false }
func (delimiters) OnMatch(int) ast.Node                      { return nil }

// runOf returns the number of times that the first character of a line is repeated at its start.
func runOf(line []byte) int { return len(line) - len(bytes.TrimLeft(line, string(line[:1]))) }

// codeSpans searches only once per block for the end of an unclosed backtick run of each length.
type codeSpans struct{ parser.InlineParser }

func (p codeSpans) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	e := effortOn(parent, pc)
	line, segment := block.PeekLine()
	run := runOf(line)
	if e.unclosed[run] || len(e.unclosed) >= maxRuns {
		block.Advance(run)
		return ast.NewTextSegment(segment.WithStop(segment.Start + run))
	}
	node := placed(p.InlineParser.Parse(parent, block, pc), segment.Start, block)
	if _, ok := node.(*ast.CodeSpan); !ok {
		if e.unclosed == nil {
			e.unclosed = map[int]bool{}
		}
		e.unclosed[run] = true
	}
	return node
}

// links limits the number of open brackets and the cost of failed links.
type links struct{ parser.InlineParser }

func (p links) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	e := effortOn(parent, pc)
	line, segment := block.PeekLine()
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
	node := placed(p.InlineParser.Parse(parent, block, pc), segment.Start, block)
	e.steps += parent.Lines().Len()
	if node == nil && len(line) > 1 && (line[1] == '(' || line[1] == '[') {
		e.steps += e.size
	}
	e.open = max(0, e.open-1)
	return node
}

// CloseBlock converts brackets that are still open to text.
func (p links) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	p.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}
