package topicqueue

import (
	"errors"
	"time"
)

// Call is one request to a model server, as it asks the governor for its turn.
type Call struct {
	ID      string    // of the call; all its tries have the same
	Server  string    // whose limits count: a hash of provider, address and key, in which none can be read
	Host    string    // the server's name for people
	Run     string    // run that it belongs to; empty: none
	First   bool      // goes before all others, as calls for reports do
	Tokens  int       // about how many it will use, question and answer together
	Patient bool      // waits while the server is down; else it is told so
	Until   time.Time // when its patience ends; zero: never
	Limits  CallLimits
}

// Waits reports whether the call waits at this time for a server that is down.
func (c Call) Waits(now time.Time) bool {
	return c.Patient && (c.Until.IsZero() || now.Before(c.Until))
}

// CallLimits are the limits of one server that are known beforehand; 0 = none.
type CallLimits struct {
	RequestsPerMinute int
	TokensPerMinute   int
	InFlight          int // at the same time; without it they are learned
}

// Permit is one try's turn. It is given back when the try has ended.
type Permit struct{ ID, Server string }

// CallOutcome says how a try ended.
type CallOutcome string

// The outcomes of a try.
const (
	CallAnswered    CallOutcome = "answered"
	CallUp          CallOutcome = "up"          // no answer that is of use, but the server is well
	CallThrottled   CallOutcome = "throttled"   // refused for being too many
	CallLate        CallOutcome = "late"        // no answer within the time of a try
	CallUnavailable CallOutcome = "unavailable" // nobody there, or a gateway said so
	CallFailed      CallOutcome = "failed"      // the server failed, perhaps at this question alone
	CallInterrupted CallOutcome = "interrupted" // says nothing about the server
)

// CallEnd is what a try comes to.
type CallEnd struct {
	Outcome CallOutcome
	Tokens  int    // really used; below 0: not known
	Why     string // for a person: what was wrong, when the server may be down
}

// CallVerdict is what the governor knows when a try has ended.
type CallVerdict struct {
	Down   bool // the server is down: other tries are held back until it answers again
	Queued bool // the try was late because others were served first, which says nothing about itself
}

// ErrServerDown tells an impatient call that nobody gets an answer at the moment.
var ErrServerDown = errors.New("the server is down")
