package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"nightdesk/topicqueue"
)

// What callers branch on. Every error of Client.Generate matches ErrPermanent or ErrUnavailable, or wraps
// context.Cause(ctx) when ctx has ended.
var (
	// ErrPermanent: the same request can never succeed (bad key, unknown model, refused request, prompt too long).
	ErrPermanent = errors.New("retrying will not help")
	// ErrContextLength: the prompt does not fit the model's window. It comes together with ErrPermanent.
	ErrContextLength = errors.New("prompt too long for the model's window")
	// ErrUnavailable: the server could not be reached, failed, or refused for lack of capacity, and the tries are
	// used up.
	ErrUnavailable = errors.New("model not available")
	// ErrBudget: what the run may spend does not suffice for the call. It comes together with ErrUnavailable.
	ErrBudget = errors.New("the budget is used up")
	// ErrAnswer: the model answered, but not with something usable, also when asked again (see AnswerError), or not in
	// time, which comes together with ErrUnavailable.
	ErrAnswer = errors.New("unusable answer")
	// ErrNoTools: the server or the model takes no tools. It comes together with ErrPermanent.
	ErrNoTools = errors.New("the model cannot call tools")
	// ErrTruncated: the token limit cut a free text. Text returns what is usable of it together with this error.
	ErrTruncated = errors.New("answer cut by the token limit")
)

// ProviderError is an error status that a model server answered.
type ProviderError struct {
	Status     int           // HTTP status; the server's own code when it sent an error with status 200
	Code       string        // the server's error code, for example context_length_exceeded; may be empty
	Type       string        // the server's error type; may be empty
	Message    string        // the server's words: one line, at most maxMessage bytes, without the API key
	RetryAfter time.Duration // what the server asked for; 0 = nothing
	Host       string        // of the server, without path and credentials
}

func (e *ProviderError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s answered %d", e.Host, e.Status)
	if kind := cmp.Or(e.Code, e.Type); kind != "" {
		fmt.Fprintf(&b, " (%s)", kind)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&b, "; it asks to wait %s", e.RetryAfter)
	}
	return b.String()
}

// AnswerError is an answer that stayed unusable after the second question.
type AnswerError struct {
	Step   string   // prompt name
	Errors []string // what is wrong with the second answer, with paths
	Text   string   // the second answer, cut to maxMessage bytes
}

func (e *AnswerError) Error() string {
	return fmt.Sprintf("%s: the model's answer is unusable, also when asked again: %s", e.Step,
		topicqueue.Clip(strings.Join(e.Errors, "; "), maxMessage))
}

// Is makes errors.Is(err, ErrAnswer) hold.
func (e *AnswerError) Is(target error) bool { return target == ErrAnswer }

// unavailableError ends a call that its server has not answered.
type unavailableError struct {
	doing string
	why   error  // what the last try came to
	after string // how many tries there were
}

func (e *unavailableError) Error() string {
	return e.doing + ": " + e.why.Error() + e.after + ": " + ErrUnavailable.Error()
}

func (e *unavailableError) Unwrap() []error { return []error{e.why, ErrUnavailable} }

// Why returns the cause of an error of Generate, for a person who need not know which call it ended: what the server
// did instead of answering, else the error's own words.
func Why(err error) string {
	var e *unavailableError
	if errors.As(err, &e) {
		return e.why.Error()
	}
	return err.Error()
}

const maxMessage = 600 // bytes of foreign text in an error: enough for a person, too little to flood a log

// ended is the error of a call whose context has ended. It wraps both the context's error and its cause.
func ended(ctx context.Context, doing string) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("%s: %w", doing, cause)
	}
	return fmt.Errorf("%s: %w: %w", doing, err, cause)
}

// keyLike matches what looks like an API key, also the shortened form in which some servers echo a bad one.
var keyLike = regexp.MustCompile(`\b(sk|pk|gsk|xai|key)-[A-Za-z0-9_*.-]{6,}`)

// minKey is the length of the shortest key that is a secret. Servers without keys are given words such as "none".
const minKey = 8

// redact makes one clipped line of a foreign text and removes the key from it.
func redact(text, key string) string {
	if len(key) >= minKey {
		text = strings.ReplaceAll(text, key, "[redacted]")
	}
	text = keyLike.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "[redacted]")
	return topicqueue.Clip(topicqueue.OneLine(text), maxMessage)
}
