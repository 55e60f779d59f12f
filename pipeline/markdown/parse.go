package markdown

import (
	"bytes"
	"regexp"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Parser parses one dialect of Markdown. Safe for concurrent use.
type Parser struct{ goldmark parser.Parser }

// NewParser returns a parser that also supports the syntax added by the options.
func NewParser(dialect ...parser.Option) Parser {
	html := parser.WithBlockParsers(util.Prioritized(parser.NewHTMLBlockParser(), 900))
	return newParser(append([]parser.Option{html}, dialect...)...)
}

// NewTextParser returns a parser that has no blocks of HTML: it reads the Markdown in them.
func NewTextParser() Parser { return newParser() }

func newParser(dialect ...parser.Option) Parser {
	return Parser{parser.NewParser(append([]parser.Option{
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(nested{parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(nested{parser.NewBlockquoteParser()}, 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(codeSpans{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(links{parser.NewLinkParser()}, 200),
			util.Prioritized(autoLinks{parser.NewAutoLinkParser()}, 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(emphasis{parser.NewEmphasisParser()}, 500),
			util.Prioritized(emphasis{extension.NewStrikethroughParser()}, 500),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(definitions{}, 100),
			util.Prioritized(tables{}, 200),
		),
	}, dialect...)...)}
}

// Parse returns the document. Its nodes refer to source, which must be valid UTF-8 and must not change. Never fails.
func (p Parser) Parse(source []byte) ast.Node { return p.goldmark.Parse(text.NewReader(source)) }

// definitions removes single-line link definitions from the start of a paragraph. goldmark's own reader searches the
// whole paragraph for the end of each title. Footnote labels do not define links.
type definitions struct{}

var definition = regexp.MustCompile(`^ {0,3}\[((?:[^\[\]\\^]|\\.)(?:[^\[\]\\]|\\.){0,998})\]:[ \t]*` + // label
	`(<[^<>\n]*>|[^\s<]\S*)([ \t]+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[ \t]*\n?$`) // destination, title

func (definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, n := node.Lines(), 0
	for ; n < lines.Len(); n++ {
		line := lines.At(n)
		m := definition.FindSubmatch(line.Value(reader.Source()))
		if m == nil {
			break
		}
		title := bytes.TrimSpace(m[3])
		if len(title) > 0 {
			title = title[1 : len(title)-1]
		}
		dest := bytes.TrimSuffix(bytes.TrimPrefix(m[2], []byte("<")), []byte(">"))
		pc.AddReference(parser.NewReference(m[1], dest, title))
		end := line.Start + len(bytes.TrimRight(line.Value(reader.Source()), " \t\n"))
		define(node, Definition{Start: line.Start, End: end, Destination: string(dest)})
	}
	switch {
	case n == lines.Len():
		node.Parent().RemoveChild(node.Parent(), node)
	case n > 0:
		lines.SetSliced(n, lines.Len())
	}
}
