package topicqueue

import (
	"errors"
	"time"
)

// Call is one request to a model server, as submitted to the governor.
type Call struct {
	ID      string    // call id, shared by all its tries
	Server  string    // server whose limits apply: a one-way hash of provider, address and key
	Host    string    // server name for display
	Run     string    // run that the call belongs to; empty: none
	First   bool      // goes before all other calls, as calls for reports do
	Tokens  int       // estimated tokens of question and answer together
	Patient bool      // waits while the server is down; otherwise the call fails with ErrServerDown
	Until   time.Time // end of its patience; zero: never
	Limits  CallLimits
}

// Waits reports whether, at now, the call waits for a server that is down.
func (c Call) Waits(now time.Time) bool {
	return c.Patient && (c.Until.IsZero() || now.Before(c.Until))
}

// CallLimits are the configured limits of one server; 0 = none.
type CallLimits struct {
	RequestsPerMinute int `json:"requests"`
	TokensPerMinute   int `json:"tokens"`
	InFlight          int `json:"in_flight"` // concurrent calls; 0: learned
}

// Permit allows one try. It is returned when the try has ended.
type Permit struct{ ID, Server string }

// CallOutcome says how a try ended.
type CallOutcome string

// The outcomes of a try.
const (
	CallAnswered    CallOutcome = "answered"
	CallUp          CallOutcome = "up"          // no usable answer, but the server works
	CallThrottled   CallOutcome = "throttled"   // refused because of a rate limit
	CallLate        CallOutcome = "late"        // no answer before the try's timeout
	CallUnavailable CallOutcome = "unavailable" // no connection, or a gateway reported the server unavailable
	CallFailed      CallOutcome = "failed"      // server error, perhaps caused by this request alone
	CallInterrupted CallOutcome = "interrupted" // says nothing about the server
)

// CallEnd is the result of a try.
type CallEnd struct {
	Outcome CallOutcome
	Tokens  int    // tokens actually used; below 0: unknown
	Why     string // the fault, for display, when the server may be down
}

// CallVerdict is the governor's assessment of a finished try.
type CallVerdict struct {
	Down   bool // the server is down; other tries wait until it answers again
	Queued bool // the try was late only because other calls were served first
}

// ErrServerDown is the error for an impatient call to a server that is down.
var ErrServerDown = errors.New("the server is down")
