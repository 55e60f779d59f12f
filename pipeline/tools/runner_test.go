package tools_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"nightdesk/pipeline/tools"
	"nightdesk/topicqueue"
)

// bundle stores texts and counts calls.
type bundle struct {
	mu    sync.Mutex
	texts map[string]string // "run/hash" -> text
	puts  int
	err   error
}

func (b *bundle) PutPage(_ context.Context, runID, hash, text string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.texts == nil {
		b.texts = map[string]string{}
	}
	b.texts[runID+"/"+hash] = text
	b.puts++
	return b.err
}

func (b *bundle) Page(_ context.Context, runID, hash string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.texts[runID+"/"+hash], nil
}

// fake is a tool whose behaviour is set by the test.
type fake func(ctx context.Context, call tools.Call) (tools.Result, error)

func (fake) Name() string        { return "fake" }
func (fake) Description() string { return "A tool of the tests." }
func (f fake) Call(ctx context.Context, call tools.Call) (tools.Result, error) {
	return f(ctx, call)
}

func returns(r tools.Result) fake {
	return func(context.Context, tools.Call) (tools.Result, error) { return r, nil }
}

func TestRunnerStoresAndCompletes(t *testing.T) {
	t.Parallel()
	pages := &bundle{}
	given := []topicqueue.Source{
		{Kind: topicqueue.SourceWeb, URL: "https://a.example", Title: "A", Text: "text"},
		{Kind: topicqueue.SourceWeb, URL: "https://b.example", Title: "B", Text: "text"},
		{Kind: topicqueue.SourceWeb, URL: "https://c.example", Title: "C", Text: "bad \xff byte", Hash: "stale", ID: "stale"},
		{Kind: topicqueue.SourceWeb, URL: "https://d.example", Title: "D", Text: "beyond the limit"},
	}
	r := &tools.Runner{Tools: tools.Set{returns(tools.Result{Text: "answer", Sources: given})}, Pages: pages, Limit: 3}
	answer, err := r.Call(t.Context(), "run_1", "fake", tools.Call{Query: "q"})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Sources) != 3 || answer.Raw != "pages/"+topicqueue.TextHash("answer")+".txt" || answer.OriginalSize != 6 || answer.Truncated {
		t.Errorf("%+v", answer)
	}
	for _, s := range answer.Sources {
		if s.Hash != topicqueue.TextHash(s.Text) || s.ID != topicqueue.SourceID(s) || s.RetrievedAt.IsZero() {
			t.Errorf("not complete: %+v", s)
		}
		if pages.texts["run_1/"+s.Hash] != s.Text {
			t.Errorf("the text of %s is not stored", s.URL)
		}
	}
	if pages.puts != 3 {
		t.Errorf("%d texts are stored, want 3: the answer and two different ones", pages.puts)
	}
	if n := answer.Named; len(n) != 1 || n[0].URL != "https://d.example" || n[0].Text != "" || n[0].Hash != "" || n[0].ID != topicqueue.SourceID(n[0]) {
		t.Errorf("beyond the limit: %+v", n)
	}
	if given[0].Hash != "" {
		t.Error("the tool's own slice was changed")
	}
}

// TestRunnerStoresPrintableText: control sequences in pages, program outputs and search results are neither stored nor
// shown.
func TestRunnerStoresPrintableText(t *testing.T) {
	t.Parallel()
	const dirty, clean = "a \x1b[31mred\u202e\u200b word\x00", "a [31mred word"
	pages := &bundle{}
	r := &tools.Runner{Tools: tools.Set{returns(tools.Result{
		Text: dirty,
		Sources: []topicqueue.Source{{
			Kind: topicqueue.SourceWeb, URL: "https://a.example/\u202e", Title: dirty, Publisher: dirty, Section: []string{dirty},
			Text: dirty, Hash: topicqueue.TextHash(dirty), ID: "stale",
		}},
		Named: []topicqueue.Source{{Kind: topicqueue.SourceWeb, URL: "https://b.example", Title: dirty}},
	})}, Pages: pages}
	answer, err := r.Call(t.Context(), "run_1", "fake", tools.Call{Query: "q"})
	if err != nil {
		t.Fatal(err)
	}
	s := answer.Sources[0]
	for _, text := range []string{answer.Text, s.Text, s.Title, s.Publisher, s.Section[0], answer.Named[0].Title} {
		if text != clean {
			t.Errorf("%q, want %q", text, clean)
		}
	}
	if s.Hash != topicqueue.TextHash(clean) || s.ID == "stale" || s.URL != "https://a.example/" {
		t.Errorf("%+v", s)
	}
	for key, text := range pages.texts {
		if text != clean {
			t.Errorf("%s is stored as %q", key, text)
		}
	}
}

