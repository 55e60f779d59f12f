package view

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Screen keeps live lines at the bottom of a terminal, below the printed lines. It uses only the sequences cursor up
// and clear to end of screen, which every terminal supports. Live lines are fitted to the current height and width of
// the terminal, including characters two columns wide.
type Screen struct {
	out   io.Writer
	Size  func() (columns, rows int)
	drawn []int // width in columns of each live line
}

// NewScreen returns a screen if out is a terminal, otherwise nil.
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

// Width returns the number of columns of a terminal, or of other outputs a very large number.
func Width(out io.Writer) int {
	if s := NewScreen(out); s != nil {
		width, _ := s.Size()
		return width
	}
	return 1 << 20
}

// Room returns the width of live lines and their maximum number. The rest of the screen is for the lines printed above.
func (s *Screen) Room() (columns, lines int) {
	columns, rows := s.Size()
	return columns, max(1, min(rows-1, max(5, rows*2/3)))
}

// Draw prints lines above the live lines, which it replaces. It shortens live lines to the terminal's width and omits
// those that exceed its height.
func (s *Screen) Draw(printed, live []string) {
	width, rows := s.Size()
	var b bytes.Buffer
	up := 0
	for _, w := range s.drawn { // a terminal made narrower has wrapped them
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
	// If the terminal is gone, ignore the error: the output was for a person.
	_, _ = s.out.Write(b.Bytes())
}
