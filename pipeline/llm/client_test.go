package llm_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
	"nightdesk/topicqueue"
)

func TestGenerateFillsUsageAndSendsWhatIsSet(t *testing.T) {
	t.Parallel()
	var seen llmtest.Question
	stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) { seen = q; return "<think>hm</think>\nIt rains.", true }}
	c := setup(t, stub, nil)
	resp, err := c.Generate(t.Context(), free())
	if err != nil {
		t.Fatal(err)
	}
	if resp.Text != "It rains." || resp.Truncated {
		t.Errorf("answer %+v", resp)
	}
	u := resp.Usage
	if u.PromptTokens == 0 || u.CompletionTokens == 0 || u.Timestamp.IsZero() {
		t.Errorf("usage %+v", u)
	}
	if want := llmtest.Cached(u.PromptTokens); want == 0 || u.CachedTokens != want {
		t.Errorf("%d tokens read from the cache, want %d", u.CachedTokens, want)
	}
	u.PromptTokens, u.CompletionTokens, u.CachedTokens, u.TookMS, u.Timestamp = 0, 0, 0, 0, time.Time{}
	want := topicqueue.Usage{Role: "researcher", Stage: "reporting", Step: "section", Model: "test-model"}
	if diff := cmp.Diff(want, u); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	if seen.System != "You write." || seen.User != "Write about rain." || seen.MaxTokens != 1000 || *seen.Temperature != 0.5 || seen.Model != "test-model" {
		t.Errorf("request %+v", seen)
	}
	if got := seen.Header.Get("Authorization"); got != "Bearer "+testKey {
		t.Errorf("Authorization %q", got)
	}
}

func TestUsageIsEstimatedWhenTheServerTellsNone(t *testing.T) {
	t.Parallel()
	resp, err := setup(t, &llmtest.Stub{NoUsage: true}, func(s *llm.RoleSettings) { s.APIKey = "" }).Generate(t.Context(), free())
	if err != nil || !resp.Usage.Estimated || resp.Usage.PromptTokens < 5 || resp.Usage.CompletionTokens < 5 {
		t.Errorf("usage %+v, error %v", resp.Usage, err)
	}
}

func TestNoKeyNoAuthorization(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-from-the-environment")
	t.Setenv("OPENAI_ORGANIZATION", "org-from-the-environment")
	var seen llmtest.Question
	stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) { seen = q; return "x", true }}
	if _, err := setup(t, stub, func(s *llm.RoleSettings) { s.APIKey = "" }).Generate(t.Context(), free()); err != nil {
		t.Fatal(err)
	}
	if seen.Header.Get("Authorization") != "" || seen.Header.Get("OpenAI-Organization") != "" {
		t.Errorf("headers %v", seen.Header)
	}
}

