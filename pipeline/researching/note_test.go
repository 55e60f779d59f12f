package researching_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/tools"
	"nightdesk/prompts"
)

func errorsIs(err, target error) bool {
	if target == nil {
		return err == nil
	}
	return errors.Is(err, target)
}

const (
	springs = "Spring tides happen when sun and moon stand in a line. The range at Brest is 6.1 metres at springs. Boats should wait."
	neaps   = "Neap tides happen when sun and moon stand at right angles. The range at Brest is 2.8 metres at neaps. Boats should wait."
)

func TestNoteClaims(t *testing.T) {
	t.Parallel()
	claim := func(source int, text, quote string) prompts.NoteClaim {
		return prompts.NoteClaim{Source: source, Text: text, Quote: quote}
	}
	long := strings.Repeat("Spring tides are high. ", 60)
	tests := []struct {
		name   string
		claims []prompts.NoteClaim
		want   []string // "document ordinal|text|quote"
	}{
		{"good", []prompts.NoteClaim{claim(1, "Springs at Brest: 6.1 m.", "The range at Brest is 6.1 metres"), claim(2, "Neaps at Brest: 2.8 m.", "The range at Brest is 2.8 metres")},
			[]string{"1|Springs at Brest: 6.1 m.|The range at Brest is 6.1 metres", "2|Neaps at Brest: 2.8 m.|The range at Brest is 2.8 metres"}},
		{"wrong source, quote in one", []prompts.NoteClaim{claim(1, "Neaps.", "The range at Brest is 2.8 metres")},
			[]string{"2|Neaps.|The range at Brest is 2.8 metres"}},
		{"no such source, quote in one", []prompts.NoteClaim{claim(7, "Springs.", "range at Brest is 6.1 metres"), claim(0, "Springs line.", "stand in a line."), claim(-1, "x", "moon stand at right angles")},
			[]string{"1|Springs.|range at Brest is 6.1 metres", "1|Springs line.|stand in a line.", "2|x|moon stand at right angles"}},
		{"no such source, quote in both", []prompts.NoteClaim{claim(3, "Wait.", "Boats should wait."), claim(1, "Kept.", "sun and moon stand in a line")},
			[]string{"1|Kept.|sun and moon stand in a line"}},
		{"invented quote", []prompts.NoteClaim{claim(1, "Wrong.", "The range at Brest is 9.9 metres"), claim(1, "Kept.", "sun and moon stand in a line")},
			[]string{"1|Kept.|sun and moon stand in a line"}},
		{"short quote", []prompts.NoteClaim{claim(1, "Short.", "Spring tides"), claim(1, "Kept.", "sun and moon stand in a line")},
			[]string{"1|Kept.|sun and moon stand in a line"}},
		{"folded quote becomes the source's", []prompts.NoteClaim{claim(1, "Kept.", "“sun  and\nmoon stand in a line.”")},
			[]string{"1|Kept.|sun and moon stand in a line."}},
		{"the same claim twice", []prompts.NoteClaim{claim(1, "Wait.", "Boats should wait."), claim(2, "WAIT", "Boats should wait.")},
			[]string{"1|Wait.|Boats should wait."}},
		{"claim without text", []prompts.NoteClaim{claim(1, " \n", "sun and moon stand in a line")},
			[]string{"1|sun and moon stand in a line|sun and moon stand in a line"}},
		{"claim of endless text", []prompts.NoteClaim{claim(1, long, "sun and moon stand in a line")},
			[]string{"1|sun and moon stand in a line|sun and moon stand in a line"}},
		{"claim with control signs", []prompts.NoteClaim{claim(1, "A\x1b[31m red\u0000 line\nbreak.", "sun and moon stand in a line")},
			[]string{"1|A[31m red line break.|sun and moon stand in a line"}},
		{"honest empty list", []prompts.NoteClaim{}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.run.Options.MaxIterations = 1
			r := found(springs, neaps)
			b.tools["rag_hybrid"] = func(string) tools.Result { return r }
			b.note = func(llm.Request) any { return prompts.NoteAnswer{Claims: tt.claims} }
			res, err := b.research()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, tr := range b.queue.traces() {
				n := 1
				if tr.Source.Text == neaps {
					n = 2
				}
				for _, c := range tr.Claims {
					got = append(got, fmt.Sprintf("%d|%s|%s", n, c.Text, c.Quote))
				}
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if len(res.Fallbacks) != 0 {
				t.Errorf("fallbacks %q", res.Fallbacks)
			}
		})
	}
}

