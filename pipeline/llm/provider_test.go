package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue/scaletest"
)

var providers = []llm.Provider{llm.ProviderOpenAI, llm.ProviderAnthropic, llm.ProviderOllama}

// forProviders runs a test once per protocol. with makes settings of that protocol.
func forProviders(t *testing.T, test func(t *testing.T, p llm.Provider, with func(*llm.RoleSettings))) {
	for _, p := range providers {
		t.Run(string(p), func(t *testing.T) {
			t.Parallel()
			test(t, p, func(s *llm.RoleSettings) { s.Provider, s.ContextTokens = p, 32768 })
		})
	}
}

func TestProvidersSendWhatIsSet(t *testing.T) {
	t.Parallel()
	forProviders(t, func(t *testing.T, p llm.Provider, with func(*llm.RoleSettings)) {
		var seen llmtest.Question
		stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
			seen = q
			return "<think>hm</think>\nIt rains.", true
		}}
		resp, err := setup(t, stub, with).Generate(t.Context(), free())
		if err != nil || resp.Text != "It rains." || resp.Truncated {
			t.Fatalf("%+v, %v", resp, err)
		}
		stats := stub.Stats()
		if u := resp.Usage; u.Estimated || u.PromptTokens != stats.PromptTokens || u.CompletionTokens != stats.CompletionTokens {
			t.Errorf("usage %+v, the server counted %+v", u, stats)
		}
		if seen.System != "You write." || seen.User != "Write about rain." || seen.MaxTokens != 1000 || seen.Temperature == nil || *seen.Temperature != 0.5 || seen.Model != "test-model" {
			t.Errorf("request %+v", seen)
		}
		if p == llm.ProviderOllama && seen.Window != 32768 {
			t.Errorf("window %d", seen.Window)
		}
		header, want := "Authorization", "Bearer "+testKey
		if p == llm.ProviderAnthropic {
			header, want = "X-Api-Key", testKey
		}
		if got := seen.Header.Get(header); got != want {
			t.Errorf("%s: %q", header, got)
		}
		withoutKey := setup(t, stub, func(s *llm.RoleSettings) { with(s); s.APIKey = "" })
		if _, err := withoutKey.Generate(t.Context(), free()); err != nil || seen.Header.Get(header) != "" {
			t.Errorf("without a key: %v, %s: %q", err, header, seen.Header.Get(header))
		}
	})
}

func TestProvidersAnswerStructuredQuestions(t *testing.T) {
	t.Parallel()
	transports := map[llm.Provider]struct {
		first llm.Transport
		field string // of the request, that asks for it
	}{
		llm.ProviderOpenAI:    {llm.TransportSchema, "response_format"},
		llm.ProviderAnthropic: {llm.TransportTool, "tools"},
		llm.ProviderOllama:    {llm.TransportSchema, "format"},
	}
	forProviders(t, func(t *testing.T, p llm.Provider, with func(*llm.RoleSettings)) {
		want := transports[p]
		var seen []llmtest.Question
		answers := []string{goodCard, "no JSON at all", goodCard}
		stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) {
			seen = append(seen, q)
			return answers[(len(seen)-1)%len(answers)], true
		}}
		c := setup(t, stub, with)
		for range 2 { // the second is asked again
			got, err := llm.Ask[card](t.Context(), c, structured())
			if err != nil || got.Title != "Rain" || len(got.Tags) != 2 {
				t.Fatalf("%+v, %v", got, err)
			}
		}
		if len(seen) != 3 || seen[0].Transport != string(want.first) || !strings.HasPrefix(string(seen[0].Schema), `{"type":"object","properties":{"think"`) {
			t.Errorf("%d questions, the first by %s with %s", len(seen), seen[0].Transport, seen[0].Schema)
		}
		refusing := &llmtest.Stub{Refuse: []string{want.field, "tools"}}
		c = setup(t, refusing, with)
		if _, err := llm.Ask[card](t.Context(), c, structured()); err != nil {
			t.Errorf("without %s: %v", want.field, err)
		}
		if transport, _, err := c.Probe(t.Context(), llm.Researcher); err != nil || transport != llm.TransportPrompt {
			t.Errorf("probe: %s, %v", transport, err)
		}
		never := setup(t, always("no JSON at all"), with)
		if _, err := llm.Ask[card](t.Context(), never, structured()); !errors.Is(err, llm.ErrAnswer) {
			t.Errorf("never an answer: %v", err)
		}
	})
}

