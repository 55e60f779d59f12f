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

// Errors for callers to test. Every error of Client.Generate matches ErrPermanent or ErrUnavailable, or wraps
// context.Cause(ctx) if ctx has ended.
var (
	// ErrPermanent means that the same request can never succeed (bad key, unknown model, refused request, prompt too
	// long).
	ErrPermanent = errors.New("retrying will not help")
	// ErrContextLength means that the prompt does not fit the model's window. It comes together with ErrPermanent.
	ErrContextLength = errors.New("prompt too long for the model's window")
	// ErrUnavailable means that the server could not be reached, failed, or refused for lack of capacity, and that no
	// tries are left.
	ErrUnavailable = errors.New("model not available")
	// ErrBudget means that the run's budget does not cover the call. It comes together with ErrUnavailable.
	ErrBudget = errors.New("the budget is used up")
	// ErrAnswer means that the model gave no usable answer, even when asked again (see AnswerError), or no answer in
	// time, which comes together with ErrUnavailable.
	ErrAnswer = errors.New("unusable answer")
	// ErrTruncated means that the token limit cut a free text. Text returns the usable part together with this error.
	ErrTruncated = errors.New("answer cut by the token limit")
)

// ProviderError is an error status returned by a model server.
type ProviderError struct {
	Status     int           // HTTP status; the server's own code if it sent an error with status 200
	Code       string        // the server's error code, such as context_length_exceeded; may be empty
	Type       string        // the server's error type; may be empty
	Message    string        // the server's message: one line, at most maxMessage bytes, without the API key
	RetryAfter time.Duration // wait requested by the server; 0: none
	Host       string        // server name, without path and credentials
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

// AnswerError is an answer that is still unusable after the second question.
type AnswerError struct {
	Step   string   // prompt name
	Errors []string // faults of the second answer, with paths
	Text   string   // the second answer, cut to maxMessage bytes
}

// Unusable is the reason in an AnswerError.
const Unusable = "the model's answer is unusable"

func (e *AnswerError) Error() string {
	return fmt.Sprintf("%s: %s, even after a second question: %s", e.Step, Unusable,
		topicqueue.Clip(strings.Join(e.Errors, "; "), maxMessage))
}

// Is makes errors.Is(err, ErrAnswer) hold.
func (e *AnswerError) Is(target error) bool { return target == ErrAnswer }

// unavailableError ends a call that got no answer from its server.
type unavailableError struct {
	doing string
	why   error  // error of the last try
	after string // number of tries
}

func (e *unavailableError) Error() string {
	return e.doing + ": " + e.why.Error() + e.after + ": " + ErrUnavailable.Error()
}

func (e *unavailableError) Unwrap() []error { return []error{e.why, ErrUnavailable} }

// Why returns the cause of an error of Generate without the name of the call, for display: what the server did
// instead of answering, otherwise the error text.
func Why(err error) string {
	var e *unavailableError
	if errors.As(err, &e) {
		return e.why.Error()
	}
	return err.Error()
}

const maxMessage = 600 // bytes of foreign text in an error: enough for a reader, too little to flood a log

// ended returns the error of a call whose context has ended. It wraps both the context's error and its cause.
func ended(ctx context.Context, doing string) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return fmt.Errorf("%s: %w", doing, cause)
	}
	return fmt.Errorf("%s: %w: %w", doing, err, cause)
}

// keyLike matches text that looks like an API key, including the shortened form in which some servers echo a bad key.
var keyLike = regexp.MustCompile(`\b(sk|pk|gsk|xai|key)-[A-Za-z0-9_*.-]{6,}`)

// minKey is the minimum length of a secret key. For servers without keys, words such as "none" are configured.
const minKey = 8

// redact returns a foreign text as one clipped line without the key.
func redact(text, key string) string {
	if len(key) >= minKey {
		text = strings.ReplaceAll(text, key, "[redacted]")
	}
	text = keyLike.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "[redacted]")
	return topicqueue.Clip(topicqueue.OneLine(text), maxMessage)
}