// TestLongQuote: an overlong quote is cut to the sentences that fit.
func TestLongQuote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	var page strings.Builder
	for i := range 40 {
		fmt.Fprintf(&page, "The tide at harbour %d rises by %d centimetres within six hours. ", i, 100+i)
	}
	b.tools["rag_hybrid"] = func(string) tools.Result { return found(page.String()) }
	b.note = func(llm.Request) any {
		return prompts.NoteAnswer{Claims: []prompts.NoteClaim{{Source: 1, Text: "They rise.", Quote: page.String()}}}
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	c := b.queue.traces()[0].Claims[0]
	if len(c.Quote) > 1000 || len(c.Quote) < 800 || !strings.HasSuffix(c.Quote, "within six hours.") {
		t.Errorf("quote of %d bytes ends with %q", len(c.Quote), c.Quote[len(c.Quote)-20:])
	}
}

// TestQuotedRow: a table row is quoted with a label and a value. Either alone says nothing.
func TestQuotedRow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	b.tools["rag_hybrid"] = func(string) tools.Result {
		return found("Tidal range by harbour\n\n| Harbour | Metres |\n| Brest | 6.1 |\n| Calais | 5.8 |")
	}
	b.note = func(llm.Request) any {
		return prompts.NoteAnswer{Claims: []prompts.NoteClaim{
			{Source: 1, Text: "The range at Brest is 6.1 metres.", Quote: "| Brest | 6.1 |"},
			{Source: 1, Text: "The range at Calais is 5.8 metres.", Quote: "Calais | 5.8"},
			{Source: 1, Text: "There is a Brest.", Quote: "| Brest |"},
		}}
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	var quotes []string
	for _, tr := range b.queue.traces() {
		for _, c := range tr.Claims {
			quotes = append(quotes, c.Quote)
		}
	}
	if want := []string{"| Brest | 6.1 |", "Calais | 5.8"}; !slices.Equal(quotes, want) {
		t.Errorf("%q, want %q", quotes, want)
	}
}

// TestInventedQuotes: quotes that are not in the source are replaced by sentences of the source.
func TestInventedQuotes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	b.tools["rag_hybrid"] = func(string) tools.Result { return found(springs, neaps) }
	b.note = func(llm.Request) any {
		return prompts.NoteAnswer{Claims: []prompts.NoteClaim{{Source: 1, Text: "Lie.", Quote: "The moon is made of cheese"}}}
	}
	res, err := b.research()
	if err != nil {
		t.Fatal(err)
	}
	if res.Claims == 0 || len(res.Fallbacks) != 1 || !strings.HasPrefix(res.Fallbacks[0], "note: no quote of the model stood in the source") {
		t.Fatalf("%+v", res)
	}
	for _, tr := range b.queue.traces() {
		if strings.Contains(tr.Summary, "Lies") {
			t.Errorf("summary %q", tr.Summary)
		}
		for _, c := range tr.Claims {
			if c.Text != c.Quote || tr.Source.Text[c.Start:c.End] != c.Quote {
				t.Errorf("claim %+v", c)
			}
		}
	}
}

func TestNoteFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		answer     any
		from       int // first iteration that fails
		err        error
		iterations int
		fallback   string
	}{
		{"bad answers", "A talk about boats.", 1, nil, 3, "note: note:"},
		{"bad key", fmt.Errorf("401: %w", llm.ErrPermanent), 1, llm.ErrPermanent, 0, ""},
		{"bad key later", fmt.Errorf("401: %w", llm.ErrPermanent), 2, llm.ErrPermanent, 1, ""},
		{"server away", fmt.Errorf("503: %w", llm.ErrUnavailable), 1, nil, 3, "note: 503"},
		{"server away later", fmt.Errorf("503: %w", llm.ErrUnavailable), 2, nil, 3, "note: 503"},
		{"window too small for anything", fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength), 1, nil, 3, "note: " +
			"retrying will not help"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.tools["rag_hybrid"] = func(q string) tools.Result {
				return found("Spring tides at harbour " + q + " rise by six metres when the moon is full.")
			}
			b.note = func(req llm.Request) any {
				if req.Position.Iteration >= tt.from {
					return tt.answer
				}
				return prompts.NoteAnswer{Claims: []prompts.NoteClaim{{Source: 1, Text: "Six metres.", Quote: "rise by six metres when the moon is full"}}}
			}
			res, err := b.research()
			if !errorsIs(err, tt.err) || res.Iterations != tt.iterations {
				t.Fatalf("%+v, %v", res, err)
			}
			if err == nil && res.Claims == 0 {
				t.Error("no claims")
			}
			if got := strings.Join(res.Fallbacks, "\n"); !strings.Contains(got, tt.fallback) || (tt.fallback == "") != (got == "") {
				t.Errorf("fallbacks %q, want %q", got, tt.fallback)
			}
		})
	}
}

// TestOneNote: the sources of all calls of an iteration share one question. Each claim belongs to the call that found
// its source, and the next decide prompt lists the calls without findings.
func TestOneNote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations, b.start.Block.Queries = 2, nil
	b.decide = func(k int, _ llm.Request) any {
		return act(ask("rag_hybrid", fmt.Sprint("cause ", k)), ask("rag_hybrid", fmt.Sprint("time ", k)), ask("rag_hybrid", fmt.Sprint("height ", k)))
	}
	b.tools["rag_hybrid"] = func(query string) tools.Result {
		if strings.HasPrefix(query, "time") {
			return found("Of " + query + " nothing is said.")
		}
		return found("The answer to "+query+" is forty-two metres.", "Another one. The answer to "+query+" is not known.")
	}
	b.note = func(req llm.Request) any {
		a := honestNote(req)
		for i := range a.Claims {
			a.Claims[i].Source = 0 // the only source that has the quote
		}
		return a
	}
	res, err := b.research()
	if err != nil || res.Claims != 8 || len(b.questions("note")) != 2 {
		t.Fatalf("%+v, %v, %d note questions", res, err, len(b.questions("note")))
	}
	for _, tr := range b.queue.traces() {
		if !strings.Contains(tr.Claims[0].Text, tr.Query) || !strings.Contains(tr.Source.Text, tr.Claims[0].Quote) {
			t.Errorf("%s for %q has %+v", tr.ToolID, tr.Query, tr.Claims)
		}
	}
	note, next := b.questions("note")[0].Prompt.User, b.questions("decide")[1].Prompt.User
	asked := "- rag_hybrid: cause 1\n- rag_hybrid: time 1\n- rag_hybrid: height 1"
	told := regexp.MustCompile(`rag_hybrid for "time 1" returned 1 new sources, and no claim was noted from them`)
	if !strings.Contains(note, asked) || !told.MatchString(next) {
		t.Errorf("%s\n%s", note, next)
	}
}