func TestProvidersFailAlike(t *testing.T) {
	t.Parallel()
	forProviders(t, func(t *testing.T, p llm.Provider, with func(*llm.RoleSettings)) {
		for _, tc := range []struct {
			name string
			stub *llmtest.Stub
			want error
			says string
		}{
			{"bad key", refusing(p, 401, "invalid x-api-key: "+testKey), llm.ErrPermanent, "check the API key"},
			{"no such model", refusing(p, 404, `model "test-model" not found, try pulling it first`), llm.ErrPermanent, "check the model's name"},
			{"bad request", refusing(p, 400, "messages: that is wrong"), llm.ErrPermanent, "that is wrong"},
			{"prompt too long", refusing(p, 400, "prompt is too long: 208310 tokens > 200000 maximum"), llm.ErrContextLength, "208310"},
			{"question and answer too long", refusing(p, 400, "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"), llm.ErrContextLength, "context limit"},
			{"no credit", refusing(p, 400, "Your credit balance is too low to access the API."), llm.ErrPermanent, "no credit left"},
			{"request too large", refusing(p, 413, "Request exceeds the maximum size"), llm.ErrContextLength, ""},
			{"busy", refusing(p, 429, "slow down"), llm.ErrUnavailable, "would be too late"},
			{"overloaded", refusing(p, 529, "Overloaded"), llm.ErrUnavailable, "529"},
			{"broken", refusing(p, 500, "boom"), llm.ErrUnavailable, "500"},
			{"broken without a word", empty(500), llm.ErrUnavailable, "500"},
			{"refused without a word", empty(400), llm.ErrPermanent, "400"},
			{"nothing with status 200", empty(200), llm.ErrUnavailable, "empty"},
			{"nothing with status 204", empty(204), llm.ErrUnavailable, "204"},
			{"web page", body("<html>Welcome"), llm.ErrUnavailable, "an HTML page, not with a chat completion"},
			{"another protocol", body(`{"object":"list"}`), llm.ErrUnavailable, "not with a chat completion"},
			{"error with status 200", body(`{"type":"error","error":{"type":"api_error","message":"upstream is gone"}}`), llm.ErrUnavailable, "upstream is gone"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					c := inMemory(t, tc.stub, func(s *llm.RoleSettings) { with(s); s.MaxTries = 2 })
					ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // who is busy is asked until then
					defer cancel()
					resp, err := c.Generate(ctx, free())
					if !errors.Is(err, tc.want) || resp.Text != "" {
						t.Fatalf("%+v, %v", resp, err)
					}
					if !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), testKey) {
						t.Errorf("message %q", err)
					}
				})
			})
		}
	})
}

// refusing refuses every request with an error in the format of a provider.
func refusing(p llm.Provider, status int, message string) *llmtest.Stub {
	return &llmtest.Stub{Intercept: func(w http.ResponseWriter, _ llmtest.Question) bool {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(errorOf(p, status, message))
		return true
	}}
}

func errorOf(p llm.Provider, status int, message string) any {
	switch p {
	case llm.ProviderOllama:
		return map[string]string{"error": message}
	case llm.ProviderAnthropic:
		kind := map[int]string{401: "authentication_error", 404: "not_found_error", 400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error"}[status]
		return map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}}
	}
	return map[string]any{"error": map[string]any{"message": message}}
}

func empty(status int) *llmtest.Stub {
	return &llmtest.Stub{Intercept: func(w http.ResponseWriter, _ llmtest.Question) bool { w.WriteHeader(status); return true }}
}

func body(text string) *llmtest.Stub {
	return &llmtest.Stub{Intercept: func(w http.ResponseWriter, _ llmtest.Question) bool {
		_, _ = io.WriteString(w, text)
		return true
	}}
}

func TestProvidersWaitAndTryAgain(t *testing.T) {
	t.Parallel()
	forProviders(t, func(t *testing.T, p llm.Provider, with func(*llm.RoleSettings)) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			stub := &llmtest.Stub{Busy: 1, RetryAfter: "7", Fail: 1}
			if _, err := inMemory(t, stub, with).Generate(t.Context(), free()); err != nil || stub.Stats().Calls != 3 {
				t.Fatalf("%v, %d calls", err, stub.Stats().Calls)
			}
			if took := time.Since(start); took < 7*time.Second || took > 9*time.Second {
				t.Errorf("waited %s", took)
			}
			for _, rush := range []*llmtest.Stub{refusing(p, 529, "Overloaded"), refusing(p, 503, "server busy, please try again.  maximum pending requests exceeded")} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // everybody's rush is no outage, and no try
				_, err := inMemory(t, rush, with).Generate(ctx, free())
				if cancel(); !errors.Is(err, llm.ErrUnavailable) || rush.Stats().Calls < 100 {
					t.Errorf("overloaded: %v after %d calls", err, rush.Stats().Calls)
				}
			}
		})
	})
}

func TestProvidersNeverGivePartOfAnAnswer(t *testing.T) {
	t.Parallel()
	forProviders(t, func(t *testing.T, _ llm.Provider, with func(*llm.RoleSettings)) {
		c := setup(t, &llmtest.Stub{Drip: time.Millisecond}, with)
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), 25*time.Millisecond)
			resp, err := c.Generate(ctx, free())
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || resp.Text != "" {
				t.Fatalf("%+v, %v", resp, err)
			}
		}
		slow := &llmtest.Stub{Drip: 100 * time.Millisecond}
		c = setup(t, slow, func(s *llm.RoleSettings) { with(s); s.Timeout = 200 * time.Millisecond })
		if _, err := c.Generate(t.Context(), free()); !errors.Is(err, llm.ErrUnavailable) || !errors.Is(err, llm.ErrAnswer) {
			t.Errorf("a drip: %v", err)
		}
	})
}

