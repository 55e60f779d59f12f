package markdown

import (
	"html"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"
)

var entity = regexp.MustCompile(`^&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});`)

// Plain returns the text of Markdown without delimiters: it removes escaping backslashes and decodes entities.
// Plain(Escape(x)) is x with white space folded, invalid UTF-8 replaced and without what turns the order of text.
func Plain(markdown string) string {
	if !strings.ContainsAny(markdown, `\&`) {
		return markdown
	}
	var b strings.Builder
	for i := 0; i < len(markdown); {
		c := markdown[i]
		if c == '\\' && i+1 < len(markdown) && IsPunct(markdown[i+1]) {
			b.WriteByte(markdown[i+1])
			i += 2
			continue
		}
		if c == '&' {
			if e := entity.FindString(markdown[i:min(len(markdown), i+40)]); e != "" {
				b.WriteString(html.UnescapeString(e))
				i += len(e)
				continue
			}
		}
		b.WriteByte(c)
		i++
	}
	return b.String()
}

// Code returns the text of a code span, with spaces for line breaks. In a table, an escaped bar becomes a bar.
func Code(span *ast.CodeSpan, source []byte) string {
	var b strings.Builder
	for c := span.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		}
	}
	words := strings.ReplaceAll(b.String(), "\n", " ")
	for p := span.Parent(); p != nil; p = p.Parent() {
		if p.Kind() == extensionast.KindTableCell {
			return strings.ReplaceAll(words, `\|`, "|")
		}
	}
	return words
}

// Lines returns the lines of a block as written in source, without the markers of enclosing lists and quotes.
func Lines(block ast.Node, source []byte) string {
	var b strings.Builder
	for i := range block.Lines().Len() {
		line := block.Lines().At(i)
		b.Write(line.Value(source))
	}
	if h, ok := block.(*ast.HTMLBlock); ok && h.HasClosure() {
		b.Write(h.ClosureLine.Value(source))
	}
	return b.String()
}
