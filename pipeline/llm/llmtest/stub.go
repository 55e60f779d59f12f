// Package llmtest provides fake model servers and models.
//
// Stub is an http.Handler that speaks the protocols of OpenAI, Anthropic and Ollama, with or without faults. It does
// not depend on a test and can serve a program. NewServer and NewDownServer wrap it for tests. Script is a Model with
// a scripted answer for each call.
package llmtest

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Stub answers questions: as Anthropic at paths that end in /messages, as Ollama at /api/chat, as OpenAI at any other
// path. The zero value answers at once: structured questions with a valid but arbitrary object (see Generate), other
// questions with a short text. Set the fields before the first request. Safe for concurrent use.
type Stub struct {
	// Answer returns the text of the answer; false: use the stub's own. May be nil.
	Answer func(q Question) (string, bool)
	// Converse answers a question for the next look-ups: with the answer, calls, or both; false: use Answer. May be nil.
	Converse func(q Question) (text string, calls []Call, ok bool)
	// Intercept may answer a request itself, with any status and body; it returns true if it did. May be nil.
	Intercept func(w http.ResponseWriter, q Question) bool

	Refuse        []string      // request fields answered with 400: response_format, tools, temperature, max_tokens, ...
	BreakEvery    int           // every n-th structured answer is broken JSON; 0: none
	Busy          int           // number of first requests answered with 429
	RetryAfter    string        // header of these answers: seconds or an HTTP date
	Fail          int           // number of requests after those answered with 503
	Latency       time.Duration // before each answer
	Drip          time.Duration // between two bytes of an answer; 0: all at once
	NoUsage       bool          // answers have no token counts
	FinishAs      string        // finish_reason, stop_reason or done_reason; empty: that of a complete answer
	BytesPerToken float64       // for counting tokens; 0: 4
	Models        []string      // models that it lists; nil: it refuses to list them

	mu         sync.Mutex
	stats      Stats
	inFlight   int
	structured int
}

// Stats are the counters of a stub.
type Stats struct {
	Calls            int // requests
	Answered         int // with status 200
	MaxInFlight      int
	PromptTokens     int // of answered requests
	CompletionTokens int
}

// Stats returns the counters so far.
func (s *Stub) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

const maxRequest = 16 << 20

func (s *Stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := dialectOf(r.URL.Path)
	if s.tell(w, r) {
		return
	}
	number := s.begin()
	defer s.end()
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return // the client has gone
	}
	q, err := d.read(body)
	if err != nil {
		d.refuse(w, http.StatusBadRequest, "invalid_request", err.Error())
		return
	}
	q.Number, q.Header = number, r.Header.Clone()
	if s.Latency > 0 {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(s.Latency):
		}
	}
	if s.Intercept != nil && s.Intercept(w, q) {
		return
	}
	switch {
	case number <= s.Busy:
		if s.RetryAfter != "" {
			w.Header().Set("Retry-After", s.RetryAfter)
		}
		d.refuse(w, http.StatusTooManyRequests, "rate_limit_exceeded", "too many requests")
		return
	case number <= s.Busy+s.Fail:
		d.refuse(w, http.StatusServiceUnavailable, "overloaded", "try again later")
		return
	}
	for _, field := range s.Refuse {
		if _, sent := q.Fields[field]; sent {
			d.refuse(w, http.StatusBadRequest, "unsupported_parameter",
				fmt.Sprintf("Unsupported parameter: '%s' is not supported with this model.", field))
			return
		}
	}
	text, err := s.say(q)
	if err != nil {
		d.refuse(w, http.StatusBadRequest, "invalid_schema", err.Error())
		return
	}
	s.reply(w, r, d, q, reply{text: text, reason: s.FinishAs})
}

// say determines the text of the answer.
func (s *Stub) say(q Question) (text string, err error) {
	if s.Converse != nil && q.looksUp() {
		if text, calls, ok := s.Converse(q); ok {
			return lookUp(text, calls), nil
		}
	}
	return s.text(q)
}

// tokens returns the number of tokens of a text.
func (s *Stub) tokens(text string) int { return int(float64(len(text))/cmp.Or(s.BytesPerToken, 4)) + 1 }

func (s *Stub) begin() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Calls++
	s.inFlight++
	s.stats.MaxInFlight = max(s.stats.MaxInFlight, s.inFlight)
	return s.stats.Calls
}

func (s *Stub) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inFlight--
}

// text determines the text of the answer.
func (s *Stub) text(q Question) (string, error) {
	text, ok := "", false
	if s.Answer != nil {
		text, ok = s.Answer(q)
	}
	if !ok && q.Schema == nil {
		text = "This is an arbitrary text. It answers a question of " + fmt.Sprint(len(q.User)) + " bytes."
	}
	if q.Schema == nil {
		if whole := Parts(q.User, func(int, string) string { return text }); whole != "" && !strings.Contains(text, "## ") {
			return whole, nil
		}
		return text, nil
	}
	if !ok {
		generated, err := Generate(q.Schema, q.User)
		if err != nil {
			return "", err
		}
		text = string(generated)
	}
	s.mu.Lock()
	s.structured++
	broken := s.BreakEvery > 0 && s.structured%s.BreakEvery == 0
	s.mu.Unlock()
	if broken {
		text = strings.Replace(text, ":", " is ", 1) + " and so on"
	}
	return text, nil
}

func (s *Stub) reply(w http.ResponseWriter, r *http.Request, d dialect, q Question, a reply) {
	prompt, completion := s.tokens(q.System+q.User), s.tokens(a.text)
	if !s.NoUsage {
		a.prompt, a.completion = prompt, completion
	}
	body := d.reply(q, a)
	s.mu.Lock()
	s.stats.Answered++
	s.stats.PromptTokens += prompt
	s.stats.CompletionTokens += completion
	s.mu.Unlock()
	contentType := d.contentType
	if string(q.Fields["stream"]) == "true" && d.stream != nil {
		contentType, body = "text/event-stream", d.stream(q, body)
	}
	w.Header().Set("Content-Type", contentType)
	if s.Drip == 0 {
		_, _ = w.Write(body) // the client may have gone
		return
	}
	for _, b := range body {
		if _, err := w.Write([]byte{b}); err != nil {
			return
		}
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
			return
		case <-time.After(s.Drip):
		}
	}
}
