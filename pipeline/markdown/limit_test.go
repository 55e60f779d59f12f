package markdown_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark/ast"

	"nightdesk/pipeline/lineartest"
	"nightdesk/pipeline/markdown"
	"nightdesk/topicqueue/scaletest"
)

// hostile is text that is slow for parsers with excessive look-back or look-ahead.
func hostile(size int) map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, max(1, size/len(unit))) }
	lines := func(unit string) string { return fill(unit + "\n") }
	var growing, steps strings.Builder
	for n := 1; growing.Len() < size; n++ {
		growing.WriteString(strings.Repeat("`", n) + " ")
	}
	for n := 0; steps.Len() < size; n++ {
		steps.WriteString(strings.Repeat("  ", n%200) + "- x\n")
	}
	return map[string]string{
		"stars":             fill("*a_"),
		"stars in lines":    lines("*a_"),
		"short paragraphs":  fill(strings.Repeat("*a_", 300) + "\n\n"),
		"openers":           fill("*a "),
		"closers":           fill("a* "),
		"mixed":             fill("*a **b "),
		"one run":           fill("*") + "a" + fill("*"),
		"one tilde run":     fill("~") + "a" + fill("~"),
		"underscores":       fill("a_b_"),
		"open brackets":     fill("["),
		"open pictures":     fill("!["),
		"nested brackets":   strings.Repeat("[", size/2) + "a" + strings.Repeat("]", size/2),
		"pairs":             fill("[a]"),
		"pairs in lines":    lines("x [1]"),
		"defined":           "[a]: b\n\n" + lines("x [a]"),
		"links":             fill("[](") + "x",
		"links with spaces": fill("[a](b "),
		"titles":            fill(`[a](b "`),
		"round titles":      fill("[a](b ("),
		"titles in lines":   lines(`[a](b '`),
		"references":        fill("[a][b"),
		"emphasis in links": fill("[*a](b) "),
		"link in link":      fill("[a](b [c"),
		"definitions":       lines("[a]: b"),
		"open definitions":  lines("[a]: b (x"),
		"definition labels": lines("[a"),
		"ticks":             fill("` `` "),
		"growing ticks":     growing.String(),
		"tags":              fill("<a "),
		"attributes":        fill("<a b='"),
		"comments":          "x" + fill("<!--"),
		"declarations":      "x" + fill("<!A"),
		"instructions":      "x" + fill("<?"),
		"character data":    "x" + fill("<![CDATA["),
		"entities":          fill("&"),
		"escapes":           fill(`\`),
		"quotes":            fill(">") + "x",
		"quotes and lines":  strings.Repeat(">", size/2) + "x\n" + strings.Repeat("y\n", size/4),
		"lists in a line":   lines("- - - - - - - - x"),
		"lists":             strings.Repeat("- ", size/4) + "x\n" + strings.Repeat("y\n", size/4),
		"growing lists":     steps.String(),
		"empty items":       lines("-"),
		"blank lines":       fill("\n"),
		"open fence":        "```\n" + lines("x"),
		"fences":            lines("```"),
		"html":              fill("<div>\n\n"),
		"wide table": strings.Repeat("|a", size/8) + "\n" + strings.Repeat("|-", size/8) + "\n" +
			strings.Repeat("|\n", size/4),
		"long table":           "|a|\n|-|\n" + lines("|`\\|`|"),
		"delimiter rows":       lines("|-|"),
		"underlines":           lines("a\n-"),
		"autolinks":            fill("<http:"),
		"addresses":            fill("<a@"),
		"sentences":            fill("A sentence that *cites* [1] and `code`. "),
		"paragraphs":           fill("A sentence that *cites* [1](#a) and `code`.\n\n"),
		"everything in a line": fill("*a_[b](c `d` <e> ~~f "),
	}
}

// TestHostile: time is linear in the length of the text, and nesting is limited.
func TestHostile(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	size := scaletest.Of(1<<16, 1<<20)
	small := hostile(size / 8)
	for name, in := range hostile(size) {
		took := lineartest.Check(t, name, small[name], in, func(in string) {
			depth := 0
			_ = ast.Walk(markdown.NewParser().Parse([]byte(in)), func(_ ast.Node, entering bool) (ast.WalkStatus, error) {
				if depth--; entering {
					depth += 2
				}
				if depth > 1000 {
					t.Fatalf("%s: deeper than 1,000 nodes", name)
				}
				return ast.WalkContinue, nil
			})
		})
		t.Logf("%-20s %8d bytes %s", name, len(in), took)
	}
}
