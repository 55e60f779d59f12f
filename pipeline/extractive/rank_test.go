package extractive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/extractive"
)

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

// salient returns what Rank chooses of one text, in the order of the text.
func salient(text, query string, limit int) []extractive.Sentence {
	ranked := extractive.Rank([]string{text}, query, limit)
	slices.SortFunc(ranked, func(a, b extractive.Ranked) int { return a.Start - b.Start })
	var out []extractive.Sentence
	for _, r := range ranked {
		out = append(out, r.Sentence)
	}
	return out
}

func TestRankOfAText(t *testing.T) {
	t.Parallel()
	got := salient(journal, "How do the rollback journal and the write-ahead log work?", 8)
	if len(got) < 4 {
		t.Fatalf("got %d spans %q, want at least 4", len(got), texts(got))
	}
	all := strings.Join(texts(got), "\n")
	for _, want := range []string{
		"A rollback journal keeps the original pages",
		"The write-ahead log (WAL) appends changes",
		"A checkpoint moves the changes of the WAL", // only the short form, which the text itself introduces
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not among\n%s", want, all)
		}
	}
	for _, bad := range []string{"section describes", "See also", "following table", "As shown above", "How large", "painted red", "Cats", "PRAGMA", "It depends", "- Fast"} {
		if strings.Contains(all, bad) {
			t.Errorf("%q is among\n%s", bad, all)
		}
	}
	for i, s := range got {
		if journal[s.Start:s.End] != s.Text || !s.Complete {
			t.Errorf("span %d: %+v is not verbatim and complete", i, s)
		}
		if i > 0 && got[i-1].End > s.Start {
			t.Errorf("span %d overlaps or precedes the one before it", i)
		}
	}
}

func TestRankAnaphora(t *testing.T) {
	t.Parallel()
	const query = "checkpoint of the log"
	for _, test := range []struct {
		name, text string
		want       []string // of the spans, the beginning; nil = nothing
	}{
		{"with its predecessor", "The pager writes the log in the background thread. This is called a checkpoint of the log by its authors.", []string{"The pager writes"}},
		{"chain of three", "The pager has one background thread for slow work. It runs a checkpoint of the log once a minute. This checkpoint keeps the log short and its recovery fast.", []string{"The pager has"}},
		{"nothing before it", "This is called a checkpoint of the log by its authors.", nil},
		{"not over a paragraph", "The pager runs in the background all the time.\n\nIt is known as the checkpoint of the log to users.", nil},
		{"predecessor unfit", "Pager menu. It runs a checkpoint of the log once a minute.", nil},
		{"connective", "However, a checkpoint of the log can be slow on large files.", nil},
		{"pronoun after if", "If it is full, the server runs a checkpoint of the log.", nil},
		{"demonstrative noun", "The server runs a checkpoint of the log during this phase of work.", nil},
		{"named before", "Each checkpoint of the log locks a file, and this file must exist.", []string{"Each checkpoint"}},
		{"connective midway", "The server thus runs a checkpoint of the log at night.", nil},
		{"then of a condition", "If a file is full then a checkpoint of the log is due.", []string{"If a file"}},
		{"pleonastic", "It is possible to run a checkpoint of the log by hand.", []string{"It is possible"}},
		{"both and", "Both the reader and the writer can see a checkpoint of the log.", []string{"Both the"}},
		{"deixis", "A checkpoint of the log is shown in the example above.", nil},
		{"german", "Dies ist der checkpoint im log der Datenbank mit einer Sperre.", nil},
		{"chinese", "因此checkpoint把log写回数据库文件中。", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := texts(salient(test.text, query, 1))
			if len(got) != len(test.want) {
				t.Fatalf("got %q, want %q", got, test.want)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], test.want[i]) {
					t.Errorf("got %q, want it to begin with %q", got[i], test.want[i])
				}
			}
		})
	}
}

func ExampleRank() {
	text := "Home\n\nA rollback journal keeps the old pages. It is deleted at commit.\n\nSee also the chapter on locks."
	for _, s := range extractive.Rank([]string{text}, "What is a rollback journal?", 3) {
		fmt.Printf("%d-%d %s\n", s.Start, s.End, s.Text)
	}
	// Output: 6-45 A rollback journal keeps the old pages.
}

func TestRankNothing(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, query string }{
		{"other subject", journal, "migration routes of arctic birds"},
		{"one shared common word", journal, "How do modern companies change the market for summer holidays?"},
		{"no content words", journal, "what is it and how"},
		{"no query", journal, ""},
		{"no text", "", "journal"},
		{"only code", "```\nThe journal is a file with pages.\n```", "journal"},
		{"only menus", "- Journal\n- Journal modes\n- Home > Journal", "journal modes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := salient(test.text, test.query, 5); len(got) != 0 {
				t.Errorf("got %q", texts(got))
			}
		})
	}
	if got := salient(journal, "journal", 0); len(got) != 0 {
		t.Errorf("limit 0 gave %q", texts(got))
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	passages := []string{
		"A mutex protects shared memory from two writers at once. The weather was fine.",
		"At once two writers: from them a mutex protects the shared memory. A channel hands a value from one goroutine to another goroutine.",
		"The bakery opens at nine and sells bread with seeds.",
		"A mutex protects shared memory, and every lock needs an unlock in the same function.",
	}
	got := extractive.Rank(passages, "mutex and channel for shared memory", 5)
	if len(got) < 2 {
		t.Fatalf("got %v", got)
	}
	seen := map[int]int{}
	for _, r := range got {
		seen[r.Passage]++
		if passages[r.Passage][r.Start:r.End] != r.Text || !r.Complete || r.Score <= 0 {
			t.Errorf("%+v is not a verbatim, complete, scored span", r)
		}
	}
	if seen[2] != 0 {
		t.Errorf("the bakery was chosen: %v", got)
	}
	for i, a := range got {
		for _, b := range got[i+1:] {
			if extractive.Same(a.Text, b.Text) {
				t.Errorf("%q repeats %q", b.Text, a.Text)
			}
		}
	}
	if !slices.ContainsFunc(got, func(r extractive.Ranked) bool { return strings.HasPrefix(r.Text, "A channel hands") }) {
		t.Errorf("the second subject is missing: %v", got)
	}
}

