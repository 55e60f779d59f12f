// Package view is what a command shows to a person: messages, errors with hints, lines that fit a terminal, and the
// live line of a run or a batch. It reads neither the queue nor storage; callers pass in what it shows.
//
// Entry points: [Console], [NewRunScreen] and [Batch].
package view

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/rs/zerolog"
	"golang.org/x/term"
)

// Console is the input and output of a command: results go to Out, messages for a person to Err.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool   // print results as JSON
	Service  string // name of a command that runs until stopped; its messages go to the log
	Log      zerolog.Logger
}

// Say prints one line for a person to Err. A service writes it to its log.
func (c *Console) Say(format string, args ...any) {
	if c.Service != "" {
		c.Log.Info().Msgf(format, args...)
		return
	}
	fmt.Fprintf(c.Err, "nightdesk: "+format+"\n", args...)
}

// Warn is like Say, for problems that the user should fix.
func (c *Console) Warn(format string, args ...any) {
	if c.Service != "" {
		c.Log.Warn().Msgf(format, args...)
		return
	}
	c.Say("warning: "+format, args...)
}

// PrintJSON prints one JSON document to Out. If line is set, the document is on a single line.
func (c *Console) PrintJSON(v any, line bool) error {
	enc := json.NewEncoder(c.Out)
	enc.SetEscapeHTML(false)
	if !line {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// Result prints the only result of a command: as one JSON document, or as a text.
func (c *Console) Result(document any, format string, args ...any) error {
	return c.print(document, false, format, args)
}

// Lines prints the only result of a command: as one JSON document, or as lines of untrusted text.
func (c *Console) Lines(document any, lines []string) error {
	if c.JSON {
		return c.PrintJSON(document, false)
	}
	return PrintLines(c.Out, lines)
}

// Row prints one of several results, or a short one: as JSON on one line, or as a text.
func (c *Console) Row(document any, format string, args ...any) error {
	return c.print(document, true, format, args)
}

func (c *Console) print(document any, line bool, format string, args []any) error {
	if c.JSON {
		return c.PrintJSON(document, line)
	}
	_, err := fmt.Fprintf(c.Out, format, args...)
	return err
}

// Interactive reports whether a person at a terminal can be asked.
func (c *Console) Interactive() bool {
	in, ok := c.In.(*os.File)
	return ok && !c.JSON && term.IsTerminal(int(in.Fd())) && IsTerminal(c.Err)
}

func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
