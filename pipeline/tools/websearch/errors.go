package websearch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"nightdesk/pipeline/tools/fetch"
)

// Class classifies an error of a provider by its meaning for the next request.
type Class int

// Classes of errors.
const (
	Unavailable Class = iota // server or network failure, or timeout: temporary
	Busy                     // too many requests: retry after Error.RetryAfter
	Refused                  // key, plan or settings: permanent until the operator acts
	Malformed                // the answer is not in the provider's format
)

// Error is a failed search of one provider. It contains neither key nor query.
type Error struct {
	Provider   string
	Class      Class
	RetryAfter time.Duration // for Busy: as requested by the provider; 0 if not given
	Advice     string        // for Refused: what the operator has to do
	Err        error
}

// Error returns provider and cause.
func (e *Error) Error() string { return fmt.Sprintf("search with %s: %v", e.Provider, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ours reports whether the provider was not queried because the pace allowed no turn in time.
func (e *Error) ours() bool { return e.Class == Busy && errors.Is(e.Err, context.DeadlineExceeded) }

// Words describes the error for a model.
func (e *Error) Words() string {
	switch {
	case e.Class == Busy:
		return e.Provider + " has been asked too often"
	case e.Class == Refused:
		return e.Provider + " is not set up for this desk"
	case e.Class == Malformed:
		return e.Provider + " gave no usable answer"
	case errors.Is(e.Err, context.DeadlineExceeded):
		return e.Provider + " did not answer in time"
	}
	return e.Provider + " has a failure"
}

// failure classifies a request error.
func (p *Provider) failure(err error) error {
	e := &Error{Provider: p.name, Class: Unavailable, Err: err}
	var status *fetch.StatusError
	var refused *fetch.RefusedError
	switch {
	case errors.As(err, &status):
		if e.Advice = p.operator(status); e.Advice != "" {
			e.Class = Refused
		} else if status.Status == http.StatusTooManyRequests {
			e.Class, e.RetryAfter = Busy, status.RetryAfter
		} else if status.Status == http.StatusServiceUnavailable && status.RetryAfter > 0 {
			e.Class, e.RetryAfter = Busy, status.RetryAfter
		}
	case errors.As(err, &refused) && refused.Reason == fetch.RefusedAddress:
		e.Class, e.Advice = Refused, "Check the address of "+p.name+"."
	case errors.As(err, &refused):
		e.Class = Malformed
	}
	return e
}

// keyAdvice returns the usual advice for a refusal. key: the setting's variable.
func keyAdvice(status int, key string) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return "Check " + key + ": it was rejected, or its plan does not include this search."
	case http.StatusPaymentRequired:
		return "The credit behind " + key + " is used up: top it up, or unset the key, so that this engine is not asked."
	}
	return ""
}
