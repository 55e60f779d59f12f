package llmtest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"nightdesk/pipeline/llm"
)

// Reply is one scripted answer.
type Reply struct {
	Text      string
	Truncated bool
	Err       error                     // returned instead of an answer
	Check     func(req llm.Request)     // inspects the question first; may be nil
	Wait      func(ctx context.Context) // called before answering, for example to block until a test continues; may be nil
}

// Answer returns a Reply with this text.
func Answer(text string) Reply { return Reply{Text: text} }

// Script is a Model that returns the replies of each prompt in order. A call without a reply fails the test at once;
// a reply without a call fails it at the end. Safe for concurrent use.
type Script struct {
	t       testing.TB
	mu      sync.Mutex
	replies map[string][]Reply
	calls   []llm.Request
}

var _ llm.Model = (*Script)(nil)

// NewScript returns a Script. replies are by prompt name (decide, note, ...). A second question of Ask counts as
// another call of the same name.
func NewScript(t testing.TB, replies map[string][]Reply) *Script {
	t.Helper()
	s := &Script{t: t, replies: map[string][]Reply{}}
	for name, list := range replies {
		s.replies[name] = append([]Reply(nil), list...)
	}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for name, left := range s.replies {
			if len(left) > 0 {
				t.Errorf("script: prompt %q was called %d times too few", name, len(left))
			}
		}
	})
	return s
}

// Generate implements llm.Model.
func (s *Script) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, context.Cause(ctx)
	}
	reply, ok := s.next(req)
	if !ok {
		s.t.Errorf("script: prompt %q was called once too often (position %+v)", req.Prompt.Name, req.Position)
		return llm.Response{}, fmt.Errorf("script: no reply left for prompt %q: %w", req.Prompt.Name, llm.ErrPermanent)
	}
	if reply.Check != nil {
		reply.Check(req)
	}
	if reply.Wait != nil {
		reply.Wait(ctx)
		if ctx.Err() != nil {
			return llm.Response{}, context.Cause(ctx)
		}
	}
	if reply.Err != nil {
		return llm.Response{}, reply.Err
	}
	resp := llm.Response{Text: reply.Text, Truncated: reply.Truncated}
	resp.Usage.PromptTokens = llm.EstimateTokens(req.Prompt.System) + llm.EstimateTokens(req.Prompt.User)
	resp.Usage.CompletionTokens = llm.EstimateTokens(reply.Text)
	resp.Usage.Estimated = true
	return resp, nil
}

func (s *Script) next(req llm.Request) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, req)
	list := s.replies[req.Prompt.Name]
	if len(list) == 0 {
		return Reply{}, false
	}
	s.replies[req.Prompt.Name] = list[1:]
	return list[0], true
}

// Calls returns the questions so far, in order.
func (s *Script) Calls() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]llm.Request(nil), s.calls...)
}