// TestManyClaims: an answer about several calls may have as many claims as one answer for each.
func TestManyClaims(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations, b.start.Block.Queries = 1, nil
	b.decide = func(int, llm.Request) any { return act(ask("rag_hybrid", "cause"), ask("rag_hybrid", "height")) }
	b.tools["rag_hybrid"] = func(query string) tools.Result {
		var all strings.Builder
		for i := range 20 {
			fmt.Fprintf(&all, "The answer to %s at harbour %d is forty-two metres. ", query, i)
		}
		return found(all.String())
	}
	b.note = func(req llm.Request) any {
		a := honestNote(req)
		for i := range a.Claims {
			a.Claims[i].Source = 0
		}
		return a
	}
	if res, err := b.research(); err != nil || res.Claims != 40 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// TestServerAwayBetweenNotes: if the server is down during one note, that note is made without the model, the others
// with it.
func TestServerAwayBetweenNotes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	b.decide = func(int, llm.Request) any {
		return act(ask("rag_hybrid", "spring tides cause"), ask("rag_hybrid", "spring tides time"))
	}
	b.tools["rag_hybrid"] = func(query string) tools.Result { // too long for one question together
		return found("The answer to " + query + " is forty-two metres.\n\n" + strings.Repeat("Nothing else is said. ", 600))
	}
	b.note = func(req llm.Request) any {
		if strings.Contains(req.Prompt.User, "The answer to spring tides time") {
			return fmt.Errorf("503: %w", llm.ErrUnavailable)
		}
		a := honestNote(req)
		a.Claims[0].Text = "It is 42 metres."
		return a
	}
	res, err := b.research()
	if err != nil || res.Claims < 2 || len(res.Fallbacks) != 1 {
		t.Fatalf("%+v, %v", res, err)
	}
	for i, tr := range b.queue.traces() {
		if c := tr.Claims[0]; (c.Text == c.Quote) != (i == 1) {
			t.Errorf("claim %+v", c)
		}
	}
}

// TestServerAwayOverLongPage: if the server goes down during a long page, the rest is read without the model.
func TestServerAwayOverLongPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	var page strings.Builder
	for i := range 800 {
		fmt.Fprintf(&page, "Spring tides at harbour %d rise by %d centimetres when the moon is full.\n\n", i, 100+i)
	}
	b.tools["rag_hybrid"] = func(string) tools.Result { return found(page.String()) }
	b.note = func(llm.Request) any { return fmt.Errorf("503: %w", llm.ErrUnavailable) }
	if res, err := b.research(); err != nil || res.Claims == 0 || len(res.Fallbacks) != 1 || len(b.questions("note")) != 1 {
		t.Fatalf("%+v, %v, %d note questions", res, err, len(b.questions("note")))
	}
}

// TestServerAway: if the server is down all the time, the block ends with evidence from its planned queries.
func TestServerAway(t *testing.T) {
	t.Parallel()
	away := fmt.Errorf("503: %w", llm.ErrUnavailable)
	b := newBench(t)
	b.start.Block.Queries = starters
	b.decide = func(int, llm.Request) any { return away }
	b.note = func(llm.Request) any { return away }
	res, err := b.research()
	if err != nil || res.Claims == 0 || res.Iterations != 1 || !slices.Contains(b.called, "rag_hybrid: spring tides cause") {
		t.Fatalf("%+v, %v, called %q", res, err, b.called)
	}
	// Without evidence, all iterations run.
	b = newBench(t)
	b.decide = func(int, llm.Request) any { return away }
	b.tools["rag_hybrid"] = func(string) tools.Result { return tools.Result{} }
	if res, err := b.research(); err != nil || res.Claims != 0 || res.Iterations != 3 || len(res.Fallbacks) != 3 {
		t.Fatalf("%+v, %v", res, err)
	}
}

// TestSourcesAreReadOnce: a source returned by two calls is noted once. A source noted without a claim is not read
// again.
func TestSourcesAreReadOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.decide = func(k int, _ llm.Request) any {
		return act(ask("rag_hybrid", fmt.Sprintf("height %d", k)), ask("rag_hybrid", fmt.Sprintf("time %d", k)))
	}
	b.tools["rag_hybrid"] = func(string) tools.Result { return found(springs, neaps) }
	b.note = func(llm.Request) any {
		return prompts.NoteAnswer{Claims: []prompts.NoteClaim{{Source: 2, Text: "Neaps.", Quote: "The range at Brest is 2.8 metres"}}}
	}
	res, err := b.research()
	if err != nil || res.Claims != 1 || len(b.questions("note")) != 1 {
		t.Fatalf("%+v, %v, %d note questions", res, err, len(b.questions("note")))
	}
}

