package llm

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"nightdesk/prompts"
)

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
	return r.learned.found(), took, nil
}
