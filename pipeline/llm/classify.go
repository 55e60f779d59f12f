package llm

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"nightdesk/pipeline/llm/wire"
	"nightdesk/topicqueue"
)

// outcome classifies one exchange for its call.
type outcome int

const (
	answered    outcome = iota
	refused             // the server does not accept the request
	reshaped            // refused, but the changed request may be accepted
	busy                // 429, or no capacity at the moment
	again               // the server asks for a retry, which says nothing about its health
	broken              // no connection, 5xx, or an answer not from the model server
	late                // no answer before the try's timeout
	garbled             // an unreadable answer of the protocol
	interrupted         // the call's context has ended
)

const statusOverloaded = 529 // Anthropic's status for high demand; the server works

// judge classifies one exchange. The error is nil only for answered; it does not match ErrPermanent or ErrUnavailable
// yet.
func (r *role) judge(ex *wire.Exchange, inTime bool, err error) (outcome, error) {
	foreign := ex.Foreign()
	switch {
	case !inTime:
		return late, fmt.Errorf("%s gave no complete answer within %s; if it is slow, allow a model call more time", r.host,
			r.settings.Timeout)
	case foreign != nil:
		return broken, r.tell(foreign, ex.Wanted)
	case errors.Is(ex.Err, wire.ErrBody), errors.Is(ex.Err, wire.ErrBodyTooLarge):
		return garbled, fmt.Errorf("%s: %s", r.host, redact(ex.Err.Error(), r.settings.APIKey))
	case ex.Err != nil:
		return broken, fmt.Errorf("%s: %s", r.host, redact(ex.Err.Error(), r.settings.APIKey))
	case ex.Status == 0: // langchaingo could not build the request
		return refused, &ProviderError{Host: r.host, Status: http.StatusBadRequest,
			Message: redact(fmt.Sprint(err), r.settings.APIKey)}
	case ex.Status == http.StatusOK && ex.Said.Failure == nil:
		if err != nil {
			return garbled, fmt.Errorf("%s: %s", r.host, redact(err.Error(), r.settings.APIKey))
		}
		return answered, nil
	}
	e := r.providerError(ex)
	switch {
	case e.Status == http.StatusTooManyRequests && e.Code != "insufficient_quota":
		return busy, e
	case e.Status == statusOverloaded, e.Type == "overloaded_error", e.Status == http.StatusServiceUnavailable &&
		(e.RetryAfter > 0 || strings.Contains(e.Message, "server busy")):
		return busy, e
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusConflict, e.Status == http.StatusTooEarly:
		return again, e
	case e.Status == http.StatusNotImplemented:
		return refused, e
	case e.Status >= 500:
		return broken, e
	}
	return refused, e
}

// isGateway reports whether a status means that the server cannot be reached, rather than that it failed.
func isGateway(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable ||
		status == http.StatusGatewayTimeout
}

// providerError parses the error object of an answer in the forms used by servers: {"error": {...}}, {"error":
// "text"}, {"message": ...}, {"detail": ...}, or plain text.
func (r *role) providerError(ex *wire.Exchange) *ProviderError {
	e := &ProviderError{Status: ex.Status, RetryAfter: ex.RetryAfter, Host: r.host}
	raw := json.RawMessage(ex.Body)
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message json.RawMessage `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	message := string(ex.Body)
	if json.Unmarshal(raw, &outer) == nil {
		for _, part := range []json.RawMessage{outer.Error, outer.Message, outer.Detail} {
			if len(part) > 0 && string(part) != "null" {
				raw = part
				message = plain(part)
				break
			}
		}
	}
	var inner struct {
		Message json.RawMessage `json:"message"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
		Param   json.RawMessage `json:"param"`
	}
	if json.Unmarshal(raw, &inner) == nil {
		if len(inner.Message) > 0 {
			message = plain(inner.Message)
		}
		if param := plain(inner.Param); param != "" && !strings.Contains(message, param) {
			message += " (" + param + ")"
		}
		e.Code, e.Type = topicqueue.Clip(plain(inner.Code), 80), topicqueue.Clip(plain(inner.Type), 80)
		if status, err := strconv.Atoi(e.Code); err == nil && e.Status == http.StatusOK && status >= 400 && status < 600 {
			e.Status = status // an error forwarded with status 200
		}
	}
	if e.Status == http.StatusOK {
		e.Status = http.StatusBadGateway // the server reports a failure without a status
	}
	if strings.HasPrefix(strings.TrimSpace(message), "<") {
		message = "an HTML page instead of an error message"
	}
	e.Message = redact(message, r.settings.APIKey)
	e.Code, e.Type = redact(e.Code, r.settings.APIKey), redact(e.Type, r.settings.APIKey)
	return e
}

// plain returns the text of a JSON string, and any other value unchanged; null and an empty value give "".
func plain(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// permanent wraps a refusal with its error class and a hint.
func (r *role) permanent(doing string, err error) error {
	var e *ProviderError
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w: %w", doing, err, ErrPermanent)
	}
	if isContextLength(e) {
		return fmt.Errorf("%s: %w: %w: %w", doing, err, ErrContextLength, ErrPermanent)
	}
	hint, status := "", e.Status
	if strings.Contains(e.Message, "credit balance") { // Anthropic answers 400
		status = http.StatusPaymentRequired
	}
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		hint = " (check the API key and what it may use)"
	case http.StatusPaymentRequired, http.StatusTooManyRequests:
		hint = " (the account has no credit left)"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		hint = " (check the model's name and the base URL, which usually ends in /v1)"
		if r.settings.Provider == ProviderOllama {
			hint = " (run `ollama pull " + r.settings.Model + "` on that machine, or check the model's name and the base URL)"
		}
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		hint = " (the server redirects: set the base URL to the address it redirects to)"
	}
	return fmt.Errorf("%s: %w%s: %w", doing, err, hint, ErrPermanent)
}

// tell returns the error for a foreign answer in place of wanted, without the key.
func (r *role) tell(e *wire.Foreign, wanted string) error {
	said := *e
	said.What = redact(e.What, r.settings.APIKey) + ", not with " + wanted
	if e.Page {
		said.What += " (a login page of the network, or a wrong base URL: it usually " + r.protocol.usual + ")"
	}
	return fmt.Errorf("%s %w", r.host, &said)
}
