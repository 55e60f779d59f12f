package view

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Exit codes of every command.
const (
	ExitOK      = 0
	ExitFailed  = 1
	ExitUsage   = 2
	ExitPartial = 3
)

type usageError struct{ error }

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
func Usage(err error) error { return usageError{err} }

// IsUsage reports whether an error was marked by Usage.
func IsUsage(err error) bool { return errors.As(err, new(usageError)) }

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
