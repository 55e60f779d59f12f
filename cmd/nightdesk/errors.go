package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Exit codes of every command.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitPartial = 3
)

// usageError marks an error that another command line or setting would avoid.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// resultError ends a command whose result was printed already with an exit code.
type resultError struct {
	error
	code int
}

func (e resultError) Unwrap() error { return e.error }

// hintError adds what to do to an error.
type hintError struct {
	error
	hint string
}

func (e hintError) Unwrap() error { return e.error }

func exitCode(err error) int {
	var result resultError
	if errors.As(err, &result) {
		return result.code
	}
	var usage usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}

func printError(w io.Writer, err error) {
	fmt.Fprintf(w, "nightdesk: %s\n", strings.TrimSpace(err.Error()))
	var hint hintError
	if errors.As(err, &hint) {
		fmt.Fprintf(w, "  %s\n", hint.hint)
	}
}
