package knowledge

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract"
)

func TestChunks(t *testing.T) {
	t.Parallel()
	sentence := "The quick brown fox jumps over the lazy dog near the river bank today. "
	paragraph := strings.TrimSpace(strings.Repeat(sentence, 6))
	code := "```\n" + strings.Repeat("x := f(x)\n", 20) + "```"
	for _, tc := range []struct {
		name, text string
		want       int // passages
	}{
		{"short", "# A\n\nOne line.", 1},
		{"two sections", "# A\n\nOne.\n\n## B\n\nTwo.", 2},
		{"five paragraphs", strings.Repeat(paragraph+"\n\n", 5), 2},
		{"one long paragraph", strings.Repeat(sentence, 60), 3},
		{"no sentence ends", strings.Repeat("word ", 1000), 3},
		{"no spaces", strings.Repeat("a", 4000), 3},
		{"ideographs", strings.Repeat("缓存", 1000), 4},
		{"code", paragraph + "\n\n" + code + "\n\n" + code + "\n\n" + paragraph, 1},
		{"long code", "```\n" + strings.Repeat("x := f(x)\n", 400) + "```", 3},
		{"list", strings.Repeat("- "+sentence+"\n", 40), 1},
		{"long list", strings.Repeat("- "+sentence+"\n", 80), 5},
		{"table", "|a|b|\n|-|-|\n" + strings.Repeat("|"+sentence+"|b|\n", 40), 1},
		{"long table", "|a|b|\n|-|-|\n" + strings.Repeat("|"+sentence+"|b|\n", 80), 5},
		{"caption", paragraph + "\n\n**Table 7.** Sizes\n\n|a|b|\n|-|-|\n|1|2|\n", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			doc := extract.Markdown(tc.text)
			got := checkChunks(t, doc)
			if len(got) != tc.want {
				t.Errorf("%d passages, want %d:", len(got), tc.want)
				for _, c := range got {
					t.Logf("%d bytes: %.60q ... %q", len(c.text), c.text, c.text[max(0, len(c.text)-30):])
				}
			}
			for _, c := range got {
				if n := strings.Count(c.text, "```"); n%2 != 0 {
					t.Errorf("half a fence: %q", c.text)
				}
			}
		})
	}
}

// A paragraph that announces what follows, a term and a caption stay with it.
func TestLeadsStayWithWhatTheyLeadTo(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "term_%d\n: %s\n\n", i, strings.Repeat("It has a definition of some length. ", 3))
	}
	for _, c := range checkChunks(t, extract.Markdown(b.String())) {
		last := c.text[strings.LastIndexByte(c.text, '\n')+1:]
		if strings.HasPrefix(last, "term_") {
			t.Errorf("a passage ends with a term: %q", last)
		}
	}
}

func checkChunks(t *testing.T, doc extract.Document) []chunk {
	t.Helper()
	got := chunks(doc)
	at := 0
	for _, c := range got {
		if c.offset < at || strings.TrimSpace(doc.Text[at:c.offset]) != "" {
			t.Fatalf("text is lost or doubled between %d and %d", at, c.offset)
		}
		if doc.Text[c.offset:c.offset+len(c.text)] != c.text || !utf8.ValidString(c.text) || strings.TrimSpace(c.text) == "" {
			t.Fatalf("passage at %d is not the text: %q", c.offset, c.text)
		}
		if len(c.text) > 3600 {
			t.Fatalf("passage of %d bytes", len(c.text))
		}
		end := len(doc.Text)
		if c.section+1 < len(doc.Sections) {
			end = doc.Sections[c.section+1].Offset
		}
		if c.offset < doc.Sections[c.section].Offset || c.offset+len(c.text) > end {
			t.Fatalf("passage at %d leaves its section", c.offset)
		}
		at = c.offset + len(c.text)
	}
	if strings.TrimSpace(doc.Text[at:]) != "" {
		t.Fatalf("text is lost after %d", at)
	}
	return got
}

// Passages cover all of a text in order, whatever the text.
func FuzzChunks(f *testing.F) {
	f.Add("# A\n\nfoo:\n\n- x\n\n```\ncode\n```\n\n| a |")
	f.Add(strings.Repeat("é", 2000))
	f.Fuzz(func(t *testing.T, text string) {
		doc := extract.Markdown(text)
		checkChunks(t, doc)
		labels(doc)
	})
}

func TestSegment(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":   "plain",
		"搜索引擎":    " 搜索 索引 引擎 擎 ",
		"用Go写的程序": " 用 Go 写的 的程 程序 序 ",
	} {
		if got := segment(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