func TestRankPrefersDefinition(t *testing.T) {
	t.Parallel()
	text := "Many services are started with a circuit breaker in front of them today. A circuit breaker is a proxy that stops calls to a failing service. Use a circuit breaker in your own services."
	got := extractive.Rank([]string{text}, "circuit breaker", 3)
	if len(got) == 0 || !strings.HasPrefix(got[0].Text, "A circuit breaker is") {
		t.Errorf("got %v", got)
	}
}

func TestRelevance(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, query string
		least, most       float64
	}{
		{"all", "The rollback journal keeps pages.", "rollback journal pages", 1, 1},
		{"half", "The journal is long.", "rollback journal", 0.4, 0.6},
		{"nothing", "Cats sleep most of the day.", "rollback journal", 0, 0},
		{"question words weigh little", "The rollback journal keeps pages.", "Give an overview of how the rollback journal works", 0.75, 1},
		{"common words weigh little", "The company changed the market.", "How did the company change garbage collection?", 0, 0.45},
		{"long query", journal, "Compare the rollback journal and the write-ahead log with respect to readers, writers, checkpoints, transactions, crashes, shared memory, pages, locking, throughput, latency, durability and disks", 0.9, 1},
		{"short form", "Write-ahead logging (WAL) is old. WAL is safe.", "WAL", 1, 1},
		{"chinese", "数据库先写日志。", "日志数据库", 0.6, 1},
		{"empty query", journal, "", 0, 0},
		{"empty text", "", "journal", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := extractive.Relevance(test.text, test.query); got < test.least || got > test.most {
				t.Errorf("got %.2f, want %.2f to %.2f", got, test.least, test.most)
			}
		})
	}
}

func TestOverview(t *testing.T) {
	t.Parallel()
	got := extractive.Overview(journal, "journal modes")
	if n := len(extractive.Sentences(got)); n < 2 || n > 3 {
		t.Errorf("got %d sentences: %q", n, got)
	}
	if strings.Contains(got, "\n") || strings.Contains(got, "section describes") {
		t.Errorf("got %q", got)
	}
	if got := extractive.Overview(journal, ""); !strings.Contains(got, "journal") {
		t.Errorf("without a query: %q", got)
	}
	if got := extractive.Overview("Menu\n\nHome", "journal"); got != "" {
		t.Errorf("got %q from a text without sentences", got)
	}
}

func TestKeywords(t *testing.T) {
	t.Parallel()
	got := extractive.Keywords([]string{journal}, 6)
	if len(got) != 6 {
		t.Fatalf("got %q", got)
	}
	if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "journal") }) {
		t.Errorf("journal is missing: %q", got)
	}
	for i, a := range got {
		if a == "" || extractive.Terms(a) == nil {
			t.Errorf("%q says nothing", a)
		}
		for _, b := range got[i+1:] {
			if strings.EqualFold(a, b) {
				t.Errorf("%q twice", a)
			}
		}
	}
	api := "PostgreSQL keeps tuples. Vacuum removes dead tuples. PostgreSQL runs vacuum workers. The vacuum workers read pages."
	got = extractive.Keywords([]string{api}, 4)
	if !slices.Contains(got, "PostgreSQL") {
		t.Errorf("the written form is lost: %q", got)
	}
	if got := extractive.Keywords(nil, 5); len(got) != 0 {
		t.Errorf("got %q from nothing", got)
	}
}

func TestTitle(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want string }{
		{"2.3.1 Frobnicating — Foo 1.2 documentation", "Frobnicating"},
		{"2.3.1. Frobnicating¶", "Frobnicating"},
		{"Chapter 4. Queues and workers", "Queues and workers"},
		{"Chapter 4: Queues", "Queues"},
		{"Appendix B. Error codes", "Error codes"},
		{"30.2. Write-Ahead Logging (WAL)", "Write-Ahead Logging (WAL)"},
		{"## 3) Setting up", "Setting up"},
		{"§ 4.2 Geltungsbereich", "Geltungsbereich"},
		{"IV. Results", "Results"},
		{"Goroutines | The Example Blog", "Goroutines"},
		{"Life - and death of a star", "Life - and death of a star"},
		{"sync.Mutex", "sync.Mutex"},
		{"sqlite3 — interface for databases", "sqlite3 — interface for databases"},
		{"how do queues work?", "How do queues work?"},
		{"The state of queues.", "The state of queues"},
		{"  \"Quoted\n heading\" ", "Quoted heading"},
		{"2024 in review", "2024 in review"},
		{"10 reasons to wait", "10 reasons to wait"},
		{"C++ and C#", "C++ and C#"},
		{"Write an overview of the trade-offs between embedded and client-server databases for small desktop tools, with figures", "Write an overview of the trade-offs between embedded and client-server databases for small"},
		{"Compare the two engines, including their limits, and then say which of these two is the better one for us", "Compare the two engines, including their limits"},
		{"We run many queues. We would like to know which one is best for small teams that have no one on call at night.", "We run many queues"},
		{"第三章 数据库日志", "数据库日志"},
		{"¶", ""},
		{"1.2.3", ""},
		{"", ""},
	} {
		t.Run(test.in, func(t *testing.T) {
			t.Parallel()
			if got := extractive.Title(test.in); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
