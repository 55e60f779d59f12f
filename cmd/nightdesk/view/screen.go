package view

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Screen keeps live lines at the bottom of a terminal, below what has been printed. It uses nothing but the two
// sequences that every terminal knows, cursor up and clear to the end, because its lines come and go and must fit the
// terminal's height and width as they are now, characters of two columns included.
type Screen struct {
	out   io.Writer
	Size  func() (columns, rows int)
	drawn []int // Columns of each live line
}

// NewScreen returns a screen on a terminal, and nil when out is none.
func NewScreen(out io.Writer) *Screen {
	f, ok := out.(*os.File)
	if !ok || !IsTerminal(out) {
		return nil
	}
	return &Screen{out: out, Size: func() (int, int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || columns < 1 || rows < 1 {
			return 80, 24
		}
		return columns, rows
	}}
}

// Room returns the columns that a live line has, and how many there should be: the rest of the screen is for what is
// printed above them.
func (s *Screen) Room() (columns, lines int) {
	columns, rows := s.Size()
	return columns, max(1, min(rows-1, max(5, rows*2/3)))
}

// Draw prints lines above the live ones, which it replaces. Live lines are shortened to the terminal's width; those
// that do not fit its height are left out.
func (s *Screen) Draw(printed, live []string) {
	width, rows := s.Size()
	var b bytes.Buffer
	up := 0
	for _, w := range s.drawn { // a terminal that has become narrower has broken them
		up += 1 + max(0, w-1)/width
	}
	if up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", min(up, rows-1))
	}
	b.WriteString("\r\x1b[J")
	for _, line := range printed {
		b.WriteString(Clip(line, 1<<20))
		b.WriteByte('\n')
	}
	s.drawn = s.drawn[:0]
	for _, line := range live[:min(len(live), rows-1)] {
		line = strings.TrimRight(Clip(line, width-1), " ")
		b.WriteString(line)
		b.WriteByte('\n')
		s.drawn = append(s.drawn, Columns(line))
	}
	// Nothing can be done about a terminal that is gone; what it showed was for a person.
	_, _ = s.out.Write(b.Bytes())
}
