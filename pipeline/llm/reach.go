package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"nightdesk/pipeline/llm/wire"
)

const (
	reachTime   = 20 * time.Second
	maxListed   = 5
	maxListBody = 4 << 20
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
	tryCtx, cancel := context.WithTimeout(ctx, min(r.settings.Timeout, reachTime))
	defer cancel()
	start := time.Now()
	ex, err := r.show(tryCtx)
	took := time.Since(start)
	switch {
	case ctx.Err() != nil:
		return Reached{}, ended(ctx, doing)
	case err != nil:
		var outer *url.Error
		if errors.As(err, &outer) { // it would include the full address
			err = outer.Err
		}
		return Reached{Took: took}, fmt.Errorf("%s: %s: %s: %w", doing, r.host, redact(err.Error(), r.settings.APIKey),
			ErrUnavailable)
	}
	if foreign := ex.Foreign(); foreign != nil {
		return Reached{Took: took}, fmt.Errorf("%s: %w: %w", doing, r.tell(foreign, "a list of models"), ErrUnavailable)
	}
	if ex.Status == http.StatusOK {
		has, others := r.protocol.models(ex.Body, r.settings.Model)
		return Reached{Has: has, Others: others, Took: took}, nil
	}
	e := r.providerError(ex)
	switch e.Status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		if e.Type != "not_found_error" && !isAboutModel(e) {
			return Reached{Took: took}, nil
		}
	case http.StatusTooManyRequests, statusOverloaded:
		return Reached{Took: took}, fmt.Errorf("%s: %w: %w", doing, e, ErrUnavailable)
	}
	if e.Status >= 500 {
		return Reached{Took: took}, fmt.Errorf("%s: %w: %w", doing, e, ErrUnavailable)
	}
	return Reached{Took: took}, r.permanent(doing, e)
}

// show sends the protocol's request about models.
func (r *role) show(ctx context.Context) (*wire.Exchange, error) {
	req, err := r.protocol.show(ctx, r.settings)
	if err != nil {
		return nil, err
	}
	return wire.Fetch(r.client, req, maxListBody)
}

func showOpenAI(ctx context.Context, s RoleSettings) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.BaseURL+"/models", nil)
	if err == nil && s.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+s.APIKey)
	}
	return req, err
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

func showAnthropic(ctx context.Context, s RoleSettings) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.BaseURL+"/models/"+url.PathEscape(s.Model), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Anthropic-Version", "2023-06-01")
	if s.APIKey != "" {
		req.Header.Set("X-Api-Key", s.APIKey)
	}
	return req, nil
}

func showOllama(ctx context.Context, s RoleSettings) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.BaseURL+"/api/show",
		bytes.NewReader(wire.Encode(map[string]string{"model": s.Model})))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.APIKey != "" {
		req.Header.Set("Authorization", "Bearer "+s.APIKey)
	}
	return req, nil
}

// shown parses the description of one model, which may be any non-empty JSON object.
func shown(body []byte, _ string) (has bool, others []string) {
	var description map[string]json.RawMessage
	return json.Unmarshal(body, &description) == nil && len(description) > 0, nil
}