// TestNothingTwice: statements and sources of earlier iterations are not noted again.
func TestNothingTwice(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 2
	b.tools["rag_hybrid"] = func(q string) tools.Result {
		if q == "question number 1" {
			return found(springs)
		}
		return found(springs, "Boats should wait. The office is closed.")
	}
	b.note = func(req llm.Request) any {
		return prompts.NoteAnswer{Claims: []prompts.NoteClaim{{Source: 1, Text: "Boats wait.", Quote: "Boats should wait."}}}
	}
	res, err := b.research()
	if err != nil || res.Claims != 1 || len(b.queue.checkpoints[1].Traces) != 0 {
		t.Fatalf("%+v, %v", res, err)
	}
	c := newBench(t)
	c.run.Options.MaxIterations = 2
	c.start.Block.Iterations = 1
	c.start.Traces = b.queue.checkpoints[0].Traces
	c.tools["rag_hybrid"] = func(string) tools.Result { return found(springs) }
	if res, err := c.research(); err != nil || res.Claims != 1 || len(c.questions("note")) != 0 {
		t.Fatalf("continued: %+v, %v, %d note questions", res, err, len(c.questions("note")))
	}
}

// TestLongPage: a long page is read in chunks that fit the window. Every part is read once.
func TestLongPage(t *testing.T) {
	t.Parallel()
	var page strings.Builder
	for i := range 700 {
		fmt.Fprintf(&page, "Paragraph about spring tides. The answer to question %d is %d metres above the datum.\n\n", i, i)
	}
	for _, window := range []int{100_000, 21_000, 9_000} {
		b := newBench(t)
		b.run.Options.MaxIterations = 1
		b.tools["rag_hybrid"] = func(string) tools.Result { return found(page.String()) }
		seen := map[string]int{}
		b.note = func(req llm.Request) any {
			if len(req.Prompt.User) > window {
				return fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength)
			}
			a := honestNote(req)
			for i := range a.Claims {
				a.Claims[i].Source = 1
				seen[a.Claims[i].Quote]++
			}
			a.Claims = a.Claims[:1]
			return a
		}
		res, err := b.research()
		if err != nil || len(res.Fallbacks) != 0 {
			t.Fatalf("window %d: %+v, %v", window, res, err)
		}
		if len(seen) != 700 {
			t.Errorf("window %d: %d of 700 paragraphs were read", window, len(seen))
		}
		if tr := b.queue.traces(); len(tr) != 1 || len(tr[0].Claims) < 3 {
			t.Errorf("window %d: %d traces", window, len(tr))
		}
	}
}

// TestEndlessPage: of a very long page, a limited number of chunks is read.
func TestEndlessPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	b.tools["rag_hybrid"] = func(string) tools.Result {
		return found(strings.Repeat("Words about boats and harbours go on and on. ", 20_000) + "The answer to spring tides is twelve metres.")
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	if n := len(b.questions("note")); n < 4 || n > 5 {
		t.Errorf("%d note questions", n)
	}
	if tr := b.queue.traces(); len(tr) != 1 {
		t.Errorf("the relevant end of the page was not read: %d traces", len(tr))
	}
}

// TestNotesSeeBylines: each document is one source, with author, publisher, date and beginning above its passages.
func TestNotesSeeBylines(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	b.tools["rag_hybrid"] = func(string) tools.Result {
		r := found(fact("the sea"), fact("the moon"))
		for i := range r.Sources {
			s := &r.Sources[i]
			s.Document, s.Title, s.Publisher, s.Date = "tides.md", "Tides", "Harbour Authority", "2023-05-06"
			s.Authors, s.Offset, s.Head = []string{"A", "B", "C", "D"}, 1000*(i+1), "Report of 2023 on tides."
		}
		return r
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	shown := b.questions("note")[0].Prompt.User
	above := "Title: Tides\nBy: A, B, C, et al., Harbour Authority\nDate: 2023-05-06\n"
	if strings.Count(shown, above) != 1 || strings.Count(shown, "The document begins: Report of 2023 on tides.") != 1 {
		t.Errorf("what stands above the passages:\n%s", shown)
	}
	if s := b.queue.traces()[0].Source; s.Head == "" {
		t.Error("the source that is kept does not say how its document begins")
	}
}
