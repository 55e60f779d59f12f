package researching_test

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// digestOf returns a block's digest of one iteration.
func digestOf(block string, texts ...string) topicqueue.Digest {
	d := topicqueue.Digest{Block: block}
	for i, text := range texts {
		d.Findings = append(d.Findings, topicqueue.Finding{CitationID: fmt.Sprintf("CIT-%d-%02d", topicqueue.BlockNumber(block), i+1), Text: text, Source: "Tides, tides.md"})
	}
	return d
}

func TestLedgerIsShown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	b.start.View.Ledger = []topicqueue.Digest{digestOf("block_1", "old one"), digestOf("block_2", "of the second"), digestOf("block_1", "new one")}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	shown := b.questions("decide")[0].Prompt.User
	_, ledger, _ := strings.Cut(shown, "What other blocks have found")
	ledger, _, _ = strings.Cut(ledger, "Queries of your block")
	var at []int
	for _, text := range []string{"new one", "old one", "of the second"} {
		at = append(at, strings.Index(ledger, text))
	}
	if !slices.IsSorted(at) || at[0] < 0 || strings.Contains(shown, "Read by") || strings.Contains(shown, "a.example") {
		t.Errorf("ledger %v:\n%s", at, shown)
	}
}

// TestLedgerIsBounded: if many blocks have many findings, each gets a share of the window, and the omitted number is
// shown. The ledger is dropped first if the window is small.
func TestLedgerIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations, b.r.Window = 1, 64_000
	b.start.View.Blocks = nil
	for n := range 8 {
		id := topicqueue.BlockID(n + 10)
		b.start.View.Blocks = append(b.start.View.Blocks, topicqueue.BlockTitle{ID: id, Title: fmt.Sprint("Coast ", n)})
		for k := range 10 {
			d := digestOf(id, fmt.Sprintf("finding %d of %s: %s", k, id, strings.Repeat("x", 200)))
			d.Claims = 8
			b.start.View.Ledger = append(b.start.View.Ledger, d)
		}
	}
	refused := ""
	b.decide = func(_ int, req llm.Request) any {
		if refused == "" {
			refused = req.Prompt.User
			return fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength)
		}
		return act(ask("rag_hybrid", "spring tides cause"))
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	for n := range 8 {
		if want := fmt.Sprintf("finding 9 of %s", topicqueue.BlockID(n+10)); !strings.Contains(refused, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	_, ledger, _ := strings.Cut(refused, "What other blocks have found")
	if ledger, _, _ = strings.Cut(ledger, "Queries of your block"); len(ledger) > 5500 {
		t.Errorf("the ledger has %d bytes", len(ledger))
	}
	claims := strings.Count(ledger, "- finding")
	for _, m := range regexp.MustCompile(`block_\d+ \((\d+) more not shown\):`).FindAllStringSubmatch(ledger, -1) {
		left, _ := strconv.Atoi(m[1])
		claims += left
	}
	if claims != 8*80 {
		t.Errorf("the ledger does not say how much is left out:\n%s", ledger)
	}
	if second := b.questions("decide")[1].Prompt.User; strings.Contains(second, "finding") ||
		!regexp.MustCompile(`block_10 \(80\D`).MatchString(second) {
		t.Errorf("the ledger did not go first:\n%s", second)
	}
}

// TestLedgerOrder: the findings of the block that this one continues come first, and of each block those about this one.
func TestLedgerOrder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	b.start.Block.Parent = "block_2"
	b.start.View.Ledger = []topicqueue.Digest{digestOf("block_2", "d1 says one"), digestOf("block_1", "something else", "springs in passing")}
	b.start.View.Ledger[1].Findings[1].Block = b.start.Block.ID
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	shown := b.questions("decide")[0].Prompt.User
	at := []int{}
	for _, text := range []string{"What other blocks have found", "d1 says one", "springs in passing", "something else"} {
		at = append(at, strings.Index(shown, text))
	}
	if !slices.IsSorted(at) || at[0] < 0 {
		t.Errorf("at %v:\n%s", at, shown)
	}
}

