package markup_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/citation/markup"
)

// TestScan: what a text cites, with its place, its address and what is shown of a link.
func TestScan(t *testing.T) {
	t.Parallel()
	type token struct {
		Kind              markup.Kind
		Text, Shown, Dest string
	}
	for in, want := range map[string][]token{
		"a [b](https://c.example \"d\") e":       {{markup.Link, `[b](https://c.example "d")`, "b", "https://c.example"}},
		"[b *c*][d]\n\n[d]: <https://e.example>": {{markup.Link, "[b *c*][d]", "b *c*", "https://e.example"}, {markup.Definition, "[d]: <https://e.example>", "", "https://e.example"}, {markup.Address, "https://e.example", "", "https://e.example"}},
		"![b](c.png)":                            {{markup.Image, "![b](c.png)", "b", "c.png"}},
		"<https://b.example> www.c.example.":     {{markup.Address, "<https://b.example>", "", "https://b.example"}, {markup.Address, "www.c.example", "", "https://www.c.example"}},
		"a [1]–[3], 【2†x】":                       {{markup.Marker, "[1]–[3]", "", ""}, {markup.Marker, "[3]", "", ""}, {markup.Marker, "【2†x】", "", ""}},
		"a [1][2]\n\n[2]: https://b.example":     {{markup.Marker, "[1]", "", ""}, {markup.Marker, "[2]", "", ""}, {markup.Definition, "[2]: https://b.example", "", "https://b.example"}, {markup.Address, "https://b.example", "", "https://b.example"}},
		"as CIT-1-01 `CIT-1-02 [1]` says":        {{markup.Named, "CIT-1-01", "", ""}, {markup.Named, "CIT-1-02", "", ""}},
		"<a href='b'>c</a> <b>":                  {{markup.Link, "<a href='b'>", "", "b"}, {markup.Tag, "</a>", "", ""}, {markup.Tag, "<b>", "", ""}},
		`\[1\] \<b>`:                             nil,
	} {
		var got []token
		for _, k := range markup.Scan(in, func(string) bool { return false }).Tokens {
			got = append(got, token{k.Kind, in[k.Start:max(k.End, k.Group.End)], in[k.Text[0]:k.Text[1]], k.Dest})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", in, diff)
		}
	}
}

// TestEditor: what is decided on each token, with the space around what goes.
func TestEditor(t *testing.T) {
	t.Parallel()
	const in = "A [gone](https://no.example) [2], [stays](https://ok.example) **[3]** and `[4]` (see [5])."
	e := markup.Scan(in, func(string) bool { return false }).Edit()
	e.OnMarker = func(markup.Token) (string, bool) { return "", true }
	e.OnLink = func(k markup.Token) markup.Verdict { return markup.Verdict{Keep: k.Dest == "https://ok.example"} }
	if got, want := e.Run(0, len(in)), "A gone, [stays](https://ok.example) and `[4]`."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
