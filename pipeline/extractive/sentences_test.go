package extractive_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/extractive"
)

func texts(ss []extractive.Sentence) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = s.Text
	}
	return out
}

func TestSentencesCut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"plain", "The queue is empty. A worker waits.", []string{"The queue is empty.", "A worker waits."}},
		{"latin abbreviations", "Use a small value, e.g. 5, i.e. less than ten. Larger ones fail.", []string{"Use a small value, e.g. 5, i.e. less than ten.", "Larger ones fail."}},
		{"capital after e.g.", "Some stores, e.g. Redis, keep it all in memory.", []string{"Some stores, e.g. Redis, keep it all in memory."}},
		{"counted", "As Fig. 3 and Sec. 4.2 show, No. 5 wins. The rest lose.", []string{"As Fig. 3 and Sec. 4.2 show, No. 5 wins.", "The rest lose."}},
		{"no as an answer", "The answer is no. We keep the lock.", []string{"The answer is no.", "We keep the lock."}},
		{"titles and initials", "Dr. Smith and J. R. Jones met Mrs. Hall. They agreed.", []string{"Dr. Smith and J. R. Jones met Mrs. Hall.", "They agreed."}},
		{"letter ends a sentence", "The runtime is written in C. The tools are not.", []string{"The runtime is written in C.", "The tools are not."}},
		{"country", "The U.S. Senate met. Rules of the U.S. The vote passed.", []string{"The U.S. Senate met.", "Rules of the U.S.", "The vote passed."}},
		{"company", "It was sold by Acme Inc. The price is unknown.", []string{"It was sold by Acme Inc.", "The price is unknown."}},
		{"company goes on", "Acme Inc. Holdings bought it.", []string{"Acme Inc. Holdings bought it."}},
		{"etc", "Logs, traces, etc. are kept. Metrics, etc. Everything is kept.", []string{"Logs, traces, etc. are kept.", "Metrics, etc.", "Everything is kept."}},
		{"et al", "Lamport et al. (1982) proved it. Others followed.", []string{"Lamport et al. (1982) proved it.", "Others followed."}},
		{"numbers", "Pi is 3.14 and Go 1.22.1 is out. It costs 1.5 USD.", []string{"Pi is 3.14 and Go 1.22.1 is out.", "It costs 1.5 USD."}},
		{"version ends", "It came with Go 1.22. The next one removed it.", []string{"It came with Go 1.22.", "The next one removed it."}},
		{"hosts and files", "Open main.go at example.com/docs?x=1. Then read net/http.", []string{"Open main.go at example.com/docs?x=1.", "Then read net/http."}},
		{"calls", "Call x.y() or f(a...) first. Then wait.", []string{"Call x.y() or f(a...) first.", "Then wait."}},
		{"lower-case name begins", "The list is copied. str.join() builds the text.", []string{"The list is copied.", "str.join() builds the text."}},
		{"ellipsis goes on", "SELECT ... FOR UPDATE takes a lock. The lock is held.", []string{"SELECT ... FOR UPDATE takes a lock.", "The lock is held."}},
		{"passages that an engine joined", "The dock is full. ... Boats wait outside.", []string{"The dock is full.", "Boats wait outside."}},
		{"begins in mid-sentence", "... of the harbour is full. Boats wait outside.", []string{"... of the harbour is full.", "Boats wait outside."}},
		{"quotes after the stop", "He said “It works.” Nobody believed it.", []string{"He said “It works.”", "Nobody believed it."}},
		{"no cut inside quotes", "The text “Stop. Go back.” is shown. It blinks.", []string{"The text “Stop. Go back.” is shown.", "It blinks."}},
		{"no cut inside brackets", "It fails (see the log. It helps.) at night. We retry.", []string{"It fails (see the log. It helps.) at night.", "We retry."}},
		{"bracket after the stop", "It fails. (This is rare.) We retry.", []string{"It fails.", "(This is rare.)", "We retry."}},
		{"references", "This was shown.[12] Later work agreed.[3][4] It holds.", []string{"This was shown.[12]", "Later work agreed.[3][4]", "It holds."}},
		{"questions", "Why? Because it is fast! Really?! Yes.", []string{"Why?", "Because it is fast!", "Really?!", "Yes."}},
		{"name with a mark", "Yahoo! is a company. It grew.", []string{"Yahoo! is a company.", "It grew."}},
		{"wrapped lines", "The log is written\nbefore the data. It is\nkept.", []string{"The log is written\nbefore the data.", "It is\nkept."}},
		{"heading on its paragraph", "Introduction\nThe log is written before the data files are changed.", []string{"Introduction", "The log is written before the data files are changed."}},
		{"menu", "Home\nProducts\nAbout Us", []string{"Home", "Products", "About Us"}},
		{"label", "Note: The file is not closed. It stays open.", []string{"The file is not closed.", "It stays open."}},
		{"german", "Das gilt z. B. am 3. Oktober bzw. im 19. Jahrhundert. Danach nicht.", []string{"Das gilt z. B. am 3. Oktober bzw. im 19. Jahrhundert.", "Danach nicht."}},
		{"french", "M. Dupont est là, cf. p. 3. Il attend.", []string{"M. Dupont est là, cf. p. 3.", "Il attend."}},
		{"spanish", "El Sr. García llegó. ¿Quién lo vio? Nadie.", []string{"El Sr. García llegó.", "¿Quién lo vio?", "Nadie."}},
		{"chinese", "数据先写日志。为什么？为了安全！", []string{"数据先写日志。", "为什么？", "为了安全！"}},
		{"japanese quote goes on", "彼は「雨だ。」と言った。次の日は晴れた。", []string{"彼は「雨だ。」と言った。", "次の日は晴れた。"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := texts(extractive.Sentences(test.text)); !slices.Equal(got, test.want) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
}

func TestSentencesStructure(t *testing.T) {
	t.Parallel()
	text := "# Title\n\nFirst one. Second one.\n\n```go\nx := 1. Not this.\n```\n\n- An item here.\n  It goes on. \n- Another\n1. Numbered\n\n| a. | b. |\n\nUnder\n=====\n\nLast one."
	want := []struct {
		text      string
		paragraph int
	}{
		{"Title", 0},
		{"First one.", 1},
		{"Second one.", 1},
		{"An item here.", 2},
		{"It goes on.", 2},
		{"Another", 3},
		{"Numbered", 4},
		{"Under", 5},
		{"Last one.", 6},
	}
	got := extractive.Sentences(text)
	if len(got) != len(want) {
		t.Fatalf("got %d sentences %q, want %d", len(got), texts(got), len(want))
	}
	for i, w := range want {
		if got[i].Text != w.text || got[i].Paragraph != w.paragraph {
			t.Errorf("sentence %d is %q of paragraph %d, want %q of %d", i, got[i].Text, got[i].Paragraph, w.text, w.paragraph)
		}
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		text string
		want bool
	}{
		{"prose", "The scheduler moves a waiting goroutine to another thread.", true},
		{"short", "Go is a compiled language.", true},
		{"number first", "3 of the 5 replicas must answer before a write counts.", true},
		{"quoted", "“Durable” means that a committed write survives a crash.", true},
		{"ends in a quote", "The authors call this effect “write amplification.”", true},
		{"ends in a bracket", "The limit is one second (the default is ten seconds).", true},
		{"reference mark", "The cache was first described in the sixties.[2]", true},
		{"question", "Why does the planner ignore the index on this table?", true},
		{"identifier first", "sync.Mutex must not be copied after its first use.", true},
		{"lower-case tool first", "gofmt formats source files with tabs for indentation.", true},
		{"path first", "/etc/hosts is read before any name server is asked.", true},
		{"keywords in prose", "DELETE removes rows that satisfy the WHERE clause.", true},
		{"relative clauses", "The first one knows how to locate modules that are built in.", true},
		{"gerund as subject", "Coral bleaching occurs when the water is too warm.", true},
		{"clause of reason", "It is hard to avoid, because of the way that nulls are compared.", true},
		{"code in prose", "Compare two slices with slices.Equal(a, b) and not with ==.", true},
		{"title with a verb", "Type inference determines the missing type arguments.", true},
		{"purpose of something", "To free the space of dead rows, the table is rewritten from its start.", true},
		{"purpose alone", "To free the space that dead rows still occupy.", false},
		{"purpose with a relative clause", "To update the map of pages, which speeds up later scans.", false},
		{"german", "Die Datenbank schreibt jede Änderung zuerst in das Protokoll.", true},
		{"french", "La base de données écrit chaque modification dans le journal.", true},
		{"spanish", "La base de datos escribe cada cambio primero en el registro.", true},
		{"chinese", "数据库先把每次修改写入日志。", true},
		{"japanese", "データベースは変更を先にログへ書き込む。", true},
		{"russian", "База данных сначала записывает изменения в журнал.", true},

		{"too short", "It works.", false},
		{"too short chinese", "很重要。", false},
		{"too long", strings.Repeat("The cat is here and ", 16) + "stays.", false},
		{"no stop", "The scheduler moves a waiting goroutine to another thread", false},
		{"leads in", "The scheduler has the following three parts here:", false},
		{"cut away", "The scheduler moves a waiting goroutine to...", false},
		{"heading number", "2.3.1 Frobnicating the widgets is done with care.", false},
		{"lower-case rest", "and then the worker writes the file to disk.", false},
		{"lower-case fragment", "where the first argument is the name of the file.", false},
		{"option", "-v prints each file as it is read.", false},
		{"in brackets", "(This is only needed on very old systems.)", false},
		{"open bracket", "The function takes (a name and a mode.", false},
		{"odd quote", `The function prints "hello to the terminal.`, false},
		{"code", "x := foo(1, 2); y := bar(x); return y + 1.", false},
		{"prompt", "Run $ make install && make test to do it.", false},
		{"path of pages", "Home > Docs > Guides > Install on Linux today.", false},
		{"cells", "Name | Type | Meaning of the value is given.", false},
		{"capitalised row", "Products Solutions Pricing Customers Resources Company Careers.", false},
		{"no verb", "Advanced settings for large clusters and busy networks.", false},
		{"entry without subject", "Returns the number of rows in the table.", false},
		{"entry with a name", "Resizes the memory block to n bytes.", false},
		{"entry of a constant", "Integer constant stating the level of thread safety.", false},
		{"entry of an error", "Exception raised when there is a problem with the file.", false},
		{"entry with a clause", "The default mode which is used to load shared libraries.", false},
		{"entry with two verbs", "A context manager that opens a file and closes it again.", false},
		{"entry with a gerund", "Decorator for skipping tests if the library does not exist.", false},
		{"entry of names", "Tuple of strings listing the field names.", false},
		{"entry with a compound", "Encoding suitable as the contents of a UTF-8-encoded Python file, except that quotes are not escaped.", false},
		{"entry adjective", "Useful for tests and for finding slow queries.", false},
		{"entry participle", "Called when a connection has been lost for good.", false},
		{"entry auxiliary", "Can be set to any callable that takes two arguments.", false},
		{"copyright", "Copyright © 2020 by the authors, who reserve all their rights.", false},
		{"rights", "The Example Group. All rights reserved by the company and its heirs.", false},
		{"see also", "See also the functions that are described for strings.", false},
		{"see section", "See Section 12.4 for the rules that apply to names.", false},
		{"more information", "For more information, see the manual of the server.", false},
		{"click", "Click here to read the whole story about the release.", false},
		{"cookies", "We use cookies to make this site work better for you.", false},
		{"updated", "Last updated on 3 May 2024 by the documentation team.", false},
		{"next", "Next: how to install the server on a new machine.", false},
		{"contents", "Table of contents of the manual that you are reading.", false},
		{"this chapter", "This chapter describes how the planner chooses an index.", false},
		{"this page", "In this guide we will learn how to install the server.", false},
		{"following sections", "The following sections explain the parts of the protocol.", false},
		{"version label", "New in version 3.2: the function accepts a timeout as well.", false},
		{"changed label", "Changed in version 3.7: The default is true for all files.", false},
		{"table reference", "Table 9.3 shows the operators that are available for text.", false},
		{"section reference", "The operators for text are described in Section 9.4.", false},
		{"shouting", "THIS SOFTWARE IS PROVIDED AS IS WITHOUT ANY WARRANTY.", false},
		{"broken characters", "The caf\ufffd is open from nine to five every day.", false},
		{"anchor", "Installing the server on a new machine is easy.¶", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := extractive.Sentences(test.text)
			complete := len(got) > 0 && got[len(got)-1].Complete
			if complete != test.want {
				t.Errorf("complete is %v for %q, want %v", complete, texts(got), test.want)
			}
		})
	}
}

func TestCompleteByPlace(t *testing.T) {
	t.Parallel()
	got := extractive.Sentences("The server listens on one port. gofmt is not needed here at all.\n\n- A replica that falls behind is removed from the set.\n- Fast and small\n\n## The planner is a part of the server.")
	want := []bool{true, true, false, false}
	if got[1].Text == "gofmt is not needed here at all." {
		want = []bool{true, false, true, false, false} // lower case counts at the beginning of a paragraph only
	}
	if len(got) != len(want) {
		t.Fatalf("got %q", texts(got))
	}
	for i := range want {
		if got[i].Complete != want[i] {
			t.Errorf("%q: complete is %v, want %v", got[i].Text, got[i].Complete, want[i])
		}
	}
}
