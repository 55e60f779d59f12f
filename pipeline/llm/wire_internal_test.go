package llm

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// serving answers every request with one body.
type serving string

func (s serving) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(s)))}, nil
}

// Whatever a server answers with status 200: langchaingo does not stumble over what it is given of it, and what was read
// twice is the same.
func FuzzAnswerBody(f *testing.F) {
	for _, seed := range []string{
		`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`, `{"choices":[null]}`, `{"error":"x"}`, "<html>",
		`{"type":"message","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"x"},{"type":"tool_use","name":"a","input":{"b":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3}}`,
		`{"content":[]}`, `{"content":[null]}`, `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`,
		`{"message":{"content":"a"},"done":false}` + "\n" + `{"message":{"content":"b"},"done":true,"done_reason":"stop","eval_count":2}`,
		`{"message":{"content":"a"}}{"error":"out of memory"}`, `{"done":true}`, `null null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for provider, p := range protocols {
			settings, err := RoleSettings{Provider: provider, Model: "m"}.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			model, err := p.connect(settings, exchanging(&http.Client{Transport: serving(body)}))
			if err != nil {
				t.Fatal(err)
			}
			r := &role{settings: settings, protocol: p, llm: model}
			a, parseErr := p.parse(body)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			ex, inTime, err := r.exchange(ctx, Request{}, form{})
			cancel()
			if what, _ := r.judge(ex, inTime, err); (what == answered) != (parseErr == nil && a.failure == nil) {
				t.Fatalf("%s: %q is read as %+v, %v, and judged %d: %v", provider, body, a, parseErr, what, err)
			}
			if parseErr != nil {
				continue
			}
			if again, err := p.parse(p.clean(a)); err != nil || again.prompt != a.prompt || again.completion != a.completion {
				t.Fatalf("%s: clean form of %q: %+v became %+v, %v", provider, body, a, again, err)
			}
		}
	})
}
