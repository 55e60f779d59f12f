package answering_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"nightdesk/pipeline/answering"
	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fact is the text returned by the tools of a bench.
const fact = "The ferry carried 41,200 passengers in 2025, and 38,000 in the year before."

// cited is an answer based on it.
const cited = "The ferry carried 41,200 passengers in 2025 [CIT-1-01]."

// bench is a question with its environment.
type bench struct {
	t      *testing.T
	stub   *llmtest.Stub
	mu     sync.Mutex
	asked  []llmtest.Question
	called []string                              // "tool: query"
	search func(query string) tools.Result       // of rag_hybrid
	say    func(n int, q llmtest.Question) reply // the n-th answer of the model, from 1
	events []topicqueue.Event
	pages  map[string]string
	kept   map[string][]byte // what the journal has of tool calls
	run    topicqueue.Run
	a      *answering.Answerer
}

// reply is the text and the calls of the model.
type reply struct {
	text  string
	calls []llmtest.Call
}

func say(text string) reply { return reply{text: text} }

// search returns search calls with these queries.
func search(queries ...string) reply {
	var r reply
	for _, q := range queries {
		r.calls = append(r.calls, llmtest.Call{Name: "rag_hybrid", Query: q})
	}
	return r
}

type scriptedTool struct {
	name string
	call func(query string) tools.Result
}

func (s scriptedTool) Name() string        { return s.name }
func (s scriptedTool) Description() string { return "Searches. Query: natural language." }
func (s scriptedTool) Call(_ context.Context, c tools.Call) (tools.Result, error) {
	return s.call(c.Query), nil
}

// found is a result with one source of this text.
func found(text string) tools.Result {
	return tools.Result{Text: text, Sources: []topicqueue.Source{{Kind: topicqueue.SourceDocument, Title: "Timetable",
		Document: "ferry.md", Text: text, Hash: topicqueue.TextHash(text)}}}
}

func newBench(t *testing.T, say func(n int, q llmtest.Question) reply) *bench {
	t.Helper()
	b := &bench{t: t, say: say, pages: map[string]string{}}
	b.search = func(string) tools.Result { return found(fact) }
	b.run = topicqueue.Run{ID: "research_20260101_000000_aaaaaaaaaa", Topic: "How many people took the ferry last year?",
		StartedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), Options: topicqueue.Options{Language: "en",
			Tools: []string{"rag_hybrid"}, MaxTurns: 10, MaxToolCalls: 5, Path: topicqueue.PathShallow}}
	b.stub = &llmtest.Stub{Converse: b.answer, Answer: func(q llmtest.Question) (string, bool) {
		if q.Schema == nil {
			text, _, ok := b.answer(q)
			return text, ok
		}
		return "", false
	}}
	b.a = &answering.Answerer{Model: b.client(), Runner: b.runner(), Emit: b.emit}
	return b
}

func (b *bench) client() llm.Model {
	client, err := llm.NewClient(llm.Settings{Roles: map[llm.Role]llm.RoleSettings{llm.Writer: {Model: "m",
		BaseURL: llmtest.NewServer(b.t, b.stub), APIKey: "a-long-enough-key", MaxTokens: 2000, MaxTries: 2,
		Timeout: time.Minute}}})
	if err != nil {
		b.t.Fatal(err)
	}
	return client
}

func (b *bench) answer(q llmtest.Question) (string, []llmtest.Call, bool) {
	b.mu.Lock()
	b.asked = append(b.asked, q)
	n := len(b.asked)
	b.mu.Unlock()
	r := b.say(n, q)
	return r.text, r.calls, true
}

func (b *bench) emit(_ context.Context, events ...topicqueue.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, events...)
	return nil
}

func (b *bench) runner() *tools.Runner {
	return &tools.Runner{Pages: b, Tools: tools.Set{scriptedTool{"rag_hybrid", func(query string) tools.Result {
		b.mu.Lock()
		b.called = append(b.called, "rag_hybrid: "+query)
		b.mu.Unlock()
		return b.search(query)
	}}}}
}

// PutPage implements tools.Pages.
func (b *bench) PutPage(_ context.Context, _, hash, text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pages[hash] = text
	return nil
}

// Page implements tools.Pages.
func (b *bench) Page(_ context.Context, _, hash string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if text, ok := b.pages[hash]; ok {
		return text, nil
	}
	return "", errors.New("no such page")
}

func (b *bench) ask() answering.Result {
	b.t.Helper()
	result, err := b.a.Answer(b.t.Context(), b.run, topicqueue.Block{ID: "block_1", Title: "The ferry"})
	if err != nil {
		b.t.Fatal(err)
	}
	if result.Calls > b.run.Options.MaxToolCalls || len(b.called) > b.run.Options.MaxToolCalls {
		b.t.Errorf("%d tool calls counted, %d made, %d allowed", result.Calls, len(b.called), b.run.Options.MaxToolCalls)
	}
	if result.Turns > b.run.Options.MaxTurns {
		b.t.Errorf("%d turns, %d allowed", result.Turns, b.run.Options.MaxTurns)
	}
	return result
}