func TestProvidersSayThatAnAnswerWasCut(t *testing.T) {
	t.Parallel()
	for p, reasons := range map[llm.Provider][]string{
		llm.ProviderOpenAI: {"length"}, llm.ProviderAnthropic: {"max_tokens", "model_context_window_exceeded"}, llm.ProviderOllama: {"length"},
	} {
		for _, reason := range reasons {
			resp, err := setup(t, &llmtest.Stub{FinishAs: reason}, func(s *llm.RoleSettings) { s.Provider = p }).Generate(t.Context(), free())
			if err != nil || !resp.Truncated {
				t.Errorf("%s: %+v, %v", p, resp, err)
			}
		}
	}
}

func TestProvidersTakeLongAnswers(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("word ", 200_000))
	forProviders(t, func(t *testing.T, _ llm.Provider, with func(*llm.RoleSettings)) {
		patient := func(s *llm.RoleSettings) { with(s); s.Timeout = scaletest.Patience }
		resp, err := setup(t, always(long), patient).Generate(t.Context(), free())
		if err != nil || resp.Text != long {
			t.Errorf("%d bytes, %v", len(resp.Text), err)
		}
	})
}

func TestProviderSettings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		settings llm.RoleSettings
		says     string
	}{
		{llm.RoleSettings{Provider: "gemini", Model: "m"}, `unknown provider "gemini"`},
		{llm.RoleSettings{Provider: llm.ProviderOllama, Model: "m", BaseURL: "http://[::1"}, "http://127.0.0.1:11434"}, // and the program goes on
		{llm.RoleSettings{Provider: llm.ProviderOllama, Model: "m", BaseURL: "127.0.0.1:11434"}, "http://127.0.0.1:11434"},
	} {
		_, err := llm.NewClient(llm.Settings{Roles: map[llm.Role]llm.RoleSettings{llm.Note: tc.settings}})
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%+v: %v", tc.settings, err)
		}
	}
	for _, tc := range []struct {
		provider  llm.Provider
		base, url string
	}{
		{llm.ProviderOpenAI, "", "https://api.openai.com/v1/chat/completions"},
		{llm.ProviderAnthropic, "", "https://api.anthropic.com/v1/messages"},
		{llm.ProviderAnthropic, "https://proxy.test", "https://proxy.test/v1/messages"},
		{llm.ProviderAnthropic, "https://proxy.test/claude/v1/messages", "https://proxy.test/claude/v1/messages"},
		{llm.ProviderOllama, "", "http://127.0.0.1:11434/api/chat"},
		{llm.ProviderOllama, "http://gpu.test:11434/v1/", "http://gpu.test:11434/api/chat"},
		{llm.ProviderOllama, "https://gpu.test/ollama/api/chat", "https://gpu.test/ollama/api/chat"},
	} {
		var asked string
		stub := &llmtest.Stub{}
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked = r.URL.String(); stub.ServeHTTP(w, r) })
		c := connect(t, tc.base, &http.Client{Transport: llmtest.Memory{Handler: handler}}, func(s *llm.RoleSettings) { s.Provider = tc.provider })
		if _, err := c.Generate(t.Context(), free()); err != nil || asked != tc.url {
			t.Errorf("%s %q: %s, %v", tc.provider, tc.base, asked, err)
		}
	}
}

func TestReach(t *testing.T) {
	t.Parallel()
	forProviders(t, func(t *testing.T, p llm.Provider, with func(*llm.RoleSettings)) {
		reach := func(stub http.Handler) (llm.Reached, error) {
			return setup(t, stub, with).Reach(t.Context(), llm.Researcher)
		}
		has, err := reach(&llmtest.Stub{Models: []string{"other", "test-model"}})
		if err != nil || !has.Has || has.Took <= 0 {
			t.Errorf("has it: %+v, %v", has, err)
		}
		lacks, err := reach(&llmtest.Stub{Models: []string{"other"}})
		if p == llm.ProviderOpenAI { // servers with one model take any name
			if err != nil || lacks.Has || fmt.Sprint(lacks.Others) != "[other]" {
				t.Errorf("lacks it: %+v, %v", lacks, err)
			}
		} else if !errors.Is(err, llm.ErrPermanent) || p == llm.ProviderOllama && !strings.Contains(err.Error(), "ollama pull") {
			t.Errorf("lacks it: %+v, %v", lacks, err)
		}
		if mute, err := reach(&llmtest.Stub{}); p != llm.ProviderAnthropic && (err != nil || mute.Has) {
			t.Errorf("does not tell: %+v, %v", mute, err)
		}
		if _, err := reach(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) })); !errors.Is(err, llm.ErrPermanent) || !strings.Contains(err.Error(), "API key") {
			t.Errorf("bad key: %v", err)
		}
		if _, err := reach(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })); !errors.Is(err, llm.ErrUnavailable) {
			t.Errorf("broken: %v", err)
		}
		down := connect(t, llmtest.NewDownServer(t), nil, with)
		if _, err := down.Reach(t.Context(), llm.Researcher); !errors.Is(err, llm.ErrUnavailable) || strings.Contains(err.Error(), "http://") {
			t.Errorf("down: %v", err)
		}
	})
}
