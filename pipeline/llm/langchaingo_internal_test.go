package llm

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmc/langchaingo/llms"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// documented are answers from the documentation of each provider.
var documented = map[Provider]struct {
	text, tool string // bodies: of a text, of a call of the tool "note"
	usage      topicqueue.Usage
}{
	ProviderOpenAI: {
		text: `{"id":"chatcmpl-1","object":"chat.completion","created":1741569952,"model":"m","choices":[{"index":0,
			"message":{"role":"assistant","content":"It rains.","refusal":null,"annotations":[]},"logprobs":null,
			"finish_reason":"length"}],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,
			"prompt_tokens_details":{"cached_tokens":8,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`,
		tool: `{"id":"chatcmpl-1","object":"chat.completion","created":1741569952,"model":"m","choices":[{"index":0,
			"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",
			"function":{"name":"note","arguments":"{\"z\":1.0,\"a\":2}"}}]},"finish_reason":"tool_calls"}]}`,
		usage: topicqueue.Usage{PromptTokens: 19, CompletionTokens: 10, CachedTokens: 8},
	},
	ProviderAnthropic: {
		text: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"It rains."}],
			"stop_reason":"max_tokens","stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":10,
			"cache_creation_input_tokens":2,"cache_read_input_tokens":8}}`,
		tool: `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_1",
			"name":"note","input":{"z":1.0,"a":2}}],"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":10}}`,
		usage: topicqueue.Usage{PromptTokens: 19, CompletionTokens: 10, CachedTokens: 8, CacheWriteTokens: 2},
	},
	ProviderOllama: {
		text: `{"model":"m","created_at":"2026-11-22T20:00:00Z","message":{"role":"assistant","content":"It rains."},
			"done_reason":"length","done":true,"total_duration":1,"prompt_eval_count":19,"eval_count":10}`,
		usage: topicqueue.Usage{PromptTokens: 19, CompletionTokens: 10},
	},
}

// TestDocumentedAnswers: text, tool calls, usage and finish reason of documented answers are decoded. The text and
// OpenAI's tool calls are decoded by langchaingo from the original body.
func TestDocumentedAnswers(t *testing.T) {
	t.Parallel()
	for provider, answer := range documented {
		t.Run(string(provider), func(t *testing.T) {
			t.Parallel()
			body := oneLine(answer.text)
			if own, err := langchaingo(t, provider, body); provider != ProviderOllama && (err != nil || own.Choices[0].Content != "It rains.") {
				t.Errorf("langchaingo alone: %+v, %v", own, err)
			}
			resp, err := ask(t, provider, TransportPrompt, body)
			if err != nil || resp.Text != "It rains." || !resp.Truncated {
				t.Errorf("%+v, %v", resp, err)
			}
			got := topicqueue.Usage{}
			got.AddTokens(resp.Usage)
			if d := cmp.Diff(answer.usage, got); d != "" {
				t.Error(d)
			}
			if answer.tool == "" {
				return
			}
			const arguments = `{"z":1.0,"a":2}`
			if resp, err = ask(t, provider, TransportTool, oneLine(answer.tool)); err != nil || resp.Text != arguments {
				t.Errorf("%+v, %v", resp, err)
			}
			own, err := langchaingo(t, provider, oneLine(answer.tool))
			if err != nil || (own.Choices[0].ToolCalls[0].FunctionCall.Arguments == arguments) != (provider == ProviderOpenAI) {
				t.Errorf("langchaingo alone: %+v, %v", own, err)
			}
		})
	}
}

// TestLangchaingo shows why package wire decodes answers too: the result of langchaingo alone, and our result. If a row
// fails because langchaingo has been fixed, the code for it can go; see wire/read.go.
func TestLangchaingo(t *testing.T) {
	t.Parallel()
	failed := func(_ *llms.ContentResponse, err error) bool { return err != nil }
	isTruncated := func(r Response) bool { return r.Truncated }
	for _, row := range []struct {
		name, body string
		provider   Provider
		wrong      func(r *llms.ContentResponse, err error) bool
		text       string
		check      func(r Response) bool // nil: nothing besides the text
	}{
		{"DeepSeek's cache", `{"choices":[{"message":{"content":"x"}}],
			"usage":{"prompt_tokens":9,"completion_tokens":1,"prompt_cache_hit_tokens":4}}`, ProviderOpenAI,
			func(r *llms.ContentResponse, err error) bool {
				return err == nil && r.Choices[0].GenerationInfo["PromptCachedTokens"] == 0
			}, "x", func(r Response) bool { return r.Usage.CachedTokens == 4 }},
		{"counts that are no whole numbers", `{"choices":[{"message":{"content":"x"}}],
			"usage":{"prompt_tokens":9.5,"completion_tokens":"?"}}`, ProviderOpenAI, failed,
			"x", func(r Response) bool { return r.Usage.PromptTokens == 9 }},
		{"old finish reason", `{"choices":[{"message":{"content":"x"},"finish_reason":"function_call"}]}`,
			ProviderOpenAI, failed, "x", nil},
		{"content in parts", `{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}]}`,
			ProviderOpenAI, failed, "ab", nil},
		{"unknown block", `{"type":"message","content":[{"type":"redacted_thinking","data":"?"},
			{"type":"text","text":"x"}]}`, ProviderAnthropic, failed, "x", nil},
		{"no block", `{"type":"message","content":[],"stop_reason":"max_tokens"}`, ProviderAnthropic, failed, "",
			isTruncated},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if own, err := langchaingo(t, row.provider, row.body); !row.wrong(own, err) {
				t.Errorf("langchaingo does it right: %v", err)
			}
			resp, err := ask(t, row.provider, TransportPrompt, row.body)
			if err != nil || resp.Text != row.text || row.check != nil && !row.check(resp) {
				t.Errorf("%d bytes, %+v, %v", len(resp.Text), resp.Usage, err)
			}
		})
	}
	t.Run("arguments that are an object", func(t *testing.T) {
		t.Parallel()
		const body = `{"choices":[{"message":{"tool_calls":[{"function":{"name":"note","arguments":{"b":1,"a":2}}}]}}]}`
		if own, err := langchaingo(t, ProviderOpenAI, body); err == nil {
			t.Errorf("langchaingo does it right: %+v", own)
		}
		if resp, err := ask(t, ProviderOpenAI, TransportTool, body); err != nil || resp.Text != `{"b":1,"a":2}` {
			t.Errorf("%+v, %v", resp, err)
		}
	})
	t.Run("error with status 200", func(t *testing.T) {
		t.Parallel()
		const body = `{"error":{"message":"out of order"}}`
		for _, provider := range []Provider{ProviderOpenAI, ProviderAnthropic} {
			if _, err := langchaingo(t, provider, body); err == nil || strings.Contains(err.Error(), "out of order") {
				t.Errorf("langchaingo does it right: %v", err)
			}
			if _, err := ask(t, provider, TransportPrompt, body); err == nil || !strings.Contains(err.Error(), "out of order") {
				t.Errorf("%s: %v", provider, err)
			}
		}
	})
}

// langchaingo queries a server that answers with body, by langchaingo alone.
func langchaingo(t *testing.T, provider Provider, body string) (resp *llms.ContentResponse, err error) {
	t.Helper()
	s := settingsFor(t, provider, body)
	model, err := protocols[provider].connect(s, http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return model.GenerateContent(t.Context(), []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "?")})
}

// ask makes the same query by a Client.
func ask(t *testing.T, provider Provider, transport Transport, body string) (Response, error) {
	t.Helper()
	s := settingsFor(t, provider, body)
	s.MaxTries = 1
	client, err := NewClient(Settings{Roles: map[Role]RoleSettings{Note: s}})
	if err != nil {
		t.Fatal(err)
	}
	p := prompts.Prompt{Name: "note", User: "?"}
	if transport == TransportTool {
		client.roles[Note].learned.transport = transport
		p.Schema = []byte(`{"type":"object"}`)
	}
	return client.Generate(t.Context(), Request{Role: Note, Prompt: p})
}

func settingsFor(t *testing.T, provider Provider, body string) RoleSettings {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	s, err := RoleSettings{Provider: provider, Model: "m", BaseURL: server.URL}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// oneLine removes the line breaks of a body, because Ollama sends none.
func oneLine(body string) string {
	return strings.ReplaceAll(strings.ReplaceAll(body, "\n", ""), "\t", "")
}

// serving answers every request with one body.
type serving string

func (s serving) RoundTrip(*http.Request) (*http.Response, error) {
	body := io.NopCloser(strings.NewReader(string(s)))
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body}, nil
}

// FuzzAnswerBody: for any answer with status 200, langchaingo accepts the body that it gets, and decodes it to the same
// text.
func FuzzAnswerBody(f *testing.F) {
	for _, a := range documented {
		f.Add([]byte(a.text))
		f.Add([]byte(a.tool))
	}
	for _, seed := range []string{
		`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`,
		`{"choices":[null]}`, `{"error":"x"}`, "<html>",
		`{"type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"},
			{"type":"tool_use","name":"a","input":{"b":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3}}`,
		`{"content":[]}`, `{"content":[null]}`, `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`,
		`{"message":{"content":"a"},"done":false}
		 {"message":{"content":"b"},"done":true,"done_reason":"stop","eval_count":2}`,
		`{"message":{"content":"a"}}{"error":"out of memory"}`, `{"done":true}`, `null null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for provider := range protocols {
			what, ex, given := exchangeOnce(t, provider, body)
			if readable := ex.Err == nil && ex.Said.Failure == nil; (what == answered) != readable {
				t.Fatalf("%s: %q is read as %+v, and judged %d", provider, body, ex, what)
			}
			if what == answered && given.Choices[0].Content != strings.ToValidUTF8(string(ex.Said.Text), "\ufffd") {
				t.Fatalf("%s: %q of %q became %q", provider, ex.Said.Text, body, given.Choices[0].Content)
			}
		}
	})
}

func exchangeOnce(t *testing.T, provider Provider, body []byte) (outcome, *wire.Exchange, *llms.ContentResponse) {
	t.Helper()
	settings, err := RoleSettings{Provider: provider, Model: "m"}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := protocols[provider]
	model, err := p.connect(settings, exchanging(&http.Client{Transport: serving(body)}))
	if err != nil {
		t.Fatal(err)
	}
	r := &role{settings: settings, protocol: p, llm: model}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ex, given, inTime, err := r.exchange(ctx, Request{}, form{})
	what, _ := r.judge(ex, inTime, err)
	return what, ex, given
}
