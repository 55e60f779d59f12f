package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Span is the place of a code span, link, image or autolink in the source: the bytes [Start, End). Close is the bracket
// that ends the text of a link or image.
type Span struct{ Start, Close, End int }

const (
	spanKey        = "span"
	definitionsKey = "definitions"
)

// SpanOf returns the place of a code span, link, image or autolink.
func SpanOf(n ast.Node) Span {
	place, _ := n.AttributeString(spanKey)
	s, _ := place.(Span)
	return s
}

// placed notes the place of the node that an inline parser has read from where it began up to the reader's position.
func placed(n ast.Node, began int, block text.Reader) ast.Node {
	if n == nil {
		return nil
	}
	switch n.Kind() {
	case ast.KindCodeSpan, ast.KindLink, ast.KindImage, ast.KindAutoLink:
		_, now := block.Position()
		s := Span{Start: began, Close: began, End: now.Start}
		if at := n.Pos(); at >= 0 {
			s.Start = at
		}
		n.SetAttributeString(spanKey, s)
	}
	return n
}

// autoLinks notes the places of autolinks.
type autoLinks struct{ parser.InlineParser }

func (p autoLinks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	_, began := block.Position()
	return placed(p.InlineParser.Parse(parent, block, pc), began.Start, block)
}

// Definition is the line of a link's label with its address, [label]: address, without its line break.
type Definition struct {
	Start, End  int
	Destination string
}

// Definitions returns the definitions of a document in order.
func Definitions(document ast.Node) []Definition {
	all, _ := document.AttributeString(definitionsKey)
	found, _ := all.(*[]Definition)
	if found == nil {
		return nil
	}
	return *found
}

// define notes a definition in the document that has the block.
func define(block ast.Node, d Definition) {
	for block.Parent() != nil {
		block = block.Parent()
	}
	all, _ := block.AttributeString(definitionsKey)
	found, _ := all.(*[]Definition)
	if found == nil {
		found = new([]Definition)
		block.SetAttributeString(definitionsKey, found)
	}
	*found = append(*found, d)
}