// behaviour is the behaviour of a model and the expected result.
type behaviour struct {
	say    func(n int, q llmtest.Question) reply
	search func(query string) tools.Result
	want   string // part of the answer; empty: there is none
	why    string // part of the cause
	asked  int    // questions; 0: any number
	called int
}

// searchOnce searches first and then answers with this text.
func searchOnce(then string) func(int, llmtest.Question) reply {
	return func(n int, _ llmtest.Question) reply {
		if n == 1 {
			return search("passengers of the ferry in 2025")
		}
		return say(then)
	}
}

// first calls do once before the other behaviour.
func first(r reply, then func(int, llmtest.Question) reply) func(int, llmtest.Question) reply {
	return func(n int, q llmtest.Question) reply {
		if n == 1 {
			return r
		}
		return then(n-1, q)
	}
}

// until makes calls as long as possible and then answers.
func until(calls func(n int) reply) func(int, llmtest.Question) reply {
	return func(n int, q llmtest.Question) reply {
		if q.Schema == nil {
			return say(cited)
		}
		return calls(n)
	}
}

// always gives the same answer.
func always(text string) func(int, llmtest.Question) reply {
	return func(int, llmtest.Question) reply { return say(text) }
}

// behaviours by name: models that make too many, too few or wrong calls.
func behaviours() map[string]behaviour {
	again := func(n int) reply { return search(fmt.Sprint("query ", n)) }
	eight := search("a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8")
	garbled := reply{calls: []llmtest.Call{{Name: "functions.rag_hybrid<|channel|>", Query: "x"}}}
	broken := reply{calls: []llmtest.Call{{Name: "rag_hybrid", Query: " "}, {Name: "rag_hybrid", Query: "ferry\n 2025"}}}
	uncited := func(n int, q llmtest.Question) reply {
		if n == 2 {
			return say("The ferry carried 41,200 passengers.")
		}
		return searchOnce(cited)(n, q)
	}
	emptyOnce := func(n int, q llmtest.Question) reply {
		if n == 2 {
			return say("")
		}
		return searchOnce(cited)(n, q)
	}
	return map[string]behaviour{
		"searches and answers": {say: searchOnce(cited), want: cited, asked: 2, called: 1},
		"never stops calling":  {say: until(again), want: cited, asked: 6, called: 5},
		"calls eight at once":  {say: until(func(int) reply { return eight }), want: cited, asked: 2, called: 5},
		"repeats the same call": {say: until(func(int) reply { return search("ferry passengers") }), want: cited, asked: 6,
			called: 1},
		"answers without looking": {say: always("About 40,000 people took it."),
			why: "cites none of its 1 sources", called: 1},
		"cites what is searched for it": {say: first(say("About 40,000 people took it."), always(cited)), want: cited,
			asked: 2, called: 1},
		"cites when told to": {say: uncited, want: cited, asked: 3, called: 1},
		"calls an unknown tool": {say: first(reply{calls: []llmtest.Call{{Name: "telephone", Query: "x"}}},
			searchOnce(cited)), want: cited, asked: 3, called: 1},
		"garbles the name":          {say: first(garbled, always(cited)), want: cited, asked: 2, called: 1},
		"breaks the queries":        {say: first(broken, always(cited)), want: cited, asked: 2, called: 1},
		"answers with nothing":      {say: searchOnce(""), why: "answer", called: 1},
		"answers with nothing once": {say: emptyOnce, want: cited, asked: 3, called: 1},
		"cites what is not there":   {say: searchOnce("It was 41,200 [CIT-7-07]."), why: "cites none", called: 1},
		"finds nothing": {say: searchOnce("Nothing was found."), why: "found no source", called: 2,
			search: func(string) tools.Result { return tools.Result{} }},
		"the tool fails": {say: searchOnce("Nothing was found."), why: "found no source", called: 2,
			search: func(string) tools.Result { return tools.Result{Failed: true, Text: "the index is away"} }},
	}
}

// TestAnswer: whatever a model does, the conversation ends within its limits, with an answer that cites its sources
// or with a cause.
func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range behaviours() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.say)
			if tc.search != nil {
				b.search = tc.search
			}
			r := b.ask()
			if tc.want == "" && r.Text != "" || !strings.Contains(r.Text, tc.want) {
				t.Errorf("answered %q, want %q", r.Text, tc.want)
			}
			if (tc.why == "") != (r.Why == "") || !strings.Contains(r.Why, tc.why) {
				t.Errorf("because %q, want %q", r.Why, tc.why)
			}
			if tc.asked > 0 && len(b.asked) != tc.asked || len(b.called) != tc.called {
				t.Errorf("%d questions, %d calls %q; want %d and %d", len(b.asked), len(b.called), b.called, tc.asked, tc.called)
			}
			for _, trace := range r.Traces {
				for _, c := range trace.Claims {
					if trace.Source.Text[c.Start:c.End] != c.Quote || c.Quote == "" {
						t.Errorf("claim %s has the quote %q", c.ID, c.Quote)
					}
				}
			}
			if tc.want != "" && (len(r.Traces) != 1 || r.Traces[0].CitationID != "CIT-1-01") {
				t.Errorf("traces %+v", r.Traces)
			}
		})
	}
}

