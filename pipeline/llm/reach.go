package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/prompts"
)

const (
	reachTime = 20 * time.Second
	maxListed = 5
)

// Reached is a server's response to a check without a question to a model.
type Reached struct {
	Has    bool          // the server reports that it has the model
	Others []string      // other models that it lists, at most five; servers with one model often accept any name
	Took   time.Duration // time until its answer
}

// Reach checks whether a role's server accepts the key and has the model. It makes one try and uses no tokens. It is
// not an error if the server works but does not list models; Has and Others are then empty.
//
// The error says what to do. It matches ErrPermanent (bad key, no such model) or ErrUnavailable, or wraps
// context.Cause(ctx).
func (c *Client) Reach(ctx context.Context, name Role) (Reached, error) {
	r, ok := c.roles[name]
	if !ok {
		return Reached{}, fmt.Errorf("reach: role %q has no model: %w", name, ErrPermanent)
	}
	doing := "ask for the model " + r.settings.Model
	start := time.Now()
	path, payload := r.protocol.show(r.settings.Model)
	ex, inTime := r.fetch(ctx, path, payload, min(r.settings.Timeout, reachTime), "a list of models", wire.Object)
	reached := Reached{Took: time.Since(start)}
	if ctx.Err() != nil {
		return Reached{}, ended(ctx, doing)
	}
	var e *ProviderError
	what, err := r.judge(ex, inTime, nil)
	switch {
	case what == answered:
		reached.Has, reached.Others = r.protocol.models(ex.Body, r.settings.Model)
		return reached, nil
	case what != refused:
		return reached, fmt.Errorf("%s: %w: %w", doing, err, ErrUnavailable)
	case errors.As(err, &e) && e.Type != "not_found_error" && !isAboutModel(e) && slices.Contains(
		[]int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented}, e.Status):
		return reached, nil
	}
	return reached, r.permanent(doing, err)
}

// listedOpenAI parses a list of models.
func listedOpenAI(body []byte, model string) (has bool, others []string) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(body, &list) != nil {
		return false, nil
	}
	for _, m := range list.Data {
		others = append(others, redact(m.ID, ""))
	}
	if slices.Contains(others, model) {
		return true, nil
	}
	return false, others[:min(len(others), maxListed)]
}

// shown parses the description of one model, which may be any non-empty JSON object.
func shown(body []byte, _ string) (has bool, others []string) {
	var description map[string]json.RawMessage
	return json.Unmarshal(body, &description) == nil && len(description) > 0, nil
}

// Probe asks a role's model a tiny structured question, with one try. It returns the transport that worked and the
// duration of the answer. The error says what to do. ErrAnswer without ErrUnavailable means that the model answers,
// but not in JSON.
func (c *Client) Probe(ctx context.Context, name Role) (Transport, time.Duration, error) {
	r, ok := c.roles[name]
	if !ok {
		return "", 0, fmt.Errorf("probe: role %q has no model: %w", name, ErrPermanent)
	}
	type sum struct {
		Sum int `json:"sum"`
	}
	schema := json.RawMessage(`{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"],` +
		`"additionalProperties":false}`)
	start := time.Now()
	_, err := Ask[sum](ctx, c, Request{
		Position: Position{Stage: "probe", Step: "probe"},
		Role:     name,
		quick:    true,
		Prompt: prompts.Prompt{
			Name:   "probe",
			System: "You answer with one JSON object that fits this JSON Schema: " + string(schema),
			User:   "What is two plus three?",
			Schema: schema,
		},
	})
	took := time.Since(start)
	if err != nil {
		return "", took, err
	}
	return r.learned.known().transport, took, nil
}