func TestRunnerTruncates(t *testing.T) {
	t.Parallel()
	pages := &bundle{}
	text := "x" + strings.Repeat("é", tools.MaxAnswer/2)
	r := &tools.Runner{Tools: tools.Set{returns(tools.Result{Text: text})}, Pages: pages}
	answer, err := r.Call(t.Context(), "run_1", "fake", tools.Call{})
	if err != nil {
		t.Fatal(err)
	}
	if !answer.Truncated || answer.OriginalSize != len(text) || len(answer.Text) != tools.MaxAnswer-1 || !utf8.ValidString(answer.Text) {
		t.Errorf("truncated %v, %d of %d bytes", answer.Truncated, len(answer.Text), answer.OriginalSize)
	}
	if pages.texts["run_1/"+topicqueue.TextHash(answer.Text)] != answer.Text {
		t.Error("what is stored is not what was answered")
	}
}

func TestRunnerFailures(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, tc := range []struct {
		name   string
		tool   string
		call   fake
		err    error  // of Call
		failed string // else in the text of a failed result
	}{
		{"unknown tool", "web_serach", returns(tools.Result{}), nil, `no tool "web_serach". The tools are: fake.`},
		{"panic", "fake", func(context.Context, tools.Call) (tools.Result, error) { panic("oh") }, nil, "fake crashed"},
		{"the tool says so", "fake", returns(tools.Result{Failed: true, Text: "server refused"}), nil, "server refused"},
		{"error", "fake", func(context.Context, tools.Call) (tools.Result, error) { return tools.Result{}, broken }, broken, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			pages := &bundle{}
			r := &tools.Runner{Tools: tools.Set{tc.call}, Pages: pages, Timeout: time.Minute}
			answer, err := r.Call(t.Context(), "run_1", tc.tool, tools.Call{Query: "q"})
			if !errors.Is(err, tc.err) {
				t.Fatalf("got %v, want %v", err, tc.err)
			}
			if tc.err != nil {
				return
			}
			if !answer.Failed || !strings.Contains(answer.Text, tc.failed) || answer.Raw == "" || pages.puts != 1 {
				t.Errorf("%+v, %d stored", answer, pages.puts)
			}
		})
	}
}

func TestRunnerTimeout(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		heeds bool // the tool heeds its context
	}{{"heeds", true}, {"hangs", false}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				tool := fake(func(ctx context.Context, _ tools.Call) (tools.Result, error) {
					if tc.heeds {
						<-ctx.Done()
						return tools.Result{}, context.Cause(ctx)
					}
					<-release
					return tools.Result{}, nil
				})
				r := &tools.Runner{Tools: tools.Set{tool}, Pages: &bundle{}, Timeout: 30 * time.Second}
				answer, err := r.Call(t.Context(), "run_1", "fake", tools.Call{})
				close(release)
				if err != nil || !answer.Failed || !strings.Contains(answer.Text, "within 30s") || answer.Took != 30*time.Second {
					t.Errorf("%+v, %v", answer, err)
				}
			})
		})
	}
}

func TestRunnerIsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("drained")
	tool := fake(func(ctx context.Context, _ tools.Call) (tools.Result, error) {
		cancel(why)
		<-ctx.Done()
		return tools.Result{Text: "half an answer"}, nil
	})
	pages := &bundle{}
	r := &tools.Runner{Tools: tools.Set{tool}, Pages: pages, Timeout: time.Minute}
	if _, err := r.Call(ctx, "run_1", "fake", tools.Call{}); !errors.Is(err, why) || pages.puts != 0 {
		t.Errorf("%v, %d stored", err, pages.puts)
	}
}

func TestRunnerNeedsStorage(t *testing.T) {
	t.Parallel()
	full := errors.New("disk full")
	r := &tools.Runner{Tools: tools.Set{returns(tools.Result{Text: "answer"})}, Pages: &bundle{err: full}}
	if _, err := r.Call(t.Context(), "run_1", "fake", tools.Call{}); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
}