// TestOrderToAnswer: when the calls are used up, the answer is asked for as a text that follows the results.
func TestOrderToAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(n int, q llmtest.Question) reply {
		if q.Schema == nil {
			return say(cited)
		}
		return search(fmt.Sprint("query ", n))
	})
	b.run.Options.MaxToolCalls = 2
	b.ask()
	if first := b.asked[0]; !strings.Contains(first.User, b.run.Topic) || first.Schema == nil {
		t.Errorf("the first question was %+v", first)
	}
	last := b.asked[len(b.asked)-1]
	if at := strings.Index(last.User, fact); len(b.asked) != 3 || last.Schema != nil || at < 0 || at > len(last.User)*9/10 {
		t.Errorf("after %d questions, the last one was %+v", len(b.asked), last)
	}
	if !strings.Contains(last.User, "<material-") {
		t.Errorf("the result is shown as %q", last.User)
	}
}

// TestCompaction: if results do not fit the window, the oldest are shortened. Every source keeps its marker.
func TestCompaction(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("Nothing of this says anything about ships or people. ", 400)
	b := newBench(t, func(n int, q llmtest.Question) reply {
		if q.Schema == nil {
			return say(cited)
		}
		return search(fmt.Sprint("passengers ", n))
	})
	n := 0
	b.search = func(string) tools.Result {
		n++
		return found(fmt.Sprintf("Page %d.\n\n%s\n\n%s", n, long, fact))
	}
	b.a.Window = 16_000
	r := b.ask()
	last := b.asked[len(b.asked)-1]
	size := len(last.User)
	for i := range 5 {
		if id := fmt.Sprintf("[CIT-1-0%d]", i+1); !strings.Contains(last.User, id) {
			t.Errorf("%s is not shown any more", id)
		}
	}
	if size > 20_000 || len(r.Traces) != 1 {
		t.Errorf("the last question has %d bytes; %d traces", size, len(r.Traces))
	}
}

// TestModelAway: a slow model is not waited for beyond its time. An unavailable model is the reason for a missing
// answer.
func TestModelAway(t *testing.T) {
	t.Parallel()
	t.Run("drips", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, func(int, llmtest.Question) reply { return search("ferry") })
		b.stub.Drip = time.Second
		b.a.Patience = time.Now().Add(50 * time.Millisecond)
		if r := b.ask(); r.Text != "" || !r.Away || !strings.Contains(r.Why, "time") {
			t.Errorf("came to %+v", r)
		}
	})
	t.Run("away after the search", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, func(int, llmtest.Question) reply { return search("ferry") })
		b.search = func(string) tools.Result {
			b.a.Patience = time.Now() // the model has no time any more
			return found(fact)
		}
		if r := b.ask(); !r.Away || len(r.Traces) != 1 {
			t.Errorf("came to %+v", r)
		}
	})
}

// once is the journal of the tool calls.
func (b *bench) once(ctx context.Context, place string,
	do func(context.Context) ([]byte, bool, error)) ([]byte, error) {
	b.mu.Lock()
	value, ok := b.kept[place]
	b.mu.Unlock()
	if ok {
		return value, nil
	}
	value, keep, err := do(ctx)
	if err == nil && keep {
		b.mu.Lock()
		b.kept[place] = value
		b.mu.Unlock()
	}
	return value, err
}

// TestSameConversationAgain: a new attempt has the same conversation, and makes no call twice.
func TestSameConversationAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t, func(n int, q llmtest.Question) reply {
		if !strings.Contains(q.User, "[CIT-") {
			return search("ferry 2025", "ferry 2024")
		}
		return say(cited)
	})
	b.kept, b.a.Runner.Once = map[string][]byte{}, b.once
	one := b.ask()
	asked, called := len(b.asked), len(b.called)
	two := b.ask()
	if one.Text != cited || two.Text != cited || len(b.called) != called {
		t.Errorf("answered %q and %q; %d calls, then %d", one.Text, two.Text, called, len(b.called))
	}
	for i, q := range b.asked[asked:] {
		if diff := cmp.Diff(b.asked[i].Messages, q.Messages); diff != "" {
			t.Errorf("question %d differs:\n%s", i+1, diff)
		}
	}
}
