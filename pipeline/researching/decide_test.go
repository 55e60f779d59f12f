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

func TestActions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		enabled []string
		issued  []string // by another block
		own     []string // by this one
		actions []prompts.Action
		called  []string
		told    string // in the next question
	}{
		{name: "several tools at once",
			actions: []prompts.Action{ask("rag_hybrid", "height"), ask("query_item", "Table 2"), ask("web_search", "height")},
			called:  []string{"query_item: Table 2", "rag_hybrid: height", "web_search: height"}},
		{name: "unknown tool",
			actions: []prompts.Action{ask("google", "height of tides"), ask("rag_hybrid", "height")}, called: []string{"rag_hybrid: height"},
			told: `tool "google" does not exist and was not called; the tools are: rag_hybrid, rag_naive, query_item, web_search, run_code`},
		{name: "a tool's name with more words, or in another order",
			actions: []prompts.Action{ask("web_search<|channel|>commentary", "a1"), ask("search_web", "a2"), ask("run_code.exec", "print(1\n)")},
			called:  []string{"run_code: print(1\n)", "web_search: a1", "web_search: a2"}, told: `tool "search_web" does not exist; its query went to web_search`},
		{name: "a program and an address without a tool",
			actions: []prompts.Action{ask("python", "print(1)"), ask("browser", "https://a.example/x"), ask("rag_hybrid", "height")},
			called:  []string{"rag_hybrid: height"}, told: `tool "browser" does not exist and was not called`},
		{name: "tool that is not enabled", enabled: []string{"rag_hybrid", "query_item"},
			actions: []prompts.Action{ask("web_search", "height of tides"), ask("rag_hybrid", "height")},
			called:  []string{"rag_hybrid: height"}, told: `tool "web_search" does not exist and was not called; the tools are: rag_hybrid, query_item`},
		{name: "no tool left: the title", enabled: []string{"web_search"},
			actions: []prompts.Action{ask("rag_hybrid", "height of tides")},
			called:  []string{"web_search: Spring tides"}},
		{name: "empty query",
			actions: []prompts.Action{ask("rag_hybrid", " "), ask("rag_hybrid", "?!"), ask("rag_hybrid", "height")},
			called:  []string{"rag_hybrid: height"}, told: "a call of rag_hybrid had no query"},
		{name: "marks of the question",
			actions: []prompts.Action{ask("rag_hybrid", "{{<material-213b795a>}},"), ask("rag_hybrid", "height <topic-194b7f15>")},
			called:  []string{"rag_hybrid: height"}, told: "a call of rag_hybrid had no query"},
		{name: "too many",
			actions: []prompts.Action{ask("rag_hybrid", "a1"), ask("rag_hybrid", "a2"), ask("rag_hybrid", "a3"), ask("rag_hybrid", "a4")},
			called:  []string{"rag_hybrid: a1", "rag_hybrid: a2", "rag_hybrid: a3"}, told: "at most 3 calls"},
		{name: "twice in one answer",
			actions: []prompts.Action{ask("rag_hybrid", "tide height"), ask("rag_naive", "Height, tide?")},
			called:  []string{"rag_hybrid: tide height"}, told: `rag_naive was not asked again for "Height, tide?"`},
		{name: "asked before by another block", issued: []string{"Tide height"},
			actions: []prompts.Action{ask("rag_hybrid", "height of the"), ask("rag_hybrid", "height tide")},
			called:  []string{"rag_hybrid: height of the", "rag_hybrid: height tide"}},
		{name: "asked before by this block", own: []string{"Tide height"},
			actions: []prompts.Action{ask("rag_hybrid", "height of the"), ask("rag_hybrid", "height tide")},
			called:  []string{"rag_hybrid: height of the"}, told: "this block has asked it before"},
		{name: "asked before of another tool", own: []string{"tide height"},
			actions: []prompts.Action{ask("web_search", "tide height")},
			called:  []string{"web_search: tide height"}},
		{name: "asked before of the web", own: []string{"web_search: tide height"},
			actions: []prompts.Action{ask("web_search", "height tide"), ask("rag_hybrid", "tide height")},
			called:  []string{"rag_hybrid: tide height"}},
		{name: "programs differ by every sign", own: []string{"run_code: print(1-2)"},
			actions: []prompts.Action{ask("run_code", "print(1-2)"), ask("run_code", "print(2-1)"), ask("run_code", "print(1+2)")},
			called:  []string{"run_code: print(1+2)", "run_code: print(2-1)"}},
		{name: "query of several lines",
			actions: []prompts.Action{ask(" rag_hybrid ", "height\n\tof\x00 tides")},
			called:  []string{"rag_hybrid: height of tides"}},
		{name: "nothing left of them: the title", own: []string{"tide height"},
			actions: []prompts.Action{ask("rag_hybrid", "tide height")},
			called:  []string{"rag_hybrid: Spring tides", "web_search: Spring tides"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.run.Options.MaxIterations = 2
			b.run.Options.Tools = []string{"rag_hybrid", "rag_naive", "query_item", "web_search", "run_code"}
			if tt.enabled != nil {
				b.run.Options.Tools = tt.enabled
			}
			for _, name := range []string{"rag_naive", "query_item", "web_search", "run_code"} {
				b.tools[name] = b.tools["rag_hybrid"]
			}
			b.start.View.Own = tt.own
			b.start.View.Queries = slices.Concat(tt.issued, tt.own)
			var first []string
			b.decide = func(k int, req llm.Request) any {
				if k == 2 {
					first = slices.Clone(b.called)
				}
				return act(tt.actions...)
			}
			if _, err := b.research(); err != nil {
				t.Fatal(err)
			}
			slices.Sort(first)
			slices.Sort(tt.called)
			if !slices.Equal(first, tt.called) {
				t.Errorf("called %q, want %q", first, tt.called)
			}
			if shown := b.questions("decide")[1].Prompt.User; !strings.Contains(shown, tt.told) {
				t.Errorf("the model is not told %q in\n%s", tt.told, shown)
			}
		})
	}
}

