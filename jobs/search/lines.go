package search

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"

	"nightdesk/jobs/bundle"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/text"
	"nightdesk/topicqueue"
)

var parser = markdown.NewParser()

// reportLines returns the text of a report without its head, references and citation markers, as a reader sees it. Each
// line is a sentence, a heading, a table row or a line of code.
func reportLines(report []byte) (lines []string) {
	source := []byte(strings.ToValidUTF8(bundle.Body(string(report)), "\ufffd"))
	add := func(s string) {
		if s = topicqueue.OneLine(strings.ReplaceAll(s, "[]", "")); s != "" {
			lines = append(lines, s)
		}
	}
	_ = ast.Walk(parser.Parse(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch {
		case !entering || n.Type() != ast.TypeBlock:
			return ast.WalkContinue, nil
		case n.Kind() == extensionast.KindTableRow, n.Kind() == extensionast.KindTableHeader:
			var cells []string
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				cells = append(cells, strings.TrimSpace(markdown.Inline(c, source)))
			}
			add(strings.Join(cells, " | "))
			return ast.WalkSkipChildren, nil
		case n.Kind() == ast.KindCodeBlock, n.Kind() == ast.KindFencedCodeBlock, n.Kind() == ast.KindHTMLBlock:
			for line := range strings.Lines(markdown.Lines(n, source)) {
				add(line)
			}
		case n.Kind() == ast.KindParagraph, n.Kind() == ast.KindTextBlock:
			for _, s := range text.ParagraphSentences(markdown.Inline(n, source)) {
				add(s.Text)
			}
		case n.Kind() == ast.KindHeading:
			add(markdown.Inline(n, source))
		}
		return ast.WalkContinue, nil
	})
	return lines
}
