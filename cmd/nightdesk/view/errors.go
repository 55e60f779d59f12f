package view

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"nightdesk/topicqueue/redisqueue"
)

// Exit codes of every command.
const (
	ExitOK      = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitPartial = 3
)

// Kind says what a caller can do about an error. Each face shows it in its way: a command by its exit code, the API and
// the pages by a status.
type Kind int

const (
	Failure  Kind = iota // nothing: it is a fault of a service or of the program
	Misuse               // give another command line, order or setting
	Missing              // give the name of something that exists
	Conflict             // wait until the state of the named thing allows it
)

type usageError struct {
	error
	kind Kind
}

func (e usageError) Unwrap() error { return e.error }

type endedError struct {
	error
	code int
}

func (e endedError) Unwrap() error { return e.error }

type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

// Usage marks an error that a different command line or setting would avoid.
func Usage(err error) error { return usageError{err, Misuse} }

// NotFound marks the error for the name of something that does not exist, and adds advice.
func NotFound(err error, hint string) error { return usageError{Hint(err, hint), Missing} }

// Refused marks the error for something that is not possible in the present state of a thing, and adds advice.
func Refused(err error, hint string) error { return usageError{Hint(err, hint), Conflict} }

// KindOf returns the kind of an error.
func KindOf(err error) Kind {
	var usage usageError
	errors.As(err, &usage)
	return usage.kind
}

// IsUsage reports whether the caller caused an error.
func IsUsage(err error) bool { return KindOf(err) != Failure }

// Ended gives an exit code to the error of a command that has already printed its result.
func Ended(err error, code int) error { return endedError{err, code} }

// Hint adds advice to an error.
func Hint(err error, hint string) error { return hintError{err, hint} }

// HintOf returns the advice of an error, or "".
func HintOf(err error) string {
	var hint hintError
	errors.As(err, &hint)
	return hint.hint
}

// WithHint appends an error's hint to its text, for errors that are read away from the terminal.
func WithHint(err error) error {
	if hint := HintOf(err); hint != "" {
		return fmt.Errorf("%w. %s", err, hint)
	}
	return err
}

// ExitCode returns the exit code for an error.
func ExitCode(err error) int {
	var ended endedError
	if errors.As(err, &ended) {
		return ended.code
	}
	if IsUsage(err) {
		return ExitUsage
	}
	return ExitFailed
}

// PrintError prints an error, followed by its hint.
func PrintError(w io.Writer, err error) {
	fmt.Fprintf(w, "nightdesk: %s\n", strings.TrimSpace(err.Error()))
	if hint := HintOf(err); hint != "" {
		fmt.Fprintf(w, "  %s\n", hint)
	}
}

// NoSuch returns the error for a name that is neither a run nor a batch.
func NoSuch(name string) error {
	return NotFound(fmt.Errorf("there is no run and no batch %q", name), "`nightdesk list` shows what there is.")
}

// NoBatchError holds the name of an unknown batch.
type NoBatchError string

func (e NoBatchError) Error() string { return fmt.Sprintf("there is no batch %q", string(e)) }

// NoBatch returns the error for an unknown batch. It names the newest of those that exist.
func NoBatch(name string, batches []redisqueue.Batch) error {
	var names []string
	for _, b := range slices.SortedFunc(slices.Values(batches), func(x, y redisqueue.Batch) int {
		return x.CreatedAt.Compare(y.CreatedAt)
	}) {
		names = append(names, b.Name)
	}
	there := strings.Join(names[max(0, len(names)-20):], ", ")
	return NotFound(NoBatchError(name), "There are: "+cmp.Or(there, "none yet"))
}
