package extract

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	md "nightdesk/pipeline/markdown"
)

// dialect is the Markdown of documentation: with definition lists, formulas, footnotes, and lines and words addressed
// to site generators.
var dialect = md.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(directives{}, 90),
		util.Prioritized(extension.NewDefinitionListParser(), 101),
		util.Prioritized(extension.NewDefinitionDescriptionParser(), 102),
	),
	parser.WithInlineParsers(
		util.Prioritized(extension.NewTaskCheckBoxParser(), 0),
		util.Prioritized(formulas{}, 110),
		util.Prioritized(footnotes{}, 120),
		util.Prioritized(shortcodes{}, 130),
	),
)

// directiveLine matches a line for a site generator: Hugo shortcodes, Jekyll tags, Docusaurus fences and imports.
var directiveLine = regexp.MustCompile(
	`^(\{\{[<%].*[>%]\}\}|\{%.*%\}|:::.*|import\s.+\sfrom\s+['"].*|\{:.*\}|\[\[?_?TOC_?\]\]?)$`)

// directives omits such lines by parsing each as a block without text.
type directives struct{}

func (directives) Trigger() []byte { return []byte("{:[i") }

func (directives) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	if len(line) > 1000 || !directiveLine.MatchString(strings.TrimSpace(string(line))) {
		return nil, parser.NoChildren
	}
	if line[pc.BlockOffset()] == 'i' && ast.IsParagraph(pc.LastOpenedBlock().Node) { // import may be a plain word
		return nil, parser.NoChildren
	}
	reader.AdvanceToEOL()
	return ast.NewTextBlock(), parser.NoChildren
}

func (directives) Continue(ast.Node, text.Reader, parser.Context) parser.State { return parser.Close }
func (directives) Close(ast.Node, text.Reader, parser.Context)                 {}
func (directives) CanInterruptParagraph() bool                                 { return true }
func (directives) CanAcceptIndentedLine() bool                                 { return false }

// formulas keeps $...$ and $$...$$ verbatim, because apparent markup inside them is part of the formula.
type formulas struct{}

const maxFormula = 2048 // bytes

func (formulas) Trigger() []byte { return []byte("$") }

func (formulas) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	_, here := block.PeekLine()
	last := parent.Lines().At(parent.Lines().Len() - 1)
	raw := string(block.Source()[here.Start:min(last.Stop, here.Start+maxFormula)])
	n := mathSpan(raw)
	if n == 0 {
		return nil
	}
	for end := here.Start + n; ; block.AdvanceLine() {
		if _, line := block.PeekLine(); end <= line.Stop {
			block.Advance(end - line.Start)
			return ast.NewString([]byte(raw[:n]))
		}
	}
}

// mathSpan returns the length of $...$ or $$...$$ at the start of s, or 0 if the dollar sign is literal.
func mathSpan(s string) int {
	mark := "$"
	if strings.HasPrefix(s, "$$") {
		mark = "$$"
	}
	inner := s[len(mark):]
	end := strings.Index(inner, mark)
	if end <= 0 {
		return 0
	}
	after := len(mark) + end + len(mark)
	if mark == "$" {
		spaced := inner[0] == ' ' || inner[end-1] == ' '
		price := after < len(s) && s[after] >= '0' && s[after] <= '9'
		if spaced || price {
			return 0
		}
	}
	return after
}

// footnotes omits footnote marks, and footnote labels at the start of a line.
type footnotes struct{}

var footnote = regexp.MustCompile(`^\[\^[^\[\]\s]{1,80}\](:[ \t]*)?`)

func (footnotes) Trigger() []byte { return []byte("[") }

func (footnotes) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if !bytes.HasPrefix(line, []byte("[^")) { // fast path for most brackets
		return nil
	}
	starts := block.PrecendingCharacter() == '\n'
	m := footnote.FindSubmatchIndex(line)
	if m == nil || m[1] < len(line) && line[m[1]] == '(' {
		return nil
	}
	if m[2] >= 0 && !starts {
		m[1] = m[2]
	}
	block.Advance(m[1])
	return ast.NewString(nil)
}

// shortcodes omits Hugo shortcodes.
type shortcodes struct{}

var shortcode = regexp.MustCompile(`^\{\{[<%][^{}]*[>%]\}\}`)

// linkShortcode matches a link destination that contains a shortcode, which may include white space.
var linkShortcode = regexp.MustCompile(`\]\(\{\{[<%][^{}]*[>%]\}\}[^()\s]*\)`)

func (shortcodes) Trigger() []byte { return []byte("{") }

func (shortcodes) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	n := len(shortcode.Find(line))
	if n == 0 {
		return nil
	}
	block.Advance(n)
	return ast.NewString(nil)
}
