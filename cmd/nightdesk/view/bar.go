package view

import (
	"fmt"
	"io"
	"time"
)

// Bar shows how far a piece of work is: a bar on a terminal, elsewhere a plain line per tenth, if that takes a while.
type Bar struct {
	name   string
	out    io.Writer
	screen *Screen // nil: no terminal
	last   []string
	tenth  int
	line   time.Time // of the last plain line or drawing, at first the start
}

const (
	linePause = time.Second            // the least time between two plain lines
	drawPause = 100 * time.Millisecond // and between two drawings
)

func NewBar(out io.Writer, name string) *Bar {
	return &Bar{name: name, out: out, screen: NewScreen(out), line: time.Now()}
}

// Set says that done of total are done and what is being done now.
func (b *Bar) Set(done, total int, doing string) {
	if b.screen != nil {
		counts := fmt.Sprintf("%s %*d/%d ", b.name, len(fmt.Sprint(total)), done, total)
		b.last = []string{counts + drawBar(done, total, 30)}
		if time.Since(b.line) >= drawPause {
			b.line = time.Now()
			b.screen.Draw(nil, []string{b.last[0] + " " + doing})
		}
		return
	}
	if total > 0 && done*10/total > b.tenth && time.Since(b.line) >= linePause {
		b.tenth, b.line = done*10/total, time.Now()
		fmt.Fprintf(b.out, "nightdesk: %s: %d of %d\n", b.name, done, total)
	}
}

// End leaves the last state standing.
func (b *Bar) End() {
	if b.screen != nil && b.last != nil {
		b.screen.Draw(b.last, nil)
		b.last = nil
	}
}
