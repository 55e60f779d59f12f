package verification_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/citation"
)

// shelf returns a registry of the kinds of sources that a foreign report may have.
func shelf() *citation.Registry {
	return citation.RegistryOf([]citation.Source{
		{URL: "https://ok.example/alpha", Title: "Alpha"},
		{URL: "https://ok.example/beta?id=1&x=2", Title: "Beta"},
		{URL: "https://wiki.example/Go_(language)", Title: "Go (language)"},
		{URL: "https://ok.example/odd.", Title: "Odd [1] *end*"},
		{Key: "handbook.pdf, p.15", Title: "Handbook"},
		{Key: "notes/plan-3.md"},
		{URL: "https://bit.ly/abc"},
	})
}

var webAddress = regexp.MustCompile(`(?i)https?://[^\s<>"'` + "`" + `|\\{}\[\]]+`)

// FuzzVerify: what was verified is verified; every address outside code is that of a source; nothing panics.
func FuzzVerify(f *testing.F) {
	for _, s := range verifySeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if len(in) > 4000 {
			return
		}
		once := isStable(t, in)
		for _, s := range once.Sentences {
			if len(s.Citations) == 0 || s.Text == "" {
				t.Fatalf("sentence %+v of %q", s, once.Report)
			}
		}
		for _, address := range webAddress.FindAllString(withoutCode(once.Report), -1) {
			if !isOfShelf(address) {
				t.Fatalf("%q is no source's address\n  in %q\n out %q", address, in, once.Report)
			}
		}
	})
}

func withoutCode(s string) string {
	code := citation.Code(s)
	slices.Reverse(code)
	for _, c := range code {
		s = s[:c[0]] + " " + s[c[1]:]
	}
	return s
}

// isOfShelf reports whether text begins with the address of a source and goes on with punctuation or words that are
// none of it.
func isOfShelf(text string) bool {
	for _, s := range shelf().Sources() {
		if s.URL != "" && strings.HasPrefix(strings.ReplaceAll(text, "%2E", "."), s.URL) {
			return true
		}
	}
	return false
}

var verifySeeds = []string{
	"x <a href=\"\n## Sources\n[1] https://ok.example/alpha\n\"> y [1] <script>\n[2] https://no.example/x\n</script>\n",
	"[1]: https://ok.example/alpha\n## Sources\n[1] https://ok.example/alpha\n[2] https://no.example/x\n<p>:\n\n[1]: \n\n[3] handbook.pdf, p. 3\n",
	"# Sources:\nhttps://ok.example/alpha.. Sources:\n# [a]Sources:\n[^b]: handbook.pdf\n[a]Sources:\n[^b]: handbook.pdf\n",
	"<think>\n\n````</think><think>\n\n``</think><think>``Sources:\n````</think><think>Sources:\n```</think>Sources:\n``<think>Sources:\n````&#91;\n\n</think>``<think>\n\n````</think><think>\n\n````</think><think>\n\n``</think><think>``\n\n````</think><think>\n\n~~~</think><think>Sources:\n````</think><think>-->Sources:\n````Sources:\nSources:\n<think>",
	strings.Repeat("Notes\n1. \n\n", 15) + ":www.",
	strings.Repeat("\ue200cite", 15) + strings.Repeat("\ue201", 15),
	"#Sources:\n###|---|\nSources:\n10## Sources\nSources:\n|---|\nSources:\n](https://ok.example/alpha)",
	"x\n\n## Sources\nBelow.\n\nOne\ntwo\nthree\nfour\nfive\nsix\nhttps://ok.example/alpha\n",
	"A[^3] x [1].\n\n[^3]: https://ok.example/alpha\n\nMore [2].\n\n## Sources\n[1] https://wiki.example/Go_(language)\n[2] No https://no.example\n\n## End\n\nT[^4].\n\n[^4]: handbook.pdf\n",
	"x [1]\n\n## Sources\n1. Fake\n1. Other\n\n1. Do this\n2. Do that\n",
	"A [1]. B [2][3], [1-3] and [^1] 【1†L2-L4】.\n\n## Sources\n[1] Alpha: https://ok.example/alpha\n[2] No: https://no.example/x\n[3] handbook.pdf, p. 3\n",
	"See [x](https://ok.example/beta) and <https://no.example> or https://ok.example/alph...\n\n![a](data:x) [b][c]\n\n[c]: https://ok.example/alpha\n",
	"**References**\n1. Alpha https://ok.example/alpha and https://no.example [2] Go https://wiki.example/Go_(language)\n\ntext\n\n[^3]: notes/plan-3.md\n",
	"x [1]\n\n<tool_call>{}</tool_call>\n\nSources\n- https://ok.example/alpha\n- https://ok.example/odd.\n",
	"| [1] | b |\n\n## 参考文献\n| # | t |\n|---|---|\n| [1] | https://ok.example/alpha |\n| 2 | nothing |\n",
	"a [1](https://ok.example/alpha) <a href=\"https://ok.example/alpha\">b</a> <a id=\"ref-1\"></a> [1] x\n\nReferences\n==========\n<a id=\"ref-1\"></a> [1] [Alpha](https://ok.example/alpha)\n\n<a id=\"ref-2\"></a> [2] Hand · `handbook.pdf`\n",
	"[[CIT-1-01](#ref-cit-1-01)]\n\n## References\n\n### Block 1\n\n<a id=\"ref-cit-1-01\"></a> [CIT-1-01] web: q  \n[Alpha](https://ok.example/alpha)\n\n<a id=\"ref-cit-1-02\"></a> [CIT-1-02] web: q  \n[No](https://no.example/)\n",
	"A.¹ Word² x² y<sup>[2]</sup> ^1^ \\[1\\] [１] ([1]) (see [2]) **[2]**\n\n## Sources\n¹ https://ok.example/alpha\n² No: https://no.example/x\n",
	"A[^a] B[^b] C[^c].\n\n[^a]: Alpha:\n https://ok.example/alpha\n[^b]: No https://no.example/x\n\nT.\n\n[^c]: a remark\n",
	"A [1] [2].\n\n## Sources\n\nAlpha\nhttps://ok.example/alpha\n\nhttps://no.example/x\nhttps:/wiki.example/Go_(language)\n",
	"A [1] [2].\n\n## Sources\n<ol>\n<li><a href=\"https://ok.example/alpha\">A</a></li>\n<li>ok.example/beta?id=1&x=2</li>\n</ol>\n",
	"<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>A [1] <think>y</think> [TOOL_CALLS] [{}]\n\nSource 1: https://ok.example/alpha%E2%80\n",
	"x [2]\n\n[1] Alpha https://ok.example/alpha\n[2] https://ok.example/beta?x=2\n[1] Beta\nand more\n\n  indented\n",
	"A [0] __b__[2], [1 und 2] [1, S. 4] [٢] c[1][]; ([1]; [2]).\n\n## Список\n\n[0] https://ok.example/alpha\n[1] «https://ok.example/beta?id=1»\n[2] https://no.example/x\n\n## End\n\nText.\n",
	"A [1] citeturn0search1 <cite index=\"1-2\">b</cite> [](https://no.example) <end_of_turn>\n\n```tool_code\nx\n```\n\n## Quelle\n\n1. [A](https://wiki.example/Go_\\(language\\))\n2. https://ok.example/alpha,https://no.example\n\n# End\n",
	"A [1].\n\n## Sources\n\n\t[1] Alpha: https://ok.example/alpha\n\t[2] No: https://no.example/x\n\n## More\n",
}
