package verification_test

import (
	"fmt"
	"strings"
)

// hostile returns texts of about size bytes that are slow for parsers that look back or ahead too often.
func hostile(size int) map[string]string {
	const list = "\n\n## Sources\n[1] https://ok.example/alpha\n[2] https://no.example\n"
	fill := func(unit string) string { return strings.Repeat(unit, max(1, size/len(unit))) }
	kinds := map[string]string{
		"open brackets":  fill("["),
		"nested":         strings.Repeat("[", size/2) + "1" + strings.Repeat("]", size/2),
		"nested lists":   nestedList(size / 125),
		"entries":        "## Sources\n" + fill("[1] https://no.example/x\n"),
		"ordered":        "## Sources\n" + fill("1. x\n"),
		"headings":       fill("Sources\n") + fill("## Sources\n"),
		"footnotes":      fill("[^1]: a.b\n"),
		"lines":          fill("x [1]\n") + "\n## Sources\n[1] https://ok.example/alpha\n",
		"several":        "## Sources\n[1] https://ok.example/alpha " + fill("[2] https://ok.example/beta "),
		"tags":           fill("<tool_call>"),
		"other tags":     fill("<a href=x "),
		"closed tags":    fill("<function></parameter>"),
		"addresses":      fill("https://"),
		"long address":   "https://ok.example/" + fill("a"),
		"dots":           "## Sources\n[1] " + fill("a.b "),
		"quotes":         fill("> "),
		"backticks":      fill("` `` "),
		"dollars":        fill("$x [7] "),
		"definitions":    fill("[a]: https://no.example\n") + fill("[b][a]"),
		"tables":         "## Sources\n" + fill("| [1] | a.pdf |\n"),
		"word [1]":       fill("word[1] ") + "\n\n## Sources\n[1] https://ok.example/alpha\n",
		"parentheses":    "## Sources\n[1] " + fill("("),
		"blank entries":  "## Sources\n" + fill("[1] a\n\n\n\n"),
		"sentences":      fill("A. ") + "[1]\n\n## Sources\n[1] https://ok.example/alpha\n",
		"superscript":    fill("<sup>1</sup>"),
		"ellipsis":       fill("https://ok.example/a...b "),
		"anchors":        fill(`<a id="ref-1"></a> [1] `),
		"spaces":         fill(" ") + "[1]\n\n## Sources\n[1] https://ok.example/alpha\n",
		"definition":     fill("[1]: "),
		"remarks":        fill("[^1]: a\n[^2]\n") + "\n## Sources\n[1] https://ok.example/alpha\n",
		"names":          fill("[^a]: one two three four five https://no.example six seven\n") + "\n## Sources\n[1] https://ok.example/alpha\n",
		"tail":           "x [1]\n\n" + fill("1. https://no.example\n"),
		"long tail":      "x [1]\n\n1. a\n" + fill("  https://no.example\n"),
		"one line":       "## Sources\n" + fill("https://no.example/x "),
		"entities":       fill("&#91;1&#93; https&#58;//a.b "),
		"hidden":         fill("a\u200bhttp://") + "\u202e",
		"embedded":       fill("\u202ea"),
		"vendor links":   fill("[oai_citation:1‡a](b"),
		"hashes":         fill("[#1]"),
		"refs":           fill("<ref>1</ref>"),
		"raised":         fill("¹²"),
		"images":         fill("!["),
		"carets":         fill("[^"),
		"named notes":    fill("[^a] ") + "\n\n[^a]: https://ok.example/alpha\n",
		"named lines":    fill("[^a]: https://no.example\n"),
		"unlabelled":     "## Sources\n" + fill("a b c\n") + "https://ok.example/alpha\n",
		"cited lists":    "x [9]\n\n" + strings.Repeat("## a\n1. https://no.example\n", size/28),
		"tool fences":    strings.Repeat("```tool_code\nx\n```\n", size/20),
		"open fences":    strings.Repeat("~~~tool_code\n\n", size/15),
		"call ends":      fill("<|tool_call_end|><|start_action|>"),
		"pasted tokens":  fill("citeturn0search1 turn0"),
		"other digits":   fill("[١٢، ٣] ["),
		"cite tags":      fill("<cite index=\"1\">a "),
		"underscores":    fill("__a__[1]") + "\n\n## Sources\n[1] https://ok.example/alpha\n",
		"joined by and":  "[1" + fill(" and e 1") + "]",
		"commas":         fill("https://no.example,"),
		"documents":      "## Sources\n[1] " + fill("见年度handbook.pdf"),
		"shifted":        "## Sources\n" + strings.Repeat("\t[1] https://no.example\n", size/24),
		"empty links":    fill("[](https://no.example)"),
		"garbled":        "## Sources\n" + fill("[1] htps://no.example/x no.example/y\n"),
		"escapes":        "## Sources\n[1] https://ok.example/" + fill("%E2"),
		"tool tokens":    fill("[TOOL_CALLS] <|channel|>analysis "),
		"vendor tokens":  fill("\ue200cite"),
		"joined":         fill("[2], ") + "\n\n## Sources\n[1] https://ok.example/alpha\n[2] https://no.example\n",
		"announced":      fill("(see [2]) ") + "\n\n## Sources\n[1] https://ok.example/alpha\n[2] https://no.example\n",
		"zero width":     fill("[\u200b1\u200b]"),
		"removed spaces": fill("[2] ") + "\n\n## Sources\n[1] https://ok.example/alpha\n[2] https://no.example\n",
		"parameters":     "https://ok.example/beta?" + fill("id=1&x=2&"),
		"unspaced":       fill("见https://ok.example/alpha参考"),
		"scripts":        fill("<script>"),
		"one script":     fill("<script>" + strings.Repeat("x", 900)),
		"quotes deep":    fill(strings.Repeat("> ", 1000)+"a [1]\n") + list,
		"emphasis":       fill("*a **b ") + list,
		"emphasised":     fill("**[2]** ") + list,
		"bracket tick":   fill("[`"),
		"percent":        fill("https://ok.example/%E2%80 ") + list,
		"percents":       "x [1]\n\n## Sources\n" + fill("[1] https://ok.example/%E2%80\n"),
		"named brackets": fill("&lbrack;1&rbrack; ") + list,
		"ampersands":     fill("&"),
		"titles":         "x [1]\n\n## Sources\n" + each(size, "[%d] Title [a] (b) [c](d) \"e [f]\" https://ok.example/alpha\n"),
		"same address":   "x [1]\n\n## Sources\n" + each(size, "[%d] https://ok.example/alpha\n"),
		"no address":     "x [1]\n\n## Sources\n" + each(size, "[%d] Some title that nobody has\n"),
		"dashes":         "x [1]\n\n## Sources\n" + each(size, "[%d] a - b - c: d: e · f.x · g\n"),
		"pages":          "x [1]\n\n## Sources\n" + each(size, "[%d] handbook.pdf, p. 7\n"),
		"anchored":       "x [[1](#ref-1)]\n\n## Sources\n" + each(size, "<a id=\"ref-%[1]d\"></a> [%[1]d] [Alpha](https://ok.example/alpha)\n\n"),
		"notes":          each(size, "a[^%[1]d] b\n\n[^%[1]d]: https://ok.example/alpha\n"),
		"distinct notes": each(size, "[^n%d]: https://ok.example/alpha\n"),
		"note goes on":   fill("[^1]: a\nb\nc\n") + list,
		"wide table":     fill(strings.Repeat("| [1] ", 4000)+"|\n") + list,
		"wide sources":   "x [1]\n\n## Sources\n" + fill("| [1] "+strings.Repeat("| https://ok.example/alpha ", 2000)+"|\n"),
		"many lists":     fill("## Sources\n[1] https://ok.example/alpha\n\ntext [1].\n\n"),
		"split heads":    fill("**Sources:** [1] https://ok.example/alpha\n"),
		"underlines":     fill("Sources\n---\n"),
		"one paragraph":  fill("A sentence of words that cites [1]. ") + list,
		"short marks":    fill("[1]\n") + list,
		"blank lines":    fill("\n"),
		"no width":       fill("\u200b") + list,
		"wide address":   "https://" + fill("\u200b") + "ok.example/alpha" + list,
		"open fence":     "```\n" + fill("[1] https://no.example\n"),
		"fences":         fill("```\n[1]\n"),
		"open link":      fill("[a](https://no.example "),
		"open tag":       fill("<a href=\"https://no.example"),
		"pictures":       fill("![a](https://no.example) "),
		"labelled links": fill("[text][lab] ") + "\n\n[lab]: https://ok.example/alpha\n",
		"distinct links": each(size/2, "[x][l%d] ") + "\n\n" + each(size/2, "[l%d]: https://no.example\n"),
		"one group":      "[" + fill("1, ") + "1]" + list,
		"open groups":    fill("[1, "),
		"ranges":         fill("[1-60]") + list,
		"brackets":       fill(strings.Repeat("[", 500) + strings.Repeat("]", 480) + " "),
		"full width":     fill("【1】［1］（1）") + list,
		"announced row":  fill("(see [2], [2] and [2]) ") + list,
		"json":           fill("{\"url\":\"https://ok.example/alpha\",\"text\":\"[1]\"}\n"),
		"path":           "https://ok.example/" + fill("a/") + list,
		"garbled scheme": "x [1]\n\n## Sources\n" + fill("[1] hxxps : // ok.example/alpha\n"),
		"channels":       fill("<|channel|>analysis<|message|>x<|end|>") + "<|call|>",
		"distinct calls": each(size, "<a%d:tool_call>\n# x\n"),
		"growing ticks":  growing("`", size),
		"thoughts":       fill("<think>a\n# x\n"),
		"carriage":       fill("[1]\r") + list,
		"no text":        fill("\xff[1]") + list,
		"random words":   fill(randomText(300, 1)),
	}
	for seed := range uint64(6) {
		kinds[fmt.Sprint("random ", seed)] = randomText(size, seed)
	}
	return kinds
}

// each returns lines with numbers from 1 to 9999, again and again, of about size bytes.
func each(size int, line string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, line, i%9999+1)
	}
	return b.String()
}

func nestedList(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i%400) + "- a [1]\n")
	}
	return b.String()
}

// growing returns runs of 1, 2, 3 and more of a character.
func growing(mark string, size int) string {
	var b strings.Builder
	for n := 1; b.Len() < size; n++ {
		b.WriteString(strings.Repeat(mark, n) + " ")
	}
	return b.String()
}