// TestRepeatingModel: if a model makes the same queries in every iteration, each query is made once in the run, and the
// loop ends.
func TestRepeatingModel(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.start.Block.Queries = starters
	b.run.Options.MaxIterations = 12
	b.decide = func(int, llm.Request) any {
		return act(ask("rag_hybrid", "spring tides cause"), ask("rag_hybrid", "Cause: spring tides"))
	}
	res, err := b.research()
	if err != nil || res.Iterations != 12 {
		t.Fatalf("%+v, %v", res, err)
	}
	seen := map[string]bool{}
	for _, cp := range b.queue.checkpoints {
		for _, q := range cp.Queries {
			if key := topicqueue.CanonicalQuery(q); seen[key] {
				t.Errorf("%q was issued twice", q)
			} else {
				seen[key] = true
			}
		}
	}
	if !seen[topicqueue.CanonicalQuery("spring tides moon phase")] || !seen[topicqueue.CanonicalQuery("Spring tides")] {
		t.Errorf("starter queries and title were not used: %q", b.called)
	}
}

// TestNothingToAsk: iterations without queries are recorded and make no call.
func TestNothingToAsk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.Tools = nil
	res, err := b.research()
	if err != nil || res.Iterations != 3 || res.Claims != 0 || len(b.called) != 0 {
		t.Fatalf("%+v, %v, calls %q", res, err, b.called)
	}
}

func TestToolOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		result tools.Result
		told   string
	}{
		{"failed", tools.Result{Failed: true, Text: "server\nrefused", Sources: found("The answer to x is y.").Sources}, `failed: server refused`},
		{"empty", tools.Result{Text: "nothing"}, "found nothing"},
		{"without text", tools.Result{Text: "x", Sources: []topicqueue.Source{{Title: "Empty page", Text: " \n"}}}, "found nothing"},
		{"the same again", found("The answer to x is y."), "only what this block has read already"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.start.View.Queries = []string{"nothing"}
			b.tools["rag_hybrid"] = func(q string) tools.Result { return tt.result }
			if tt.name == "the same again" {
				b.run.Options.MaxIterations = 4
			}
			res, err := b.research()
			if err != nil {
				t.Fatal(err)
			}
			if want := map[string]int{"the same again": 1}[tt.name]; res.Claims != want || len(b.questions("note")) != want {
				t.Errorf("%d claims of %d note questions, want %d", res.Claims, len(b.questions("note")), want)
			}
			questions := b.questions("decide")
			if shown := questions[len(questions)-1].Prompt.User; !strings.Contains(shown, tt.told) {
				t.Errorf("the model is not told %q in\n%s", tt.told, shown)
			}
		})
	}
}

