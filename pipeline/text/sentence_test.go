package text_test

import (
	"slices"
	"testing"

	"nightdesk/pipeline/text"
)

func texts(ss []text.Sentence) []string {
	out := make([]string, len(ss))
	for i, s := range ss {
		out[i] = s.Text
	}
	return out
}

func TestSentencesCut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in string
		want     []string
	}{
		{"plain", "The queue is empty. A worker waits.", []string{"The queue is empty.", "A worker waits."}},
		{"latin abbreviations", "Use a small value, e.g. 5, i.e. less than ten. Larger ones fail.", []string{"Use a small value, e.g. 5, i.e. less than ten.", "Larger ones fail."}},
		{"capital after e.g.", "Some stores, e.g. Redis, keep it all in memory.", []string{"Some stores, e.g. Redis, keep it all in memory."}},
		{"counted", "As Fig. 3 and Sec. 4.2 show, No. 5 wins. The rest lose.", []string{"As Fig. 3 and Sec. 4.2 show, No. 5 wins.", "The rest lose."}},
		{"no as an answer", "The answer is no. We keep the lock.", []string{"The answer is no.", "We keep the lock."}},
		{"titles and initials", "Dr. Smith and J. R. Jones met Mrs. Hall. They agreed.", []string{"Dr. Smith and J. R. Jones met Mrs. Hall.", "They agreed."}},
		{"initial of a name", "It was led by S. Petrossian and P. Ng. H. Okafor and V. Li wrote it.", []string{"It was led by S. Petrossian and P. Ng.", "H. Okafor and V. Li wrote it."}},
		{"initials in lines", "H. Okafor\nS. Petrossian", []string{"H. Okafor", "S. Petrossian"}},
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
		{"label", "Note: The file is not closed. It stays open.", []string{"Note: The file is not closed.", "It stays open."}},
		{"german", "Das gilt z. B. am 3. Oktober bzw. im 19. Jahrhundert. Danach nicht.", []string{"Das gilt z. B. am 3. Oktober bzw. im 19. Jahrhundert.", "Danach nicht."}},
		{"french", "M. Dupont est là, cf. p. 3. Il attend.", []string{"M. Dupont est là, cf. p. 3.", "Il attend."}},
		{"spanish", "El Sr. García llegó. ¿Quién lo vio? Nadie.", []string{"El Sr. García llegó.", "¿Quién lo vio?", "Nadie."}},
		{"chinese", "数据先写日志。为什么？为了安全！", []string{"数据先写日志。", "为什么？", "为了安全！"}},
		{"japanese quote goes on", "彼は「雨だ。」と言った。次の日は晴れた。", []string{"彼は「雨だ。」と言った。", "次の日は晴れた。"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := texts(text.Sentences(test.in)); !slices.Equal(got, test.want) {
				t.Errorf("got\n%q\nwant\n%q", got, test.want)
			}
		})
	}
}

func TestSentencesStructure(t *testing.T) {
	t.Parallel()
	in := "# Title\n\nFirst one. Second one.\n\n```go\nx := 1. Not this.\n```\n\n- An item here.\n  It goes on. \n- Another\n1. Numbered\n\n| a. | b. |\n\nUnder\n=====\n\nLast one."
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
	got := text.Sentences(in)
	if len(got) != len(want) {
		t.Fatalf("got %d sentences %q, want %d", len(got), texts(got), len(want))
	}
	for i, w := range want {
		if got[i].Text != w.text || got[i].Paragraph != w.paragraph {
			t.Errorf("sentence %d is %q of paragraph %d, want %q of %d", i, got[i].Text, got[i].Paragraph, w.text, w.paragraph)
		}
	}
}
