package tools_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"nightdesk/pipeline/tools"
	"nightdesk/pipeline/tools/websearch"
	"nightdesk/topicqueue"
)

// engines is a search with a fixed answer.
type engines func(ctx context.Context, query string, n int) (websearch.Found, error)

func (e engines) Search(ctx context.Context, query string, n int) (websearch.Found, error) {
	return e(ctx, query, n)
}

func TestWebSearch(t *testing.T) {
	t.Parallel()
	one := topicqueue.Source{Kind: topicqueue.SourceWeb, Title: "One", URL: "https://a.example/1", Date: "2026-01-02", Text: "First words."}
	bare := topicqueue.Source{Kind: topicqueue.SourceWeb, Title: "Bare", URL: "https://a.example/2"}
	two := topicqueue.Source{Kind: topicqueue.SourceWeb, Title: "Two", URL: "https://a.example/3", Text: "Second\nwords."}
	for _, tc := range []struct {
		name, query string
		found       websearch.Found
		err         error
		text        string
		sources     int
		failed      bool
	}{
		{name: "pages", query: " heat \n pumps ", found: websearch.Found{Sources: []topicqueue.Source{one, bare, two}, Others: []topicqueue.Source{bare}, Suggestions: []string{"x"}}, sources: 2,
			text: "[1] One (https://a.example/1, 2026-01-02)\nFirst words.\n\n[2] Two (https://a.example/3)\nSecond\nwords.\n\nWithout an excerpt:\n- Bare (https://a.example/2)"},
		{name: "nothing", query: "heat pumps", text: `web_search found nothing for "heat pumps". Try other or fewer words, or another language.`},
		{name: "nothing, with proposals", query: "heat pumps", found: websearch.Found{Suggestions: []string{"heat pump", "pumps"}},
			text: "web_search found nothing for \"heat pumps\". Try other or fewer words, or another language.\n\nThe search engine proposes: heat pump; pumps"},
		{name: "no excerpt", query: "heat pumps", found: websearch.Found{Sources: []topicqueue.Source{bare}},
			text: "web_search found pages for \"heat pumps\", but no excerpt of them; open_page shows what they say.\n\nWithout an excerpt:\n- Bare (https://a.example/2)"},
		{name: "all failed", query: "heat pumps", failed: true,
			err:  &websearch.FailedError{Errors: []*websearch.Error{{Provider: "searxng", Class: websearch.Refused, Advice: "Check the key.", Err: errors.New("403")}, {Provider: "brave", Class: websearch.Busy, Err: errors.New("429")}}},
			text: "web_search could not search: searxng is not set up for this desk, brave has been asked too often. Go on with other tools; it may work again later."},
		{name: "no query", query: " \n", failed: true, text: "web_search needs a query; it was called without one."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tool := tools.NewWebSearch(engines(func(_ context.Context, query string, n int) (websearch.Found, error) {
				if query != "heat pumps" || n != 6 {
					t.Errorf("asks %q, %d", query, n)
				}
				return tc.found, tc.err
			}), 6)
			got, err := tool.Call(t.Context(), tools.Call{Query: tc.query})
			if err != nil || got.Text != tc.text || len(got.Sources) != tc.sources || got.Failed != tc.failed {
				t.Errorf("%+v, %v", got, err)
			}
			if named := len(tc.found.Sources) - tc.sources + len(tc.found.Others); len(got.Named) != named {
				t.Errorf("%d are named without a text, want %d", len(got.Named), named)
			}
		})
	}
}

func TestWebSearch_Stopped(t *testing.T) {
	t.Parallel()
	stop := errors.New("the run is cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	tool := tools.NewWebSearch(engines(func(context.Context, string, int) (websearch.Found, error) {
		cancel(stop)
		return websearch.Found{}, stop
	}), 6)
	if _, err := tool.Call(ctx, tools.Call{Query: "x"}); !errors.Is(err, stop) {
		t.Error(err)
	}
	if d := tool.Description(); tool.Name() != "web_search" || len(d) < 80 || len(d) > 1000 || !strings.Contains(d, "Query:") {
		t.Errorf("%s: %q", tool.Name(), d)
	}
}
