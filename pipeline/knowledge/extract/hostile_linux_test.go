package extract_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
	"nightdesk/pipeline/lineartest"
)

// Hostile input must not take more processor time than in proportion to it.
func TestHostile(t *testing.T) {
	t.Parallel()
	const size = 1 << 18
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	for _, tc := range []struct{ name, file, data string }{
		{"deep div", "a.html", strings.Repeat("<div>", 20_000) + "<p>deep</p>" + strings.Repeat("</div>", 20_000)},
		{"deep list", "a.html", strings.Repeat("<ul><li>x", 20_000)},
		{"deep table", "a.html", strings.Repeat("<table><tr><td>x", 20_000)},
		{"deep link", "a.html", strings.Repeat(`<a href="x#y">long words `, 10_000)},
		{"deep sup link", "a.html", strings.Repeat(`<sup><a href="x#y">long words `, 5_000)},
		{"deep sup", "a.html", strings.Repeat("<sup>1", 20_000)},
		{"formatting in every paragraph", "a.html", func() string {
			var b strings.Builder
			for i := range 500 {
				fmt.Fprintf(&b, "<b id=%d>", i)
			}
			return b.String() + fill("</p><p>x")
		}()},
		{"wide and high cells", "a.html", "<table>" + fill("<tr><td colspan=300 rowspan=0>x<td>y")},
		{"high cells", "a.html", "<table><tr>" + strings.Repeat("<td rowspan=65534>xyz", 300) + fill("<tr><td>y")},
		{"struck in struck", "a.html", "x" + fill("<div style=display:none><math>")},
		{"style rules", "a.html", "<style>" + fill(".a{color:red}") + "</style><p class=a>x"},
		{"open rules", "a.html", "<style>" + fill("@media{") + "</style><p>x"},
		{"many classes", "a.html", "<style>.a{color:red}</style>" + fill("<b class='a b c d e f g h'>x</b>")},
		{"open tags", "a.html", "text" + fill("<a ")},
		{"open comments", "a.html", "text" + fill("<!-- ")},
		{"entities", "a.html", fill("&amp")},
		{"one word", "a.html", "<p>" + fill("a")},
		{"many ids", "a.html", fill("<h2 id=a>x</h2><p>y</p>")},
		{"backquotes", "a.md", fill("` `` ")},
		{"brackets", "a.md", "x" + fill("[")},
		{"links", "a.md", fill("[](")},
		{"closed brackets", "a.md", "[a]: b\n\n" + fill("[a") + fill("]")},
		{"stars", "a.md", fill("*a_")},
		{"comments", "a.md", "x" + fill("<!--")},
		{"quotes", "a.md", fill(">") + "x"},
		{"quote lines", "a.md", fill("> > > x\n")},
		{"nested lists", "a.md", fill("- - - - x\n")},
		{"growing lists", "a.md", func() string {
			var b strings.Builder
			for i := range 512 { // about as many bytes as the others
				b.WriteString(strings.Repeat("  ", i) + "- x\n")
			}
			return b.String()
		}()},
		{"html lines", "a.md", fill("<div>\n\n") + "x"},
		{"table", "a.md", "|a|\n|-|\n" + fill("|`|")},
		{"dollars", "a.md", fill("$ a")},
		{"front matter", "a.md", "---\n" + fill("author: a;b\n") + "---\nx"},
		{"one field of front matter", "a.md", "---\nauthor: [" + fill("a,") + "]\n---\nx"},
		{"header line", "a.txt", "From: " + fill("=?utf-8?q?a?= <") + "\n\nx"},
		{"header lines", "a.txt", fill("From: a\n") + "\nx"},
		{"folded line", "a.txt", "Subject: a\n" + fill(" a\n") + "\nx"},
		{"metas", "a.html", fill(`<meta name=author content="a;b">`) + "x"},
		{"linked data", "a.html", fill(`<script type="application/ld+json">[{"@graph":[]}]</script>`) + "x"},
		{"nested data", "a.html", `<script type="application/ld+json">` + fill("[") + "</script>x"},
		{"text rules", "a.txt", fill("---\nx\n")},
		{"text of RTF without an end", "a.rtf", `{\rtf1 ` + fill("a")},
		{"groups of RTF", "a.rtf", `{\rtf1 ` + fill(`{\super 1}{\footnote x}`)},
		{"cells of RTF", "a.rtf", `{\rtf1 \trowd` + fill(`\cellx9 a\cell`) + `\row`},
		{"rows of RTF", "a.rtf", `{\rtf1 ` + fill(`\trowd\clvmrg\cellx9\cellx99 a\cell b\cell\row`)},
		{"bytes of RTF", "a.rtf", `{\rtf1 ` + fill(`\'e4\u-10179 \loch`)},
		{"fonts of RTF", "a.rtf", `{\rtf1{\fonttbl` + fill(`{\f1 x;}`) + "}x}"},
		{"parts of an e-mail", "a.eml", "From: a\nContent-Type: multipart/mixed; boundary=b\n\n" + fill("--b\n\nx\n")},
		{"a header of an e-mail", "a.eml", "Subject: " + fill("=?utf-8?q?a?= ") + "\n\nx"},
		{"page breaks", "a.txt", "x\n" + fill("[Page 1]\n\n")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			read := func(text string) extract.Document {
				doc, err := extract.File(t.Context(), tc.file, []byte(text))
				if err != nil && !errors.Is(err, extract.ErrEmpty) {
					t.Error(err)
				}
				return doc
			}
			check(t, read(tc.data))
			lineartest.Check(t, tc.name, tc.data[:len(tc.data)/8], tc.data, func(text string) { read(text) })
		})
	}
}
