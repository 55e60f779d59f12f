package websearch_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"nightdesk/pipeline/tools/websearch"
	"nightdesk/topicqueue"
)

// TestProviders queries each provider as documented, and parses its documented answer.
func TestProviders(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		request string            // method, path and query
		header  map[string]string // that carries the key
		body    map[string]any
		sources []topicqueue.Source
		propose []string
	}{
		{
			name:    "searxng",
			request: "GET /search?categories=general&format=json&q=Who+is+Leo+Messi%3F",
			sources: []topicqueue.Source{
				{Title: "Heat pump", URL: "https://en.wikipedia.org/wiki/Heat_pump", Text: "A heat pump is a device that uses electric power to transfer heat from a colder place to a warmer place."},
				{Title: "Defrost cycles of heat pumps", URL: "https://energy.example.org/heat-pumps/defrost?page=2", Date: "2024-01-15",
					Text: "The defrost cycle of an air-source heat pump takes 5 to 10 minutes & runs the pump backwards."},
				{Title: "How often does yours defrost?", URL: "https://forum.example.net/t/1204"},
				{Title: "Heat pumps in winter", URL: "https://www.example.com/winter/", Text: "Below 5 degrees, moisture freezes on the outdoor coil."},
			},
			propose: []string{"heat pump defrosting", "heat pump defrost cycle time"},
		},
		{
			name:    "tavily",
			request: "POST /search",
			header:  map[string]string{"Authorization": "Bearer " + secretKey},
			body: map[string]any{"query": "Who is Leo Messi?", "search_depth": "basic", "topic": "general", "max_results": 5.0,
				"include_answer": false, "include_raw_content": false},
			sources: []topicqueue.Source{{Title: "Lionel Messi Facts | Britannica", URL: "https://www.britannica.com/facts/Lionel-Messi",
				Text: "Lionel Messi, an Argentine footballer, is widely regarded as one of the greatest football players of his generation. Born in 1987, Messi spent the majority of his career playing for Barcelona, where he won numerous domestic league titles and UEFA Champions League titles. Messi is known for his exceptional dribbling skills, vision, and goal"}},
		},
		{
			name:    "brave",
			request: "GET /res/v1/web/search?count=5&q=Who+is+Leo+Messi%3F&result_filter=web&text_decorations=false",
			header:  map[string]string{"X-Subscription-Token": secretKey},
			sources: []topicqueue.Source{
				{Title: "Brave Search API | Brave", URL: "https://brave.com/search/api/", Date: "2025-11-02", Publisher: "Brave",
					Text: "Power your agents and chatbots with the world's largest independent index of the Web.\nAccess over 30 billion indexed pages with 100 million daily updates."},
				{Title: "Get Started – Brave Search API Documentation", URL: "https://api-dashboard.search.brave.com/app/documentation/web-search/get-started",
					Text: "Complete documentation for integrating the Brave Search API into your application."},
			},
			propose: []string{"brave search API"},
		},
		{
			name:    "serper",
			request: "POST /search",
			header:  map[string]string{"X-Api-Key": secretKey},
			body:    map[string]any{"q": "Who is Leo Messi?", "num": 5.0},
			sources: []topicqueue.Source{
				{Title: "Apple", URL: "https://www.apple.com/", Text: "Discover the innovative world of Apple and shop everything iPhone, iPad, Apple Watch, Mac, and Apple TV, plus explore accessories, entertainment, ..."},
				{Title: "Apple Inc. - Wikipedia", URL: "https://en.wikipedia.org/wiki/Apple_Inc.",
					Text: "Apple Inc. is an American multinational technology company specializing in consumer electronics, software and online services headquartered in Cupertino, ..."},
				{Title: "Apple Inc. | History, Products, Headquarters, & Facts | Britannica", URL: "https://www.britannica.com/topic/Apple-Inc", Date: "2022-08-31",
					Text: "Apple Inc., formerly Apple Computer, Inc., American manufacturer of personal computers, smartphones, tablet computers, computer peripherals, ..."},
			},
			propose: []string{"Who invented the iPhone", "Apple Inc competitors"},
		},
		{
			name:    "exa",
			request: "POST /search",
			header:  map[string]string{"X-Api-Key": secretKey},
			body:    map[string]any{"query": "Who is Leo Messi?", "type": "auto", "numResults": 5.0, "contents": map[string]any{"highlights": true}},
			sources: []topicqueue.Source{{Title: "A Comprehensive Overview of Large Language Models", URL: "https://arxiv.org/pdf/2307.06435.pdf",
				Date: "2023-11-16", Text: "Such requirements have limited their adoption..."}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := provider(t, tc.name, func(w http.ResponseWriter, r *http.Request) {
				if got := r.Method + " " + r.URL.String(); got != tc.request {
					t.Errorf("asks %s", got)
				}
				for name, want := range tc.header {
					if got := r.Header.Get(name); got != want {
						t.Errorf("%s: %q", name, got)
					}
				}
				if r.Header.Get("Accept") != "application/json" {
					t.Errorf("accepts %q", r.Header.Get("Accept"))
				}
				body, _ := io.ReadAll(r.Body)
				if tc.body != nil {
					var got map[string]any
					if err := json.Unmarshal(body, &got); err != nil || r.Header.Get("Content-Type") != "application/json" {
						t.Errorf("%s: %v", r.Header.Get("Content-Type"), err)
					}
					if diff := cmp.Diff(tc.body, got); diff != "" {
						t.Error(diff)
					}
				}
				answers(200, "application/json", fixture(t, tc.name))(w, r)
			})
			found, err := p.Search(t.Context(), "Who is\n Leo Messi?", 5)
			if err != nil {
				t.Fatal(err)
			}
			for i := range tc.sources {
				tc.sources[i].Kind = topicqueue.SourceWeb
				tc.sources[i].Hash = topicqueue.TextHash(tc.sources[i].Text)
				tc.sources[i].ID = topicqueue.SourceID(tc.sources[i])
			}
			want := websearch.Found{Provider: tc.name, Sources: tc.sources, Suggestions: tc.propose}
			if diff := cmp.Diff(want, found, cmpopts.IgnoreFields(topicqueue.Source{}, "RetrievedAt")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestProviders_Refusals: provider-specific messages about keys and plans.
func TestProviders_Refusals(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, provider string
		status         int
		body, advice   string // advice: a part of it
	}{
		{"SearXNG without JSON", "searxng", 403, "<h1>Forbidden</h1>", "add json to search.formats"},
		{"SearXNG behind a password", "searxng", 401, "", "NAME:PASSWORD@HOST"},
		{"not SearXNG", "searxng", 404, "", "start page"},
		{"Tavily's plan", "tavily", 432, `{"detail":{"error":"This request exceeds your plan's set usage limit."}}`, "TAVILY_API_KEY is used up"},
		{"Tavily's pay as you go", "tavily", 433, `{"detail":{"error":"This request exceeds the pay-as-you-go limit."}}`, "TAVILY_API_KEY is used up"},
		{"Brave's token", "brave", 422, `{"type":"ErrorResponse","error":{"id":"7c0","status":422,"code":"SUBSCRIPTION_TOKEN_INVALID","detail":"The provided subscription token is invalid."}}`, "Check BRAVE_API_KEY"},
		{"Serper's key", "serper", 403, `{"message":"Unauthorized.","statusCode":403}`, "Check SERPER_API_KEY"},
		{"Serper's credits", "serper", 400, `{"message":"Not enough credits","statusCode":400}`, "SERPER_API_KEY is used up"},
		{"Exa's credits", "exa", 402, `{"error":"You have exceeded your credits limit.","tag":"NO_MORE_CREDITS"}`, "EXA_API_KEY is used up"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			_, err := provider(t, tc.provider, answers(tc.status, "application/json", []byte(tc.body))).Search(t.Context(), "x", 5)
			if e := refusal(t, err); e.Class != websearch.Refused || !strings.Contains(e.Advice, tc.advice) {
				t.Errorf("%+v: %s", e, e.Advice)
			}
		})
	}
}

func TestSearXNG(t *testing.T) {
	t.Parallel()
	t.Run("engines that do not answer", func(t *testing.T) {
		t.Parallel()
		p := provider(t, "searxng", answers(200, "application/json", []byte(`{"results":[],"unresponsive_engines":[["google","Suspended: CAPTCHA"],["brave","too many requests"]]}`)))
		_, err := p.Search(t.Context(), "x", 5)
		if e := refusal(t, err); e.Class != websearch.Unavailable || !strings.Contains(err.Error(), "google: Suspended: CAPTCHA, brave: too many requests") {
			t.Error(err)
		}
	})
	t.Run("its commands are words", func(t *testing.T) {
		t.Parallel()
		p := provider(t, "searxng", func(w http.ResponseWriter, r *http.Request) {
			if q := r.URL.Query().Get("q"); q != "g heat pumps 3 a<5 C++ <iostream> de" {
				t.Errorf("asks %q", q)
			}
			answers(200, "application/json", []byte(nothing["searxng"]))(w, r)
		})
		if _, err := p.Search(t.Context(), "!!g !heat ::pumps <3 a<5 C++ <iostream> :de", 5); err != nil {
			t.Error(err)
		}
	})
	t.Run("below a path", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{"/searx", "/searx/", "/searx/search"} {
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if user, password, _ := r.BasicAuth(); r.URL.Path != "/searx/search" || user != "desk" || password != secretKey {
					t.Errorf("asks %s of %s", r.URL.Path, user)
				}
				answers(401, "text/plain", []byte("desk "+secretKey))(w, r)
			})
			p := build(t, websearch.Settings{Name: "searxng", BaseURL: strings.Replace(base, "//", "//desk:"+secretKey+"@", 1) + path, Outside: outside(t, 0), Pace: freely{}})
			_, err := p.Search(t.Context(), "x", 5)
			refusal(t, err)
		}
	})
}

func TestNew_Problems(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		s    websearch.Settings
		want string
	}{
		{websearch.Settings{Name: "searxng", Key: secretKey}, "searxng has no default address"},
		{websearch.Settings{Name: "bing", Key: secretKey}, `"bing" is not a search provider: use searxng, tavily, brave, serper, exa`},
	} {
		if _, err := websearch.New(tc.s); err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), secretKey) {
			t.Errorf("%q: %v", tc.s.Name, err)
		}
	}
}
