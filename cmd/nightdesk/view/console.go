// Package view is what a person sees of a command: messages and errors with hints, lines that fit a terminal, and the
// live lines of a run or a batch. It reads no queue and no storage: it shows what it is given.
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

// Console is where a command reads and prints: results go to Out, messages for a person to Err.
type Console struct {
	In       io.Reader
	Out, Err io.Writer
	JSON     bool   // results are JSON
	Service  string // name of the command when it runs until it is stopped: its messages are lines of its log
	Log      zerolog.Logger
}

// Say prints one line for a person on standard error. A service writes it to its log.
func (c *Console) Say(format string, args ...any) {
	if c.Service != "" {
		c.Log.Info().Msgf(format, args...)
		return
	}
	fmt.Fprintf(c.Err, "nightdesk: "+format+"\n", args...)
}

// Warn is Say for what a person should change.
func (c *Console) Warn(format string, args ...any) {
	if c.Service != "" {
		c.Log.Warn().Msgf(format, args...)
		return
	}
	c.Say("warning: "+format, args...)
}

// PrintJSON prints one document on standard output; line: on a line of its own.
func (c *Console) PrintJSON(v any, line bool) error {
	enc := json.NewEncoder(c.Out)
	enc.SetEscapeHTML(false)
	if !line {
		enc.SetIndent("", "  ")
	}
	return enc.Encode(v)
}

// Interactive reports whether somebody at a terminal can be asked.
func (c *Console) Interactive() bool {
	in, ok := c.In.(*os.File)
	return ok && !c.JSON && term.IsTerminal(int(in.Fd())) && IsTerminal(c.Err)
}

func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
