package extractive_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"nightdesk/pipeline/extractive"
)

var fuzzSeeds = []string{
	journal,
	"",
	"A.",
	"a\xffb. C d\xc3. e",
	"1. x\n- \n```\n|\n# \n====",
	"(([[{{“„« \" ` ''\n).]!”“",
	"数据。「是。」と、?!…... No. 5 e.g. (WAL) Write-ahead log (WAL)",
	"Note: Note: ** : \u00a0- x\u2028y",
	"l' 's -- __ _a_ a.b..c/d::e C+++ 1,2,3,4 64KBs 2024-01- 'x",
}

// FuzzSentences: offsets are exact, in order and without overlap; what is complete looks the part.
func FuzzSentences(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end, paragraph := 0, 0
		for _, s := range extractive.Sentences(text) {
			if s.Start < end || s.End <= s.Start || s.End > len(text) || text[s.Start:s.End] != s.Text {
				t.Fatalf("span %d:%d after %d is not %q", s.Start, s.End, end, s.Text)
			}
			if s.Paragraph < paragraph {
				t.Fatalf("paragraph %d after %d", s.Paragraph, paragraph)
			}
			if strings.TrimSpace(s.Text) != s.Text {
				t.Fatalf("white space around %q", s.Text)
			}
			if utf8.ValidString(text) && !utf8.ValidString(s.Text) {
				t.Fatalf("%q splits a character", s.Text)
			}
			end, paragraph = s.End, s.Paragraph
		}
	})
}

// FuzzSimilarity: symmetric, within bounds, and 1 for a text with content words against itself.
func FuzzSimilarity(f *testing.F) {
	for i, s := range fuzzSeeds {
		f.Add(s, fuzzSeeds[(i+1)%len(fuzzSeeds)])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		ab, ba := extractive.Similarity(a, b), extractive.Similarity(b, a)
		if ab != ba || ab < 0 || ab > 1 {
			t.Fatalf("%v and %v", ab, ba)
		}
		for _, term := range extractive.Terms(a) {
			if term == "" {
				t.Fatal("empty term")
			}
		}
		if len(extractive.Terms(a)) > 0 && extractive.Similarity(a, a) != 1 {
			t.Fatal("a text differs from itself")
		}
		if extractive.Same(a, b) != extractive.Same(b, a) {
			t.Fatal("Same is not symmetric")
		}
	})
}

// FuzzRank: spans are verbatim, complete, free of overlap, at most limit; relevance stays within bounds.
func FuzzRank(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s, "journal log 数据", 3)
	}
	f.Fuzz(func(t *testing.T, text, query string, limit int) {
		got := salient(text, query, limit)
		if len(got) > max(limit, 0) {
			t.Fatalf("%d spans, limit %d", len(got), limit)
		}
		end := 0
		for _, s := range got {
			if s.Start < end || text[s.Start:s.End] != s.Text || !s.Complete {
				t.Fatalf("%+v after %d", s, end)
			}
			end = s.End
		}
		if r := extractive.Relevance(text, query); !(r >= 0 && r <= 1) {
			t.Fatalf("relevance %v", r)
		}
		extractive.Overview(text, query)
		if n := len(extractive.Keywords([]string{text, query}, 4)); n > 4 {
			t.Fatalf("%d keywords", n)
		}
	})
}

// FuzzTitle: one line of at most 90 characters, and a title's title is itself.
func FuzzTitle(f *testing.F) {
	for _, s := range fuzzSeeds {
		f.Add(s)
	}
	f.Add("Chapter 4. 2.3 A – B | C (" + strings.Repeat("word ", 40))
	f.Fuzz(func(t *testing.T, s string) {
		got := extractive.Title(s)
		if utf8.RuneCountInString(got) > 90 || strings.ContainsAny(got, "\n\r\t") || strings.TrimSpace(got) != got {
			t.Fatalf("%q", got)
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("%q splits a character", got)
		}
	})
}
