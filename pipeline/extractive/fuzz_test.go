package extractive_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"nightdesk/pipeline/extractive"
)

// journal has every kind of paragraph.
const journal = `# Journal modes

A rollback journal keeps the original pages of a transaction until it commits. This makes it possible to undo the transaction after a crash. For example, a power cut leaves the journal behind.

This section describes the journal modes. See also the chapter on locking. The following table lists all modes:

| mode | meaning |
|---|---|
| DELETE | removed |

The write-ahead log (WAL) appends changes to a separate file instead of the database. Readers are not blocked by a writer in WAL mode. As shown above, WAL mode needs shared memory. A checkpoint moves the changes of the WAL back into the database after 1000 pages.

- Fast
- The journal file is deleted at the end of each transaction.
- The WAL file grows without bound when a reader never finishes.

` + "```sql\nPRAGMA journal_mode = WAL; -- The journal mode is set here.\n```" + `

How large may the journal become? It depends on the transaction. Use the journal_mode pragma to change the journal mode of a database.

# Colours

The door of the house was painted red in the summer. Cats sleep for most of the day.
`

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
