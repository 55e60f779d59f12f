package researching_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// returned decodes the stored list with this hash, a line per call: its id, and the addresses or documents.
func (b *bench) returned(hash string) []string {
	b.t.Helper()
	calls, err := topicqueue.DecodeReturned(b.pages[hash])
	if err != nil {
		b.t.Fatal(err)
	}
	var lines []string
	for _, c := range calls {
		line := fmt.Sprintf("%s %s %q:", c.ToolID, c.ToolType, c.Query)
		for _, s := range c.Sources {
			read := "-"
			if s.Hash != "" {
				read = "+"
				if b.pages[s.Hash] == "" || s.ID != topicqueue.SourceID(s) {
					b.t.Errorf("the text of %+v is not stored", s)
				}
			}
			line += " " + read + s.URL + s.Document
		}
		lines = append(lines, line)
	}
	return lines
}

// TestReturned: each checkpoint lists the sources returned by its calls, including those without claims, but not failed
// or empty calls.
func TestReturned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations, b.run.Options.Tools = 2, []string{"web_search", "rag_hybrid"}
	b.tools["web_search"] = func(query string) tools.Result {
		switch query {
		case "broken":
			return tools.Result{Failed: true, Text: "out of order", Sources: []topicqueue.Source{{URL: "https://error.example/"}}}
		case "empty":
			return tools.Result{Text: "nothing"}
		}
		r := tools.Result{Text: "pages", Named: []topicqueue.Source{{Kind: topicqueue.SourceWeb, Title: "Bare", URL: "https://bare.example/"}, {Title: "no place"}}}
		for i, text := range []string{"Nothing that bears on it.", "", "The answer to it is found here."} {
			r.Sources = append(r.Sources, topicqueue.Source{Kind: topicqueue.SourceWeb, Title: "T", URL: fmt.Sprintf("https://a.example/%d", i), Text: text})
		}
		return r
	}
	b.decide = func(k int, _ llm.Request) any {
		switch k {
		case 1:
			return act(ask("web_search", "broken"), ask("web_search", "spring tides cause"), ask("web_search", "empty"))
		}
		return act(ask("rag_hybrid", "moon phase"), ask("web_search", "the same again"))
	}
	b.note = func(req llm.Request) any {
		if !strings.Contains(req.Prompt.User, "found here") {
			return prompts.NoteAnswer{}
		}
		quote := "The answer to it is found here."
		return prompts.NoteAnswer{Claims: []prompts.NoteClaim{{Source: 2, Text: quote, Quote: quote}}}
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	web := " +https://a.example/0 +https://a.example/2 -https://a.example/1 -https://bare.example/"
	first, second := b.returned(b.queue.checkpoints[0].Returned), b.returned(b.queue.checkpoints[1].Returned)
	if want := []string{`block_3/1.2 web_search "spring tides cause":` + web}; !slices.Equal(first, want) {
		t.Errorf("%q", first)
	}
	if len(second) != 2 || !strings.HasPrefix(second[0], `block_3/2.1 rag_hybrid "moon phase": +`) || second[1] != `block_3/2.2 web_search "the same again":`+web {
		t.Errorf("%q", second)
	}
	if n := len(b.queue.traces()); n != 1 {
		t.Errorf("%d traces", n)
	}
}

// TestReturnedAtTheEnd: pages opened for the next run, after the last checkpoint, are listed too.
func TestReturnedAtTheEnd(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations, b.run.Options.Tools = 1, []string{"web_search", "open_page"}
	b.run.Options.Incremental = true
	page := func(text string) tools.Result {
		return tools.Result{Text: text, Sources: []topicqueue.Source{{Kind: topicqueue.SourceWeb, Title: "Tides", URL: "https://a.example/tides", Text: text}}}
	}
	b.tools["web_search"] = func(query string) tools.Result { return page(fact(query)) }
	b.tools["open_page"] = func(string) tools.Result { return page("The whole page.") }
	b.decide = func(int, llm.Request) any { return act(ask("web_search", "spring tides cause")) }
	result, err := b.research()
	if err != nil {
		t.Fatal(err)
	}
	if got := b.returned(result.Returned); !slices.Equal(got, []string{`block_3/open.1 open_page "https://a.example/tides": +https://a.example/tides`}) {
		t.Errorf("%q", got)
	}
}
