// Package llm gives the pipeline access to models: a small Model interface, a client for servers of three protocols,
// and Ask for answers that must fit a JSON schema.
//
// A Request carries everything that a call needs. Run wraps the Model of a process for one run: it stores answers by
// their position in the run. langchaingo builds the requests and reads the texts. Package wire is below it and
// does what langchaingo cannot. Package answer finds the JSON object in a text.
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

// Position identifies a call within a run. It is unique among the calls of the run and is the key of the journal.
type Position struct {
	RunID     string
	Stage     string // planning, researching, reviewing, reporting
	Block     string // block_3; empty outside researching
	Iteration int
	Step      string // name of the prompt; Ask adds ".reask" for its second question
	Ordinal   int    // among equal steps of one iteration
}

// Request is one question to a model.
type Request struct {
	Position Position
	Role     Role
	Prompt   prompts.Prompt
	Valid    func(Response) bool // accepts answers that Run may store; nil: all
	Until    time.Time           // when the call stops waiting for a server that is down; zero: when its context ends
	Limit    int                 // maximum tokens of the answer, below the limits of role and prompt; 0: only those limits
	quick    bool                // one try, without the governor, because a person is waiting
	asked    string              // set by Ask and Text for both of their questions: see func asked
}

// Response is one answer of a model.
type Response struct {
	Text      string           // without reasoning; for a structured question, the raw JSON text from the model
	Truncated bool             // cut by the token limit
	Usage     topicqueue.Usage // filled in by the client, with the provider's figures if available
}

// Estimator is a Model that can estimate the usage of a call in advance.
type Estimator interface {
	// Most returns the model of a call, the estimated tokens of its question, and the maximum tokens of its answer;
	// 0: unknown.
	Most(req Request) topicqueue.Usage
}

// Most returns the maximum usage of a call: from the model if it is an Estimator, otherwise from the prompt.
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
// context.Cause(ctx) if ctx has ended, *ProviderError if a server answered with an error status, and ErrPermanent if
// retrying will not help (bad key, unknown model, prompt too long).
type Model interface {
	Generate(ctx context.Context, req Request) (Response, error)
}
