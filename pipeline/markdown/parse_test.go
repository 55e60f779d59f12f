package markdown_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"

	"nightdesk/pipeline/markdown"
)

// outline returns the tree on one line: the kind of each node with its children or its text.
func outline(n ast.Node, source string) string {
	switch n := n.(type) {
	case *ast.Text:
		return markdown.Plain(string(n.Segment.Value([]byte(source))))
	case *ast.CodeSpan:
		return "code:" + markdown.Code(n, []byte(source))
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
		return fmt.Sprintf("%s:%q", n.Kind(), markdown.Lines(n, []byte(source)))
	}
	var inside []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		inside = append(inside, outline(c, source))
	}
	name := n.Kind().String()
	if l, ok := n.(*ast.Link); ok {
		name += "=" + string(l.Destination)
	}
	return name + "(" + strings.Join(inside, "") + ")"
}

func TestParse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"emphasis", `*a* **b** ~~c~~ d_e_f \*g\* &amp;`,
			`Paragraph(Emphasis(a) Emphasis(b) Strikethrough(c) d_e_f *g* &)`},
		{"table", "|a|b|\n|-|:-:|\n|`x|y`|c|\n|d|\n|e|f|g|\n", `Table(TableHeader(TableCell(a)TableCell(b))` +
			`TableRow(TableCell(code:x|y)TableCell(c))TableRow(TableCell(d))TableRow(TableCell(e)TableCell(f)TableCell(g)))`},
		{"escaped bars", "|a|\n|-|\n|`x\\|y` z\\||", `Table(TableHeader(TableCell(a))TableRow(TableCell(code:x|y z|)))`},
		{"text above a table", "x\na|b\n-|-\nc|d",
			`Paragraph(x)Table(TableHeader(TableCell(a)TableCell(b))TableRow(TableCell(c)TableCell(d)))`},
		{"no table", "a\n-|-", `Paragraph(a-|-)`},
		{"definitions", "[a]: b 'c'\n[D  e]: <f>\n\n[a] [d e][] [x] [y][a]",
			`Paragraph(Link=b(a) Link=f(d e) [x] Link=b(y))`},
		{"half a definition", "[a]: b c", `Paragraph([a]: b c)`},
		{"footnote", "[^1]: b", `Paragraph([^1]: b)`},
		{"closed html", "<!-- a\n\nb -->\n\nc", `HTMLBlock:"<!-- a\n\nb -->\n"Paragraph(c)`},
		{"code in a list", "- a\n\n      b\n", `List(ListItem(Paragraph(a)CodeBlock:"b\n"))`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := outline(markdown.NewParser().Parse([]byte(tc.in)), tc.in)
			if diff := cmp.Diff("Document("+tc.want+")", got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Markup beyond a limit is text, and all of it is kept.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, in := range []string{strings.Repeat(">", 1000) + "x", strings.Repeat("- ", 1000) + "x",
		strings.Repeat("*", 1000) + "x" + strings.Repeat("*", 1000), strings.Repeat("[", 1000) + "x",
		strings.Repeat("*a_", 1000) + "x"} {
		out := outline(markdown.NewParser().Parse([]byte(in)), in)
		if !strings.Contains(out, "x") || strings.Count(out, "(") > 700 {
			t.Errorf("%.20q...: %.300s", in, out)
		}
	}
}

// FuzzParse: code ranges and text segments are in the source, in order and without overlap, on character boundaries.
func FuzzParse(f *testing.F) {
	for _, in := range hostile(200) {
		f.Add(in)
	}
	f.Add("> - *a* [b](c 'd') `e|f`\n>   | g | h |\n>   |---|---|\n>   | `i\\|j` |\n\n[k]: l\n***\nm\n===\n")
	f.Fuzz(func(t *testing.T, in string) {
		in = strings.ToValidUTF8(in, "\uFFFD")
		last := 0
		for _, r := range markdown.CodeRanges(markdown.NewParser().Parse([]byte(in)), []byte(in)) {
			if r[0] < last || r[1] <= r[0] || r[1] > len(in) {
				t.Fatalf("code at %v of %d, after %d: %q", r, len(in), last, in)
			}
			last = r[1]
		}
		last = 0
		_ = ast.Walk(markdown.NewParser().Parse([]byte(in)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			text, ok := n.(*ast.Text)
			if !ok || !entering {
				return ast.WalkContinue, nil
			}
			s := text.Segment
			ordered := last <= s.Start && s.Start <= s.Stop && s.Stop <= len(in)
			if !ordered || !utf8.ValidString(in[s.Start:s.Stop]) {
				t.Fatalf("%d to %d of %d, after %d: %q", s.Start, s.Stop, len(in), last, in)
			}
			last = s.Stop
			return ast.WalkContinue, nil
		})
	})
}

func TestCodeRanges(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   string
		want []string
	}{
		{"a `b` ``c`d`` \\`e`", []string{"`b`", "``c`d``"}},
		{"```go\na\n```\nb\n~~~\nc", []string{"```go\na\n```\n", "~~~\nc"}},
		{"- a\n  ```\n  b\n  ```\n- c", []string{"  ```\n  b\n  ```\n"}},
		{"> ```\n> a\n\nb `c`", []string{"> ```\n> a\n", "`c`"}},
		{"a\n\n    b\n    c\n\nd", []string{"    b\n    c\n"}},
		{"- a\n\n    b", nil},
		{"<pre>\n`a`\n</pre>", nil},
		{"```\n```\n```", []string{"```\n```\n", "```"}},
		{"[`a`](b)", []string{"`a`"}},
	} {
		var got []string
		for _, r := range markdown.CodeRanges(markdown.NewParser().Parse([]byte(tc.in)), []byte(tc.in)) {
			got = append(got, tc.in[r[0]:r[1]])
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q: -want +got:\n%s", tc.in, diff)
		}
	}
}

// TestSpans: where links and their definitions stand.
func TestSpans(t *testing.T) {
	t.Parallel()
	const in = "> a [b\n> c](d (e)) ![f][g] `h` <ij:k>\n\n- [g]: <k> 'l'\n"
	source := []byte(in)
	document := markdown.NewTextParser().Parse(source)
	var got []string
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if s := markdown.SpanOf(n); entering && s.End > 0 {
			got = append(got, in[s.Start:s.Close]+"|"+in[s.Close:s.End])
		}
		return ast.WalkContinue, nil
	})
	for _, d := range markdown.Definitions(document) {
		got = append(got, in[d.Start:d.End]+"|"+d.Destination)
	}
	want := []string{"[b\n> c|](d (e))", "![f|][g]", "|`h`", "|<ij:k>", "[g]: <k> 'l'|k"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
