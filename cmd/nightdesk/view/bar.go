package view

import (
	"fmt"
	"io"
	"time"
)

// Bar shows the progress of a task: a bar on a terminal, otherwise a plain line per tenth of a slow task.
type Bar struct {
	name   string
	out    io.Writer
	screen *Screen // nil: no terminal
	last   []string
	tenth  int
	line   time.Time // time of the last plain line or drawing; initially the start time
}

const (
	linePause = time.Second            // minimum time between plain lines
	drawPause = 100 * time.Millisecond // minimum time between drawings
)

// NewBar returns a bar for the messages of a console. A service shows none.
func NewBar(con *Console, name string) *Bar {
	out := con.Err
	if con.Service != "" {
		out = io.Discard
	}
	return &Bar{name: name, out: out, screen: NewScreen(out), line: time.Now()}
}

// Set records that done of total items are done, and which item is being processed.
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

// End leaves the final state of the bar on the screen.
func (b *Bar) End() {
	if b.screen != nil && b.last != nil {
		b.screen.Draw(b.last, nil)
		b.last = nil
	}
}
