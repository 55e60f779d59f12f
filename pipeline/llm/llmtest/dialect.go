package llmtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// dialect is one of the protocols of a Stub.
type dialect struct {
	contentType string
	read        func(body []byte) (Question, error)
	reply       func(q Question, a reply) []byte
	stream      func(q Question, body []byte) []byte       // converts the body to a stream; nil: reply writes one
	refusal     func(status int, code, message string) any // error as JSON
}

// reply is an answer before it is encoded for a dialect.
type reply struct {
	text               string
	reason             string // empty: that of a complete answer
	prompt, completion int    // tokens; 0: not reported
}

func (a reply) reasonOr(whole string) string {
	if a.reason != "" {
		return a.reason
	}
	return whole
}

func dialectOf(path string) dialect {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return dialect{"application/json", readAnthropic, replyAnthropic, streamAnthropic, refuseAnthropic}
	case strings.HasSuffix(path, "/api/chat"):
		return dialect{"application/x-ndjson", readOllama, replyOllama, nil, refuseOllama}
	}
	return dialect{"application/json", readOpenAI, replyOpenAI, streamOpenAI, refuseOpenAI}
}

func (d dialect) refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(d.refusal(status, code, message)) // the client may have gone
}

// refuse writes an error in the format of OpenAI.
func refuse(w http.ResponseWriter, status int, code, message string) {
	dialect{refusal: refuseOpenAI}.refuse(w, status, code, message)
}

// Cached returns the number of question tokens that the stub reports as read from its cache, in dialects that have
// this.
func Cached(prompt int) int { return prompt / 3 }

func mustEncode(answer any) []byte {
	body, err := json.Marshal(answer)
	if err != nil {
		panic("encode a stub's answer: " + err.Error())
	}
	return body
}

func refuseOpenAI(_ int, code, message string) any {
	return map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error",
		"code": code, "param": nil}}
}

func replyOpenAI(q Question, a reply) []byte {
	message, reason := map[string]any{"role": "assistant", "content": a.text}, "stop"
	if q.Transport == "tool" {
		message["content"] = nil
		message["tool_calls"] = []any{map[string]any{
			"id": fmt.Sprintf("call_%d", q.Number), "type": "function",
			"function": map[string]any{"name": q.Name, "arguments": a.text},
		}}
		reason = "tool_calls"
	}
	answer := map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", q.Number), "object": "chat.completion", "created": 1, "model": q.Model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": a.reasonOr(reason)}},
	}
	if a.prompt > 0 {
		answer["usage"] = map[string]any{"prompt_tokens": a.prompt, "completion_tokens": a.completion,
			"total_tokens":          a.prompt + a.completion,
			"prompt_tokens_details": map[string]int{"cached_tokens": Cached(a.prompt)}}
	}
	return mustEncode(answer)
}

// tell answers requests about models, in all dialects; false if r is not such a request.
func (s *Stub) tell(w http.ResponseWriter, r *http.Request) bool {
	d, body := dialectOf(""), any(nil)
	_, name, one := strings.Cut(r.URL.Path, "/models/")
	switch {
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		list := make([]any, len(s.Models))
		for i, m := range s.Models {
			list[i] = map[string]string{"id": m, "object": "model"}
		}
		name, body = "", map[string]any{"object": "list", "data": list}
	case r.Method == http.MethodGet && one:
		d, body = dialectOf("/messages"), map[string]string{"type": "model", "id": name}
	case strings.HasSuffix(r.URL.Path, "/api/show"):
		var question struct {
			Model string `json:"model"`
		}
		_ = json.NewDecoder(r.Body).Decode(&question) // other requests have no model
		d, name, body = dialectOf("/api/chat"), question.Model, map[string]any{"details": map[string]any{}}
	default:
		return false
	}
	switch {
	case s.Models == nil:
		d.refuse(w, http.StatusNotFound, "not_found", "404 page not found")
	case name != "" && !slices.Contains(s.Models, name):
		d.refuse(w, http.StatusNotFound, "not_found", fmt.Sprintf("model '%s' not found", name))
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(mustEncode(body)) // the client may have gone
	}
	return true
}