func TestErrorClasses(t *testing.T) {
	t.Parallel()
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	leak := `{"error":{"message":"Incorrect API key provided: ` + testKey + ` and sk-proj-****cdef","type":"invalid_request_error","code":"invalid_api_key"}}`
	for _, tc := range []struct {
		name    string
		handler http.Handler
		want    []error
		not     []error
		status  int
		says    string
	}{
		{"bad key", status(401, leak), []error{llm.ErrPermanent}, []error{llm.ErrUnavailable}, 401, "check the API key"},
		{"forbidden", status(403, "no"), []error{llm.ErrPermanent}, nil, 403, ""},
		{"no such model", status(404, `{"error":"model 'x' not found"}`), []error{llm.ErrPermanent}, nil, 404, "not found"},
		{"unprocessable", status(422, `{"detail":[{"loc":["body"],"msg":"bad"}]}`), []error{llm.ErrPermanent}, nil, 422, "bad"},
		{"window", status(400, `{"error":{"message":"too long","code":"context_length_exceeded"}}`), []error{llm.ErrPermanent, llm.ErrContextLength}, nil, 400, ""},
		{"window of llama.cpp", status(400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`), []error{llm.ErrPermanent, llm.ErrContextLength}, nil, 400, ""},
		{"no credit", status(429, `{"error":{"message":"quota","code":"insufficient_quota"}}`), []error{llm.ErrPermanent}, nil, 429, "credit"},
		{"busy", status(429, `{}`), []error{llm.ErrUnavailable}, []error{llm.ErrPermanent}, 429, "would be too late"},
		{"broken", status(500, `<html>oops`), []error{llm.ErrUnavailable}, nil, 500, "an HTML page"},
		{"error with status 200", status(200, `{"error":{"message":"upstream","code":502}}`), []error{llm.ErrUnavailable}, nil, 502, "upstream"},
		{"redirect", status(308, ``), []error{llm.ErrPermanent}, nil, 308, "redirects"},
		{"web page with status 200", status(200, "<!doctype html><h1>Welcome"), []error{llm.ErrUnavailable}, nil, 0, "/v1"},
		{"empty body", status(200, ""), []error{llm.ErrUnavailable}, nil, 0, "empty"},
		{"half a body", status(200, `{"choices":[{"mess`), []error{llm.ErrUnavailable}, nil, 0, ""},
		{"no choices", status(200, `{"choices":[]}`), []error{llm.ErrUnavailable}, nil, 0, "without an answer"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := inMemory(t, tc.handler, func(s *llm.RoleSettings) { s.MaxTries = 2 })
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second) // who is busy is asked until then
				defer cancel()
				_, err := c.Generate(ctx, free())
				for _, want := range tc.want {
					if !errors.Is(err, want) {
						t.Errorf("error %v is not %v", err, want)
					}
				}
				for _, not := range tc.not {
					if errors.Is(err, not) {
						t.Errorf("error %v is %v", err, not)
					}
				}
				var perr *llm.ProviderError
				if got := errors.As(err, &perr); got != (tc.status != 0) || got && perr.Status != tc.status {
					t.Errorf("status of %v, want %d", err, tc.status)
				}
				if err != nil && (strings.Contains(err.Error(), testKey) || strings.Contains(err.Error(), "cdef") || !strings.Contains(err.Error(), tc.says)) {
					t.Errorf("message %q", err)
				}
			})
		})
	}
}

func TestConnectionLostInTheBody(t *testing.T) {
	t.Parallel()
	var calls int
	var mu sync.Mutex
	c := setup(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		calls++
		first := calls == 1
		mu.Unlock()
		if first {
			w.Header().Set("Content-Length", "5000")
			_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"half an ans`)
			panic(http.ErrAbortHandler)
		}
		always("whole").ServeHTTP(w, r)
	}), nil)
	resp, err := c.Generate(t.Context(), free())
	if err != nil || resp.Text != "whole" || calls != 2 {
		t.Errorf("%+v, %v, %d calls", resp, err, calls)
	}
}

func TestDeadlineIsNeverAPartialAnswer(t *testing.T) {
	t.Parallel()
	c := setup(t, &llmtest.Stub{Drip: time.Millisecond}, nil)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 25*time.Millisecond)
		resp, err := c.Generate(ctx, free())
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || resp.Text != "" {
			t.Fatalf("%+v, %v", resp, err)
		}
	}
	cause := errors.New("the user cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := c.Generate(ctx, free()); !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestDripEndsWithTheTry(t *testing.T) {
	t.Parallel()
	stub := &llmtest.Stub{Drip: 100 * time.Millisecond}
	start := time.Now()
	_, err := setup(t, stub, func(s *llm.RoleSettings) { s.Timeout = 300 * time.Millisecond; s.MaxTries = 10 }).Generate(t.Context(), free())
	if !errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(), "try 2 of 10") || time.Since(start) > 10*time.Second {
		t.Errorf("%v after %s and %d calls", err, time.Since(start), stub.Stats().Calls)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for name, header := range map[string]string{"seconds": "7", "date": "date"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if header == "date" {
					header = time.Now().Add(7 * time.Second).UTC().Format(http.TimeFormat)
				}
				stub := &llmtest.Stub{Busy: 1, RetryAfter: header}
				start := time.Now()
				if _, err := inMemory(t, stub, nil).Generate(t.Context(), free()); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took != 7*time.Second {
					t.Errorf("waited %s", took)
				}
			})
		})
	}
	t.Run("beyond the deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			start := time.Now()
			stub := &llmtest.Stub{Busy: 1000, RetryAfter: "3600"}
			_, err := inMemory(t, stub, nil).Generate(ctx, free())
			var perr *llm.ProviderError
			if !errors.Is(err, llm.ErrUnavailable) || !errors.As(err, &perr) || perr.RetryAfter != time.Hour {
				t.Error(err)
			}
			if took, calls := time.Since(start), stub.Stats().Calls; took < 59*time.Second || ctx.Err() != nil || calls > 10 {
				t.Errorf("%d calls in %s", calls, took)
			}
		})
	})
	t.Run("beyond the deadline, but the server is back before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			start := time.Now()
			_, err := inMemory(t, &llmtest.Stub{Busy: 1, RetryAfter: "3600"}, nil).Generate(ctx, free())
			if took := time.Since(start); err != nil || took != 30*time.Second {
				t.Errorf("%v after %s", err, took)
			}
		})
	})
}

func TestBackoffGrowsAndIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stub := &llmtest.Stub{Fail: 1000}
		start := time.Now()
		_, err := inMemory(t, stub, func(s *llm.RoleSettings) { s.MaxTries = 10 }).Generate(t.Context(), free())
		// 0.5+1+2+4+8+16+20+20+20 seconds at most
		if took := time.Since(start); !errors.Is(err, llm.ErrUnavailable) || stub.Stats().Calls != 10 || took > 92*time.Second || took < time.Second {
			t.Errorf("%v after %s and %d calls", err, took, stub.Stats().Calls)
		}
	})
}

func TestDownServerNeverHangs(t *testing.T) {
	t.Parallel()
	c := connect(t, llmtest.NewDownServer(t), nil, func(s *llm.RoleSettings) { s.MaxTries = 2 })
	start := time.Now()
	for range 5 {
		if _, err := c.Generate(t.Context(), free()); !errors.Is(err, llm.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("5 calls took %s", took)
	}
}

func TestTruncatedAnswer(t *testing.T) {
	t.Parallel()
	resp, err := setup(t, &llmtest.Stub{FinishAs: "length"}, nil).Generate(t.Context(), free())
	if err != nil || !resp.Truncated {
		t.Errorf("%+v, %v", resp, err)
	}
}

func TestLongAndOddAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 200_000)
	for _, tc := range []struct{ name, body, want string }{
		{"1 MB", fmt.Sprintf(`{"choices":[{"message":{"content":%q}}]}`, long), strings.TrimSpace(long)},
		{"content in parts", `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"finish_reason":null}],"usage":null}`, "ab"},
		{"null content", `{"choices":[{"message":{"content":null},"finish_reason":"function_call"}],"usage":{"prompt_tokens":"many"}}`, ""},
		{"byte order mark", "\uFEFF" + `{"choices":[{"message":{"content":"x"}}]}`, "x"},
		{"no answer but thoughts", `{"choices":[{"message":{"content":"","reasoning_content":"hm"}}]}`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			resp, err := setup(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, tc.body) }), nil).Generate(t.Context(), free())
			if err != nil || resp.Text != tc.want {
				t.Errorf("%.60q, %v", resp.Text, err)
			}
		})
	}
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := strings.Repeat(" ", 1<<20)
		for range 40 {
			if _, err := io.WriteString(w, chunk); err != nil {
				return
			}
		}
	})
	if _, err := setup(t, endless, func(s *llm.RoleSettings) { s.MaxTries = 1 }).Generate(t.Context(), free()); !errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(), "16 MB") {
		t.Errorf("endless body: %v", err)
	}
}

// refuseOver refuses limits above most with this message.
func refuseOver(most int, message string) func(http.ResponseWriter, llmtest.Question) bool {
	return func(w http.ResponseWriter, q llmtest.Question) bool {
		if q.MaxTokens <= most {
			return false
		}
		w.WriteHeader(400)
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": fmt.Sprintf(message, q.MaxTokens)}})
		_, _ = w.Write(body)
		return true
	}
}

func TestFormsAreFoundOutOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name         string
		stub         *llmtest.Stub
		first, again int // requests of the first call and of the second
	}{
		{"temperature", &llmtest.Stub{Refuse: []string{"temperature"}}, 2, 1},
		{"token field", &llmtest.Stub{Refuse: []string{"max_tokens"}}, 2, 1},
		{"both", &llmtest.Stub{Refuse: []string{"max_tokens", "temperature"}}, 3, 1},
		{"limit", &llmtest.Stub{Intercept: refuseOver(300, "max_tokens is too large: %d. This model supports at most 300 completion tokens.")}, 3, 1},
		{"limit by window", &llmtest.Stub{Intercept: refuseOver(600, "This model's maximum context length is 700 tokens. However, you requested 1100 tokens (100 in the messages, %d in the completion). Please reduce the length of the messages or completion.")}, 2, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			c := setup(t, tc.stub, nil)
			for i, want := range []int{tc.first, tc.first + tc.again} {
				if _, err := c.Generate(t.Context(), free()); err != nil || tc.stub.Stats().Calls != want {
					t.Errorf("call %d: %v, %d requests in all, want %d", i+1, err, tc.stub.Stats().Calls, want)
				}
			}
		})
	}
}

