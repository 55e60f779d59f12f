package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"nightdesk/pipeline/llm"
	"nightdesk/pipeline/llm/llmtest"
)

func TestQuestionsHaveLimitsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		own, role int
		reasoning bool
		want      int
	}{
		"below the role's":   {200, 1000, false, 200},
		"above the role's":   {2000, 1000, false, 1000},
		"none":               {0, 1000, false, 1000},
		"role without limit": {200, 0, false, 200},
		"reasoning":          {200, 1000, true, 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen llmtest.Question
			stub := &llmtest.Stub{Answer: func(q llmtest.Question) (string, bool) { seen = q; return "It rains.", true }}
			req := free()
			req.Prompt.MaxTokens = tc.own
			c := setup(t, stub, func(s *llm.RoleSettings) { s.MaxTokens, s.Reasoning = tc.role, tc.reasoning })
			if _, err := c.Generate(t.Context(), req); err != nil || seen.MaxTokens != tc.want {
				t.Errorf("limit %d, want %d (%v)", seen.MaxTokens, tc.want, err)
			}
		})
	}
}

// A model that reasons unexpectedly may use up the limit of a question before it answers.
func TestThinkingLiftsTheLimit(t *testing.T) {
	t.Parallel()
	var limits []int
	stub := &llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
		if limits = append(limits, q.MaxTokens); q.MaxTokens > 500 {
			return false
		}
		_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":"<think>Rain is"},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, q.MaxTokens)
		return true
	}}
	c := setup(t, stub, nil)
	structured, free := structured(), free()
	structured.Prompt.MaxTokens, free.Prompt.MaxTokens = 300, 400
	if _, err := llm.Ask[card](t.Context(), c, structured); err != nil {
		t.Error(err)
	}
	if _, err := llm.Text(t.Context(), c, free); err != nil {
		t.Error(err)
	}
	if !slices.Equal(limits, []int{300, 1000, 400, 1000}) {
		t.Errorf("limits %v", limits)
	}
}

// llama-cpp-python reports "tool_calls" for arguments truncated by its limit.
func TestAnswerOfExactlyTheLimitIsCut(t *testing.T) {
	t.Parallel()
	for completion, want := range map[int]bool{999: false, 1000: true, 1001: false} { // more: the server knows no limit
		stub := &llmtest.Stub{Refuse: []string{"response_format"}, Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
			if q.Transport != "tool" {
				return false
			}
			_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"tool_calls":[{"function":{"name":"card","arguments":"{\"title\":"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":%d}}`, completion)
			return true
		}}
		resp, err := setup(t, stub, nil).Generate(t.Context(), structured())
		if err != nil || resp.Truncated != want {
			t.Errorf("%d tokens: truncated %t, %v", completion, resp.Truncated, err)
		}
	}
}

// If the window has no room for the second question, the first one was not too long, so callers need not shorten it.
func TestReaskThatDoesNotFit(t *testing.T) {
	t.Parallel()
	stub := always(`{"title":"` + strings.Repeat("rain ", 2000) + `"}`)
	c := setup(t, stub, func(s *llm.RoleSettings) { s.ContextTokens, s.MaxTokens = 1500, 1000 })
	_, err := llm.Ask[card](t.Context(), c, structured())
	if !errors.Is(err, llm.ErrAnswer) || errors.Is(err, llm.ErrContextLength) || stub.Stats().Calls != 1 {
		t.Errorf("%v after %d calls", err, stub.Stats().Calls)
	}
}

// A late answer is requested once more with half the length.
func TestLateAnswerIsAskedForShorter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var limits []int
		c := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(&llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
				limits = append(limits, q.MaxTokens)
				select {
				case <-time.After(time.Duration(q.MaxTokens) * 15 * time.Millisecond):
				case <-r.Context().Done():
				}
				return false
			}}).ServeHTTP(w, r)
		}), nil)
		resp, err := c.Generate(t.Context(), free())
		if err != nil || !slices.Equal(limits, []int{1000, 500}) {
			t.Errorf("limits %v, %v", limits, err)
		}
		if !resp.Usage.Estimated || resp.Usage.PromptTokens < 2 {
			t.Errorf("the late try is not in the usage: %+v", resp.Usage)
		}
	})
}

// After two late answers the call fails, so that the step can do without it. Other calls are not affected.
func TestLateTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			(&llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
				if strings.Contains(q.User, "long") {
					<-r.Context().Done()
				}
				return false
			}}).ServeHTTP(w, r)
		}), nil)
		long := free()
		long.Prompt.User = "a long one"
		start := time.Now()
		_, err := c.Generate(t.Context(), long)
		if !errors.Is(err, llm.ErrUnavailable) || !errors.Is(err, llm.ErrAnswer) || errors.Is(err, context.Canceled) || time.Since(start) > 21*time.Second {
			t.Errorf("the late call: %v after %s", err, time.Since(start))
		}
		if _, err := c.Generate(t.Context(), free()); err != nil {
			t.Errorf("the next call: %v", err)
		}
	})
}

// A model whose reasoning reaches the limit gets no field for reasoning any more. A model that was truncated later
// keeps it.
func TestCutWhileThinking(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, cut string
		want      []bool // whether each question had a think field
	}{
		{"in the think field", `{ "think" : "Rain, \"rain\", rain`, []bool{true, false, false}},
		{"in the answer", `{"think":"Rain.","title":"Rain, rain`, []bool{true, true, true}},
		{"without it", `Rain, rain`, []bool{true, true, true}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var thinks []bool
			stub := &llmtest.Stub{Intercept: func(w http.ResponseWriter, q llmtest.Question) bool {
				if thinks = append(thinks, strings.Contains(string(q.Schema), `"think"`)); len(thinks) > 1 {
					return false
				}
				_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"length"}]}`, tc.cut)
				return true
			}}
			c := setup(t, stub, nil)
			for range 2 {
				if _, err := llm.Ask[card](t.Context(), c, structured()); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.Equal(thinks, tc.want) {
				t.Errorf("think fields %v, want %v", thinks, tc.want)
			}
		})
	}
}
