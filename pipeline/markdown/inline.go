package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
)

// Inline returns the text of a block without its markup. Links to references and pictures within it
// are omitted.
func Inline(block ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(block, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.WriteString(Plain(string(n.Segment.Value(source))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.CodeSpan:
			b.WriteString(Code(n, source))
			return ast.WalkSkipChildren, nil
		case *ast.Image:
			if ast.Node(n) != block {
				return ast.WalkSkipChildren, nil
			}
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.Link:
			if strings.HasPrefix(string(n.Destination), "#ref-") {
				return ast.WalkSkipChildren, nil
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