// Servers that know only max_tokens silently ignore the newer field, so the answer is not limited.
func TestTokenFieldFitsTheServer(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://api.openai.com/v1":                 llm.TokenFieldCompletion,
		"https://API.openai.com:443/v1":             llm.TokenFieldCompletion,
		"https://desk.openai.azure.com/openai/v1":   llm.TokenFieldCompletion,
		"http://127.0.0.1:8080/v1":                  llm.TokenFieldLegacy,
		"https://models.test/api.openai.com/v1":     llm.TokenFieldLegacy,
		"https://api.openai.com.models.test:443/v1": llm.TokenFieldLegacy,
	} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			var seen llmtest.Question
			stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) { seen = q; return "It rains.", true }}
			c := connect(t, base, &http.Client{Transport: llmtest.Memory{Handler: stub}}, nil)
			if _, err := c.Generate(t.Context(), free()); err != nil {
				t.Fatal(err)
			}
			for _, field := range []string{llm.TokenFieldCompletion, llm.TokenFieldLegacy} {
				if _, sent := seen.Fields[field]; sent != (field == want) {
					t.Errorf("%s is sent: %t, want only %s", field, sent, want)
				}
			}
		})
	}
}

func TestPromptThatCannotFitIsNotSent(t *testing.T) {
	t.Parallel()
	stub := &llmtest.Stub{}
	c := setup(t, stub, func(s *llm.RoleSettings) { s.ContextTokens = 2000 })
	req := free()
	req.Prompt.User = strings.Repeat("rain and snow ", 800)
	_, err := c.Generate(t.Context(), req)
	if !errors.Is(err, llm.ErrContextLength) || !errors.Is(err, llm.ErrPermanent) || stub.Stats().Calls != 0 || !strings.Contains(err.Error(), "2000") {
		t.Errorf("%v, %d calls", err, stub.Stats().Calls)
	}
	var seen int
	stub.Answer = func(q llmtest.Question) (string, bool) { seen = q.MaxTokens; return "x", true }
	req.Prompt.User = strings.Repeat("rain and snow ", 400) // about 1,400 tokens
	if _, err := c.Generate(t.Context(), req); err != nil || seen < 250 || seen > 600 {
		t.Errorf("%v, limit %d", err, seen)
	}
}

// TestDenseTokenizer has a model with more tokens per text than estimated. The client uses the server's count from then
// on, so that no prompt exceeds the window.
func TestDenseTokenizer(t *testing.T) {
	t.Parallel()
	const window = 2000
	stub := &llmtest.Stub{BytesPerToken: 2}
	longest := 0
	stub.Intercept = func(_ http.ResponseWriter, q llmtest.Question) bool {
		longest = max(longest, (len(q.System)+len(q.User))/2)
		return false
	}
	c := setup(t, stub, func(s *llm.RoleSettings) { s.ContextTokens = window })
	req := free()
	if _, err := c.Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for words := 100; words <= 800; words += 50 {
		req.Prompt.User = strings.Repeat("rain ", words)
		switch _, err := c.Generate(t.Context(), req); {
		case err == nil:
			sent++
		case !errors.Is(err, llm.ErrContextLength):
			t.Fatal(err)
		}
	}
	if longest > window || sent < 9 || sent > 13 { // 600 words are 1,500 tokens
		t.Errorf("%d prompts were sent, the longest of %d tokens", sent, longest)
	}
}

func TestNewClientListsAllProblems(t *testing.T) {
	t.Parallel()
	_, err := llm.NewClient(llm.Settings{Roles: map[llm.Role]llm.RoleSettings{
		llm.Writer: {BaseURL: "localhost:8080"},
		llm.Note:   {Model: "m", MaxTries: -1},
	}})
	for _, want := range []string{"writer", "no model name", "base URL", "note", "negative"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %s", err, want)
		}
	}
	if _, err := llm.NewClient(llm.Settings{}); err == nil {
		t.Error("no roles: no error")
	}
	c := setup(t, &llmtest.Stub{}, nil)
	req := free()
	req.Role = llm.Judge
	if _, err := c.Generate(t.Context(), req); !errors.Is(err, llm.ErrPermanent) {
		t.Errorf("unknown role: %v", err)
	}
}