func TestDecideFailures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		answer   any
		from     int // first iteration that fails
		err      error
		claims   bool
		fallback string
	}{
		{"bad answers", "I would rather talk about boats.", 1, nil, true, "decide: block_3/1 used queries"},
		{"window too small", fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength), 1, nil, true, "decide: block_3/1 used queries"},
		{"bad key", fmt.Errorf("401: %w", llm.ErrPermanent), 1, llm.ErrPermanent, false, ""},
		{"bad key later", fmt.Errorf("401: %w", llm.ErrPermanent), 2, llm.ErrPermanent, true, ""},
		{"server away", fmt.Errorf("503: %w", llm.ErrUnavailable), 1, nil, true, "decide: block_3/1 used queries"},
		{"server away later", fmt.Errorf("503: %w", llm.ErrUnavailable), 2, nil, true, "decide: the model server was down"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			plan := b.decide
			b.decide = func(k int, req llm.Request) any {
				if k >= tt.from {
					return tt.answer
				}
				return plan(k, req)
			}
			res, err := b.research()
			if !errorsIs(err, tt.err) || (res.Claims > 0) != tt.claims {
				t.Fatalf("%+v, %v", res, err)
			}
			if got := strings.Join(res.Fallbacks, "\n"); !strings.Contains(got, tt.fallback) || (tt.fallback == "") != (got == "") {
				t.Errorf("fallbacks %q, want %q", got, tt.fallback)
			}
		})
	}
}

// TestDecideShrinks: a prompt that does not fit the window is shortened, not dropped.
func TestDecideShrinks(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.run.Options.MaxIterations = 1
	for i := range 200 {
		b.start.View.Queries = append(b.start.View.Queries, fmt.Sprintf("earlier query number %d", i))
	}
	b.start.View.Own = b.start.View.Queries
	refused := 0
	b.decide = func(_ int, req llm.Request) any {
		if strings.Contains(req.Prompt.User, "earlier query number 140") {
			refused++
			return fmt.Errorf("%w: %w", llm.ErrPermanent, llm.ErrContextLength)
		}
		if !strings.Contains(req.Prompt.User, "earlier query number 199") {
			t.Error("the newest query is not shown")
		}
		return act(ask("rag_hybrid", "spring tides cause"))
	}
	if res, err := b.research(); err != nil || res.Claims != 1 || refused != 1 || len(res.Fallbacks) != 0 {
		t.Fatalf("%+v, %v, refused %d times", res, err, refused)
	}
}

// TestBriefIsNotRepeated: questions contain the user's words, or the brief if it is shorter.
func TestBriefIsNotRepeated(t *testing.T) {
	t.Parallel()
	words, long := "How tides work", "Find out how tides work. "+strings.Repeat("Spell it out. ", 50)
	for _, tc := range []struct{ topic, brief, want string }{{words, long, words}, {long, words, words}} {
		b := newBench(t)
		b.run.Topic, b.brief, b.run.Options.MaxIterations = tc.topic, tc.brief, 1
		if _, err := b.research(); err != nil {
			t.Fatal(err)
		}
		for _, step := range []string{"decide", "note"} {
			shown := b.questions(step)[0].Prompt.User
			if !strings.Contains(shown, tc.want) || strings.Contains(shown, "Spell it out") {
				t.Errorf("%s shows the topic as\n%s", step, shown)
			}
		}
	}
}

// TestStarters: a block with planned queries starts with them, without a model call.
func TestStarters(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		enabled []string
		queries []string // of the plan
		issued  []string // by other blocks
		called  []string // in the first iteration, sorted
		decides int      // iteration of the first decide
	}{
		{name: "of the knowledge base", queries: starters, decides: 2,
			called: []string{"rag_hybrid: spring tides cause", "rag_hybrid: spring tides moon phase"}},
		{name: "without one of the web", enabled: []string{"web_search", "paper_search"}, queries: starters[:1], decides: 2,
			called: []string{"web_search: spring tides cause"}},
		{name: "at most three at once", queries: []string{"a1", "a2", "a3", "a4"}, decides: 2,
			called: []string{"rag_hybrid: a1", "rag_hybrid: a2", "rag_hybrid: a3"}},
		{name: "not what another block has asked", queries: starters, issued: []string{"Spring tides: cause"}, decides: 2,
			called: []string{"rag_hybrid: spring tides moon phase"}},
		{name: "all asked by others", queries: starters[:1], issued: []string{"Spring tides: cause"}, decides: 1,
			called: []string{"rag_hybrid: question number 1"}},
		{name: "a place of the corpus", queries: []string{"Tides › Springs", "spring tides"}, decides: 2,
			called: []string{"query_item: Tides › Springs", "rag_hybrid: spring tides"}},
		{name: "no search enabled", enabled: []string{"run_code"}, queries: starters, decides: 1,
			called: []string{"run_code: question number 1"}},
		{name: "none", decides: 1, called: []string{"rag_hybrid: question number 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.run.Options.MaxIterations = 2
			b.run.Options.Tools = []string{"rag_hybrid", "query_item", "web_search", "run_code"}
			if tt.enabled != nil {
				b.run.Options.Tools = tt.enabled
			}
			for _, name := range []string{"query_item", "web_search", "paper_search", "run_code"} {
				b.tools[name] = b.tools["rag_hybrid"]
			}
			b.start.Block.Queries, b.start.View.Queries = tt.queries, tt.issued
			var first []string
			b.decide = func(k int, _ llm.Request) any {
				if k == 2 {
					first = slices.Sorted(slices.Values(b.called))
				}
				return act(ask(b.run.Options.Tools[0], fmt.Sprintf("question number %d", k)))
			}
			res, err := b.research()
			if err != nil || res.Claims < 2 {
				t.Fatalf("%+v, %v", res, err)
			}
			if !slices.Equal(first, tt.called) {
				t.Errorf("called %q, want %q", first, tt.called)
			}
			if k := b.questions("decide")[0].Position.Iteration; k != tt.decides {
				t.Errorf("the first decide is that of iteration %d, want %d", k, tt.decides)
			}
		})
	}
}

