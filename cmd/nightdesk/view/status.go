package view

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Status keeps one live line at the bottom of a terminal, below the printed lines. Elsewhere there are only printed
// lines.
type Status struct {
	out  io.Writer
	Live bool // out is a terminal
}

// NewStatus returns the status of a command that prints to out.
func NewStatus(out io.Writer) *Status { return &Status{out, IsTerminal(out)} }

// Show prints lines, and replaces the live line.
func (s *Status) Show(lines []string, live string) error {
	if !s.Live {
		return PrintLines(s.out, lines)
	}
	var text strings.Builder
	text.WriteString("\r\x1b[K") // to the beginning of the line, and erase it
	for _, line := range lines {
		text.WriteString(Clip(line, 1<<20) + "\n")
	}
	text.WriteString(Clip(live, Width(s.out)-1))
	// If the terminal is gone, ignore the error: the output was for a person.
	_, _ = io.WriteString(s.out, text.String())
	return nil
}

// End removes the live line.
func (s *Status) End() { _ = s.Show(nil, "") }

// Width returns the number of columns of a terminal, or of other outputs a very large number.
func Width(out io.Writer) int {
	f, ok := out.(*os.File)
	if !ok || !IsTerminal(out) {
		return 1 << 20
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns < 1 {
		return 80
	}
	return columns
}
