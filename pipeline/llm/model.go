// Package llm gives the pipeline its models: one small Model interface, a client for servers of three protocols
// underneath, and Ask for answers that must fit a JSON schema.
//
// Everything that one call needs travels in Request. Decorators (Recorded, Journaled) wrap a Model and see every call
// with its position in the run. langchaingo builds the requests and reads the texts; package wire is below it and
// does what it cannot; package answer finds the JSON object in a text.
package llm

import (
	"context"
	"time"

	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Role selects the model, temperature and token limit of a call.
type Role string

// The roles of a run.
const (
	Planner    Role = "planner"
	Researcher Role = "researcher" // decides
	Note       Role = "note"       // compresses
	Writer     Role = "writer"
	Judge      Role = "judge"
)

// Position says where in a run a call stands. Two calls of a run never share one: it is the key of the journal.
type Position struct {
	RunID     string
	Stage     string // planning, researching, reviewing, reporting
	Block     string // block_3; empty outside researching
	Iteration int
	Step      string // name of the prompt; Ask adds ".reask" for its second question
	Ordinal   int    // among equal steps of one iteration
}

// Request is one question.
type Request struct {
	Position Position
	Role     Role
	Prompt   prompts.Prompt
	Valid    func(Response) bool // what Journaled may keep; nil: every answer
	Until    time.Time           // when the call stops waiting for a server that is down; zero: with its context
	Limit    int                 // tokens that the answer may have, below what role and prompt allow; 0: as these say
	Turns    []Turn              // what followed the prompt, in a conversation
	Tools    []Tool              // that the model may call; see CallsTools
	NoCalls  bool                // the model knows Tools from Turns and may call none any more
	asked    string              // set by Ask and Text for both of their questions: see asked
}

// Response is one answer.
type Response struct {
	Text      string           // without reasoning; for a structured question the raw JSON text as the model gave it
	Truncated bool             // the token limit cut it
	Calls     []ToolCall       `json:",omitempty"` // that the model asks for, in its order
	Usage     topicqueue.Usage // filled in by the client, provider's figures where given
}

// Estimator is a Model that knows beforehand what a call can use.
type Estimator interface {
	// Most returns the model of a call, about how many tokens its question has, and how many its answer may have; 0:
	// not known.
	Most(req Request) topicqueue.Usage
}

// Most returns what a call can use at the most: as its model knows, else as the prompt says. See Estimator.
func Most(m Model, req Request) topicqueue.Usage {
	if e, ok := m.(Estimator); ok {
		return e.Most(req)
	}
	u := usageFor(req, time.Time{})
	u.PromptTokens, u.CompletionTokens = promptTokens(req.Prompt), req.Prompt.MaxTokens
	return u
}

// Model answers questions. Implementations are safe for concurrent use.
//
// Generate returns either a whole answer or an error, never part of an answer with a nil error. Errors wrap
// context.Cause(ctx) when ctx has ended, *ProviderError when a server answered with an error status, and ErrPermanent
// when retrying will not help (bad key, unknown model, prompt too long).
type Model interface {
	Generate(ctx context.Context, req Request) (Response, error)
}