// TestPagesAreOpenedWhenDecideFails: if the model fails while pages were found, they are opened as without a model.
func TestPagesAreOpenedWhenDecideFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.web(t)
	b.run.Options.MaxIterations = 1
	b.decide = func(int, llm.Request) any { return "no plan" }
	b.note = func(req llm.Request) any {
		quote := "Spring tides come at new moon and at full moon."
		if !strings.Contains(req.Prompt.User, quote) {
			return prompts.NoteAnswer{}
		}
		return prompts.NoteAnswer{Claims: []prompts.NoteClaim{{Source: 1, Text: quote, Quote: quote}}}
	}
	res, err := b.research()
	if err != nil || res.Claims == 0 || !slices.Contains(b.called, "open_page: https://a.example/springs") {
		t.Fatalf("%+v, %v, called %q", res, err, b.called)
	}
}

// TestDecideShowsProgramsBriefly: a question shows only the beginning of executed programs.
func TestDecideShowsProgramsBriefly(t *testing.T) {
	t.Parallel()
	program := "print(1)  # " + strings.Repeat("a long comment ", 40)
	b := newBench(t)
	answer := b.tools["rag_hybrid"]
	b.tools["run_code"] = answer
	b.run.Options.Tools = []string{"rag_hybrid", "run_code"}
	b.decide = func(k int, _ llm.Request) any {
		return act(ask("run_code", program), ask("rag_hybrid", fmt.Sprint("height ", k)))
	}
	if _, err := b.research(); err != nil {
		t.Fatal(err)
	}
	asked := b.questions("decide")
	last := asked[len(asked)-1].Prompt.User
	if strings.Contains(last, program) || !strings.Contains(last, "- run_code: print(1) # a long") {
		t.Errorf("the last question:\n%s", last)
	}
}

// TestOneSearchIsOffered: a model gets one search of the knowledge base, the better one of those enabled.
func TestOneSearchIsOffered(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ enabled, offered, other string }{
		{"rag_naive,rag_hybrid", "\n- rag_hybrid:", "\n- rag_naive:"}, {"rag_naive,web_search", "\n- rag_naive:",
			"\n- rag_hybrid:"},
	} {
		b := newBench(t)
		b.run.Options.Tools, b.run.Options.MaxIterations = strings.Split(tc.enabled, ","), 1
		nothing := func(string) tools.Result { return tools.Result{} }
		b.tools["rag_naive"], b.tools["web_search"] = nothing, nothing
		b.decide = func(int, llm.Request) any { return act(ask(b.run.Options.Tools[0], "tides")) }
		if _, err := b.research(); err != nil {
			t.Fatal(err)
		}
		user := b.questions("decide")[0].Prompt.User
		if !strings.Contains(user, tc.offered) || strings.Contains(user, tc.other) {
			t.Errorf("%s:\n%s", tc.enabled, user)
		}
	}
}

// TestTopicIsSearchedWhenQueriesFindNothing: a block whose queries find nothing searches for the topic and its title in
// the same iteration, as a block without a model does.
func TestTopicIsSearchedWhenQueriesFindNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, answered string
		calls, claims  int
	}{
		{"the query finds something", "tide tables of imaginary moons", 1, 1},
		{"the topic finds something", "How tides work", 3, 1},
		{"nothing finds anything", "-", 3, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.run.Options.MaxIterations = 1
			b.decide = func(int, llm.Request) any { return act(ask("rag_hybrid", "tide tables of imaginary moons")) }
			b.tools["rag_hybrid"] = func(query string) tools.Result {
				if query != tc.answered {
					return tools.Result{}
				}
				return found(fact(query))
			}
			res, err := b.research()
			if err != nil || len(b.called) != tc.calls || res.Claims != tc.claims {
				t.Errorf("%q, %d claims, %v", b.called, res.Claims, err)
			}
		})
	}
}