// TestDigest: a digest has the most relevant claims of each source first.
func TestDigest(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	b.tools["rag_hybrid"] = func(string) tools.Result {
		r := found("The answer to boats is paint. The answer to spring tides is the moon.", "The answer to nets is rope.", "A page without an answer.")
		r.Sources[0].URL, r.Sources[1].Title = "https://a.example/x", ""
		return r
	}
	b.note = func(req llm.Request) any {
		a := honestNote(req)
		for i := range a.Claims {
			a.Claims[i].Source = min(1+i/2, 2)
		}
		return a
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	got := b.queue.checkpoints[0].Digest
	var texts []string
	for _, f := range got.Findings {
		texts = append(texts, f.CitationID+" "+f.Text+" ("+f.Source+")")
	}
	nets := topicqueue.TextHash("The answer to nets is rope.")[:6] + ".md"
	want := []string{"CIT-3-01 The answer to spring tides is the moon. (Tides, https://a.example/x)", "CIT-3-02 The answer to nets is rope. (" + nets + ")",
		"CIT-3-01 The answer to boats is paint. (Tides, https://a.example/x)"}
	if !slices.Equal(texts, want) {
		t.Errorf("findings %q, want %q", texts, want)
	}
}

// TestUnopenedPages: pages that were found and not opened are listed, those with a claim first.
func TestUnopenedPages(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		tools []string
		want  int
	}{{"with open_page", []string{"web_search", "open_page"}, 5}, {"without", []string{"web_search"}, 0}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.run.Options.MaxIterations, b.run.Options.Tools = 2, tc.tools
			b.start.View.Queries = []string{"open_page: https://a.example/7"} // by another block
			b.tools["web_search"] = func(string) tools.Result {
				r := found("snippet 0", "snippet 1", "snippet 2", "snippet 3", "snippet 4", "snippet 5", "snippet 6", "The answer to springs is found here.", "snippet 8")
				for i := range r.Sources {
					r.Sources[i].URL = fmt.Sprintf("http://a.example/%d", (i+7)%9)
				}
				return r
			}
			b.tools["open_page"] = func(string) tools.Result { return found("A page.") }
			b.decide = func(int, llm.Request) any {
				return act(ask("web_search", "spring tides cause"), ask("open_page", "https://a.example/8"))
			}
			b.note = func(req llm.Request) any {
				if strings.Contains(req.Prompt.User, "snippet") {
					quote := "The answer to springs is found here."
					return prompts.NoteAnswer{Claims: []prompts.NoteClaim{{Source: 8, Text: quote, Quote: quote}}}
				}
				return prompts.NoteAnswer{}
			}
			if _, err := b.research(); err != nil {
				t.Fatal(err)
			}
			shown := b.questions("decide")[1].Prompt.User
			if n := strings.Count(shown, "not opened yet"); n != tc.want {
				t.Fatalf("%d pages are suggested, want %d:\n%s", n, tc.want, shown)
			}
			if _, first, ok := strings.Cut(shown, "whole: "); ok && !strings.HasPrefix(first, "Tides http://a.example/5") {
				t.Errorf("the page with a claim does not come first:\n%s", shown)
			}
			if strings.Contains(shown, "http://a.example/7") || strings.Contains(shown, "http://a.example/8") {
				t.Errorf("a page that was opened is suggested:\n%s", shown)
			}
		})
	}
}

// TestPagesOfAllSearchesAreSuggested: results of one search do not hide the best results of another.
func TestPagesOfAllSearchesAreSuggested(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations, b.run.Options.Tools = 2, []string{"web_search", "open_page"}
	b.tools["web_search"] = func(query string) tools.Result {
		r := found("snippet 0", "snippet 1", "snippet 2", "snippet 3", "snippet 4", "snippet 5")
		for i := range r.Sources {
			r.Sources[i].URL = fmt.Sprintf("http://a.example/%s/%d", query, i)
			r.Sources[i].Text += " of " + query
		}
		return r
	}
	b.tools["open_page"] = func(string) tools.Result { return found("A page.") }
	b.decide = func(int, llm.Request) any { return act(ask("web_search", "springs"), ask("web_search", "neaps")) }
	b.note = func(llm.Request) any { return prompts.NoteAnswer{} }
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	shown := b.questions("decide")[1].Prompt.User
	for _, page := range []string{"springs/0", "springs/1", "neaps/0", "neaps/1"} {
		if !strings.Contains(shown, "whole page: Tides http://a.example/"+page) {
			t.Errorf("%s is not suggested:\n%s", page, shown)
		}
	}
}

// TestMixedTools: four calls of different tools run in parallel. A failed call and an unknown name are reported, in
// order.
func TestMixedTools(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.r.MaxActions = 4
	b.run.Options.MaxIterations, b.run.Options.Tools = 2, []string{"web_search", "open_page", "paper_search"}
	const calls = 4
	var began atomic.Int32
	together := make(chan struct{}) // closed when all calls of the first iteration have begun
	b.meet = func() {
		if began.Add(1) == calls {
			close(together)
		}
		select {
		case <-together:
		case <-time.After(time.Minute):
			t.Error("the calls are made one after the other")
		}
	}
	for _, name := range b.run.Options.Tools {
		b.tools[name] = func(query string) tools.Result {
			if query == "broken" {
				return tools.Result{Failed: true, Text: "the server has a failure (500)"}
			}
			return found(fact(name + " " + query))
		}
	}
	b.decide = func(k int, _ llm.Request) any {
		if k == 2 {
			return act()
		}
		return act(ask("web_search", "spring tides cause"), ask("open_page", "https://a.example/x"), ask("paper_search", "broken"), ask("google", "moon"),
			ask("functions.web_search", "moon"))
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	if n := began.Load(); n < calls {
		t.Errorf("%d calls were made", n)
	}
	var ids []string
	for _, tr := range b.queue.checkpoints[0].Traces {
		ids = append(ids, tr.ToolID)
	}
	if want := []string{"block_3/1.1", "block_3/1.2", "block_3/1.4"}; !slices.Equal(ids, want) {
		t.Errorf("traces of %q, want %q", ids, want)
	}
	shown := b.questions("decide")[1].Prompt.User
	for _, told := range []string{`tool "google" does not exist and was not called; the tools are: web_search, open_page, paper_search`,
		`tool "functions.web_search" does not exist; its query went to web_search`, `paper_search for "broken" failed: the server has a failure (500)`} {
		if !strings.Contains(shown, told) {
			t.Errorf("%q is not told:\n%s", told, shown)
		}
	}
	if got := b.queue.checkpoints[0].Calls; got["web_search"].Asked != 2 || got["paper_search"].Asked != 1 || got["open_page"].Asked != 1 {
		t.Errorf("calls %+v", got)
	}
}
