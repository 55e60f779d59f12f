package citation_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/markdown"
	"nightdesk/pipeline/report"
	"nightdesk/topicqueue"
)

func trace(id string, s topicqueue.Source) topicqueue.ToolTrace {
	return topicqueue.ToolTrace{CitationID: id, ToolType: "rag_hybrid", Query: "how *locks* work", Source: s}
}

// registry returns a run with two passages of one section, a page and a planning source.
func registry() *citation.Registry {
	locks := topicqueue.Source{
		Kind: topicqueue.SourceDocument, Title: "Handbook", Document: "docs/handbook.html",
		Section: []string{"Handbook", "3.2 Memory", "Locks"}, Anchor: "locks", Date: "2024-05-01",
	}
	page := topicqueue.Source{Kind: topicqueue.SourceDocument, Title: "Paper [draft]", Document: "paper.pdf", Page: 15}
	web := topicqueue.Source{Kind: topicqueue.SourceWeb, Title: "A <b> page", URL: "https://example.org/a_(b)?q=1"}
	return citation.NewRegistry([]topicqueue.ToolTrace{
		trace("CIT-3-02", locks), trace("CIT-3-01", locks), trace("CIT-10-01", page), trace("PLAN-01", web), trace("nonsense", web),
	})
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"CIT-3-02": "CIT-3-02", "cit-3-2": "CIT-3-02", "CIT-03-002": "CIT-3-02", "PLAN-1": "PLAN-01", "CIT‑3‑02": "CIT-3-02",
		"CIT-3-123": "CIT-3-123", "CIT-0-01": "", "CIT-3-00": "", "CIT-3": "", "PLAN-": "", "CIT-3-02x": "", " CIT-3-02": "",
		"CIT-3-02 ": "", "CIT-99999999-1": "", "": "", "PLAN-0": "",
	} {
		id, ok := citation.ParseID(in)
		if ok != (want != "") || ok && id.String() != want {
			t.Errorf("ParseID(%q) = %v, %v; want %q", in, id, ok, want)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	ids := []string{"x", "CIT-10-01", "CIT-2-10", "CIT-2-09", "PLAN-02"}
	slices.SortFunc(ids, citation.Compare)
	if diff := cmp.Diff([]string{"PLAN-02", "CIT-2-09", "CIT-2-10", "CIT-10-01", "x"}, ids); diff != "" {
		t.Error(diff)
	}
}

func TestPlaceAndLink(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source      topicqueue.Source
		place, link string
	}{
		{topicqueue.Source{Document: "handbook.html", Section: []string{"3.2 Memory", "Locks"}, Anchor: "locks"}, "handbook.html › 3.2 Memory › Locks", "handbook.html#locks"},
		{topicqueue.Source{Document: "handbook.pdf", Page: 15}, "handbook.pdf, p. 15", "handbook.pdf"},
		{topicqueue.Source{Document: "a.pdf", Title: "A", Section: []string{"A", "B", "B"}, Page: 2}, "a.pdf › B, p. 2", "a.pdf"},
		{topicqueue.Source{Title: "Page", URL: "https://example.org/x#y", Anchor: "z"}, "https://example.org/x#y", "https://example.org/x#y"},
		{topicqueue.Source{Title: "Only a title"}, "Only a title", ""},
		{topicqueue.Source{}, "", ""},
		{topicqueue.Source{Document: "a.pdf", Section: []string{"p. and others"}}, "a.pdf › p. and others", "a.pdf"},
	} {
		if got := tt.source.Place(); got != tt.place {
			t.Errorf("Place(%+v) = %q, want %q", tt.source, got, tt.place)
		}
		if got := citation.Link(tt.source); got != tt.link {
			t.Errorf("Link(%+v) = %q, want %q", tt.source, got, tt.link)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	const key, address, number = citation.ReasonUnknownKey, citation.ReasonUnknownURL, citation.ReasonNumber
	for name, tt := range map[string]struct {
		in, want string
		removed  []citation.Removal
	}{
		"plain":                {in: "A [CIT-3-01].", want: "A [CIT-3-01]."},
		"two":                  {in: "A [CIT-3-01][CIT-3-02].", want: "A [CIT-3-01][CIT-3-02]."},
		"list":                 {in: "A [CIT-3-01, CIT-3-02].", want: "A [CIT-3-01][CIT-3-02]."},
		"list with and":        {in: "A [CIT-3-01 and CIT-3-02].", want: "A [CIT-3-01][CIT-3-02]."},
		"linked":               {in: "A [[CIT-3-01](#ref-cit-3-01)].", want: "A [CIT-3-01]."},
		"linked once":          {in: "A [CIT-3-01](#ref-cit-3-01).", want: "A [CIT-3-01]."},
		"linked list":          {in: "A [[CIT-3-01](#a), [CIT-3-02](#b)].", want: "A [CIT-3-01][CIT-3-02]."},
		"wide brackets":        {in: "甲【CIT-3-01】。", want: "甲[CIT-3-01]。"},
		"wide parentheses":     {in: "甲（CIT-3-01、CIT-3-02）。", want: "甲[CIT-3-01][CIT-3-02]。"},
		"parentheses":          {in: "A (CIT-3-01).", want: "A [CIT-3-01]."},
		"lower case":           {in: "A [cit-3-01].", want: "A [CIT-3-01]."},
		"missing zero":         {in: "A [CIT-3-1].", want: "A [CIT-3-01]."},
		"footnote":             {in: "A [^CIT-3-01].", want: "A [CIT-3-01]."},
		"introduced":           {in: "A [Source: CIT-3-01].", want: "A [CIT-3-01]."},
		"repeated":             {in: "A [CIT-3-01, CIT-3-1][CIT-3-01].", want: "A [CIT-3-01]."},
		"without brackets":     {in: "As CIT-3-01 shows, A.", want: "As [CIT-3-01] shows, A."},
		"among words":          {in: "A (Smith, CIT-3-01).", want: "A (Smith, [CIT-3-01])."},
		"planning":             {in: "A [PLAN-1].", want: "A [PLAN-01]."},
		"a film":               {in: "Plan-9 (plan-9) from PLAN-9.", want: "Plan-9 (plan-9) from PLAN-9."},
		"unknown":              {in: "A [CIT-9-99].", want: "A.", removed: []citation.Removal{{Marker: "[CIT-9-99]", Reason: key}}},
		"unknown of two":       {in: "A [CIT-9-99, CIT-3-01] b.", want: "A [CIT-3-01] b.", removed: []citation.Removal{{Marker: "[CIT-9-99]", Reason: key}}},
		"unknown in sentence":  {in: "A [CIT-9-99] b.", want: "A b.", removed: []citation.Removal{{Marker: "[CIT-9-99]", Reason: key}}},
		"an example of ours":   {in: "A [CIT-999-01].", want: "A.", removed: []citation.Removal{{Marker: "[CIT-999-01]", Reason: key}}},
		"block zero":           {in: "A [CIT-0-01] b.", want: "A b.", removed: []citation.Removal{{Marker: "[CIT-0-01]", Reason: key}}},
		"letters for numbers":  {in: "A [CIT-X-01].", want: "A.", removed: []citation.Removal{{Marker: "[CIT-X-01]", Reason: key}}},
		"no second number":     {in: "A [CIT-3, CIT-3-01].", want: "A [CIT-3-01].", removed: []citation.Removal{{Marker: "[CIT-3]", Reason: key}}},
		"linked, block zero":   {in: "A [[CIT-0-01](#ref-cit-0-01)].", want: "A.", removed: []citation.Removal{{Marker: "[CIT-0-01]", Reason: key}}},
		"plan zero":            {in: "A [PLAN-0].", want: "A.", removed: []citation.Removal{{Marker: "[PLAN-0]", Reason: key}}},
		"names like ids":       {in: "Form (CIT-10) and [CIT-10 for firms], [PLAN-B], [CIT].", want: "Form (CIT-10) and [CIT-10 for firms], [PLAN-B], [CIT]."},
		"a name that links":    {in: "[CIT-10](https://example.org/a_(b)?q=1)", want: "[CIT-10](https://example.org/a_(b)?q=1)"},
		"number":               {in: "A [7]. B [3, 4].", want: "A. B.", removed: []citation.Removal{{Marker: "[7]", Reason: number}, {Marker: "[3, 4]", Reason: number}}},
		"browsing number":      {in: "A【7†L1-L9】.", want: "A.", removed: []citation.Removal{{Marker: "【7†L1-L9】", Reason: number}}},
		"browsing id":          {in: "A【CIT-3-01†source】.", want: "A[CIT-3-01]."},
		"linked number":        {in: "A [[1](#ref-1)].", want: "A.", removed: []citation.Removal{{Marker: "[[1](#ref-1)]", Reason: number}}},
		"number beside marker": {in: "A [CIT-3-01][7].", want: "A [CIT-3-01].", removed: []citation.Removal{{Marker: "[7]", Reason: number}}},
		"number with marker":   {in: "A [CIT-3-01, 7].", want: "A [CIT-3-01]."},
		"index":                {in: "arr[2] and f(x)[1] and m[1][2]", want: "arr[2] and f(x)[1] and m[1][2]"},
		"year and interval":    {in: "In [2024], x in [0, 1], x in [1, 2].", want: "In [2024], x in [0, 1], x in [1, 2]."},
		"formula":              {in: "So $x \\in \\{ [2] \\}$ holds.", want: "So $x \\in \\{ [2] \\}$ holds."},
		"money":                {in: "It cost $5 [7] or $6.", want: "It cost $5 or $6.", removed: []citation.Removal{{Marker: "[7]", Reason: number}}},
		"inline code":          {in: "`a [CIT-9-99] [7]` b", want: "`a [CIT-9-99] [7]` b"},
		"fence":                {in: "```go\nx[7] = [CIT-9-99] // https://x.org\n```\nA [7].", want: "```go\nx[7] = [CIT-9-99] // https://x.org\n```\nA.", removed: []citation.Removal{{Marker: "[7]", Reason: number}}},
		"open fence":           {in: "~~~\n[CIT-9-99]", want: "~~~\n[CIT-9-99]"},
		"indented code":        {in: "A\n\n    [CIT-9-99]\n\nB", want: "A\n\n    [CIT-9-99]\n\nB"},
		"list item":            {in: "- a\n\n    b [CIT-9-99]", want: "- a\n\n    b", removed: []citation.Removal{{Marker: "[CIT-9-99]", Reason: key}}},
		"open backtick":        {in: "a ` b [CIT-3-1]", want: "a ` b [CIT-3-01]"},
		"escaped":              {in: `a \[7\] \[CIT-3-1\]`, want: `a \[7\] [CIT-3-01]`},
		"foreign link":         {in: "See [the *docs* `x]`](https://evil.org/x) now.", want: "See the *docs* `x]` now.", removed: []citation.Removal{{Marker: "https://evil.org/x", Reason: address}}},
		"known link":           {in: "See [docs](HTTPS://Example.org/a_(b)?q=1#top) now.", want: "See [docs](HTTPS://Example.org/a_(b)?q=1#top) now."},
		"image":                {in: "![alt](https://evil.org/x.png)", want: "", removed: []citation.Removal{{Marker: "https://evil.org/x.png", Reason: address}}},
		"script link":          {in: "[x](javascript:alert(1))", want: "x", removed: []citation.Removal{{Marker: "javascript:alert(1)", Reason: address}}},
		"bare address":         {in: "See https://evil.org/x(y). Then", want: "See evil.org. Then", removed: []citation.Removal{{Marker: "https://evil.org/x(y)", Reason: address}}},
		"known bare address":   {in: "See https://example.org/a_(b)?q=1.", want: "See https://example.org/a_(b)?q=1."},
		"angle address":        {in: "See <https://evil.org> now", want: "See evil.org now", removed: []citation.Removal{{Marker: "https://evil.org", Reason: address}}},
		"definition":           {in: "A [x].\n\n[1]: https://evil.org/x\n", want: "A [x].\n\n[1]: evil.org\n", removed: []citation.Removal{{Marker: "https://evil.org/x", Reason: address}}},
		"tag":                  {in: `A <a href="https://evil.org">b</a> <b>c</b>`, want: "A b <b>c</b>", removed: []citation.Removal{{Marker: "https://evil.org", Reason: address}}},
		"active tag":           {in: `A <img src="https://evil.org/x.png"> <b onclick="x()">c</b>`, want: "A c</b>", removed: []citation.Removal{{Marker: `<img src="https://evil.org/x.png">`, Reason: citation.ReasonMarkup}, {Marker: `<b onclick="x()">`, Reason: citation.ReasonMarkup}}},
		"only a link":          {in: "See also https://evil.org/a and https://evil.org/b.", want: "See also evil.org and evil.org.", removed: []citation.Removal{{Marker: "https://evil.org/a", Reason: address}, {Marker: "https://evil.org/b", Reason: address}}},
		"only citations":       {in: "It is so. See also [CIT-9-01] and [CIT-9-02].", want: "It is so.", removed: []citation.Removal{{Marker: "[CIT-9-01]", Reason: key}, {Marker: "[CIT-9-02]", Reason: key}}},
		"comparison":           {in: "a < b and c > d", want: "a < b and c > d"},
		"marker with address":  {in: "A [CIT-3-01](https://evil.org).", want: "A [CIT-3-01].", removed: []citation.Removal{{Marker: "https://evil.org", Reason: address}}},
		"marker in link text":  {in: "A [b [CIT-3-1]](https://evil.org).", want: "A b [CIT-3-01].", removed: []citation.Removal{{Marker: "https://evil.org", Reason: address}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, removed, _ := registry().Resolve(tt.in)
			if got != tt.want {
				t.Errorf("Resolve(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
			if diff := cmp.Diff(tt.removed, removed); diff != "" {
				t.Errorf("removed (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnly(t *testing.T) {
	t.Parallel()
	got, removed, _ := registry().Only([]string{"CIT-3-01", "CIT-7-01"}).Resolve("A [CIT-3-01]. B [CIT-3-02].")
	if got != "A [CIT-3-01]. B." || len(removed) != 1 {
		t.Errorf("got %q, removed %v", got, removed)
	}
}

// rendered returns Markdown with canonical markers as the body of a report with references.
func rendered(r *citation.Registry, markdown string, o citation.Options) string {
	blocks := report.Parse(markdown)
	return report.Report{Title: "T", Sections: []report.Section{{Role: report.RoleAnswer, Blocks: blocks}},
		References: r.References(report.Cited(blocks), o)}.Markdown(report.Style{References: "References"})
}

func TestReferences(t *testing.T) {
	t.Parallel()
	got := rendered(registry(), "A [CIT-10-01]. B [CIT-3-01][PLAN-01]. `[CIT-3-02]` C [CIT-9-09]. D [CIT-3-02].", citation.Options{})
	const want = `# T

A [[CIT-10-01](#ref-cit-10-01)]. B [[CIT-3-01](#ref-cit-3-01)][[PLAN-01](#ref-plan-01)]. ` + "`[CIT-3-02]`" + ` C. D [[CIT-3-02](#ref-cit-3-02)].

## References

**A \<b> page**  
<a id="ref-plan-01"></a> [PLAN-01] [example.org/a\_%28b%29?q=1](https://example.org/a_%28b%29?q=1)

**Handbook** · 2024-05-01 · ` + "`docs/handbook.html`" + `  
<a id="ref-cit-3-01"></a> [CIT-3-01] 3.2 Memory › Locks  
<a id="ref-cit-3-02"></a> [CIT-3-02] 3.2 Memory › Locks

**Paper \[draft\]** · ` + "`paper.pdf`" + `  
<a id="ref-cit-10-01"></a> [CIT-10-01] p. 15
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestReferencesLink: a source without a place has a link to its text, too.
func TestReferencesLink(t *testing.T) {
	t.Parallel()
	hash := strings.Repeat("a", 64)
	sections := map[string][]string{"CIT-1-01": {"Findings"}, "CIT-1-03": {"Limits"}}
	var traces []topicqueue.ToolTrace
	for _, id := range []string{"CIT-1-01", "CIT-1-02", "CIT-1-03"} {
		name := "paper-" + id[len(id)-1:] + ".md"
		traces = append(traces, trace(id, topicqueue.Source{Kind: topicqueue.SourceDocument, ID: id, Title: "Paper " + id, Document: name, Hash: hash, Section: sections[id]}))
	}
	r := citation.NewRegistry(traces)
	written := rendered(r, "A [CIT-1-01]. B [CIT-1-02]. C [CIT-1-03].", citation.Options{Bundle: "../cache/run/"})
	if !strings.Contains(written, "[CIT-1-02] [paper-2.md](../cache/run/pages/"+hash+".txt)") {
		t.Errorf("no link to the text in\n%s", written)
	}
}

func TestNumberedReferences(t *testing.T) {
	t.Parallel()
	got := rendered(registry(), "A [CIT-10-01]. B [CIT-3-01][CIT-3-02]. C [CIT-3-02][PLAN-01].", citation.Options{Style: topicqueue.CitationNumbered})
	const want = `# T

A [[1](#ref-1)]. B [[2](#ref-2)]. C [[2](#ref-2)][[3](#ref-3)].

## References

<a id="ref-1"></a> [1] Paper \[draft\] · p. 15 · ` + "`paper.pdf`" + `

<a id="ref-2"></a> [2] Handbook · 3.2 Memory › Locks · ` + "`docs/handbook.html#locks`" + ` · 2024-05-01

<a id="ref-3"></a> [3] [A \<b> page](https://example.org/a_%28b%29?q=1)
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a  b\n c":          "a b c",
		"# x # y":           `\# x # y`,
		"1. x 1. y":         `1\. x 1. y`,
		"2024 was":          "2024 was",
		"3.14 is":           "3.14 is",
		"- x - y":           `\- x - y`,
		"a_b __c__ d_":      `a_b \_\_c\_\_ d\_`,
		"x *y* `z` |":       `x \*y\* \` + "`z\\`" + ` \|`,
		"a < b <b> </b>":    `a < b \<b> \</b>`,
		"arr[2] [CIT-3-01]": `arr\[2\] \[CIT\-3-01\]`,
		"AT&T & &amp;":      `AT\&T & \&amp;`,
		`C:\dir`:            `C:\\dir`,
		"a\u202egpj\u2069":  "agpj",
		"~~x~~ ~y":          `\~\~x\~\~ \~y`,
		"":                  "",
	} {
		if got := markdown.Escape(in); got != want {
			t.Errorf("Escape(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	for in, want := range map[string][]string{
		"a `b` `c\nd` e":         {"`b`", "`c\nd`"},
		"# a `b\n# c`":           nil, // a heading ends with its line
		"a `b\n## c\nd`":         nil,
		"> # a `b\n> c`":         nil,
		"a `b\n===\nc`":          nil,
		"a `b\n* * *\nc`":        nil,
		"- a `b\n- c` d `e":      {"` d `"},
		"a `b\n#c` #":            {"`b\n#c`"}, // no heading
		"a\n\n    # b\n":         {"    # b\n"},
		"```\n# a `b\n```\nc`\n": {"```\n# a `b\n```\n"},
	} {
		var got []string
		for _, r := range citation.Code(in) {
			got = append(got, in[r[0]:r[1]])
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Code(%q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestHas(t *testing.T) {
	t.Parallel()
	const text = "a `b` c\n\n```\nd\n```\n"
	inside := ""
	for i := range text {
		if citation.Code(text).Has(i) {
			inside += text[i : i+1]
		}
	}
	if want := "`b````\nd\n```\n"; inside != want {
		t.Errorf("%q, want %q", inside, want)
	}
}
