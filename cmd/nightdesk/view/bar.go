package view

import (
	"fmt"
	"io"
	"time"
)

// Bar shows the progress of a task: a bar on a terminal, otherwise a plain line per tenth of a slow task.
type Bar struct {
	name   string
	status *Status
	last   string
	tenth  int
	shown  time.Time // initially the start time
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
	return &Bar{name: name, status: NewStatus(out), shown: time.Now()}
}

// Set records that done of total items are done, and which item is being processed.
func (b *Bar) Set(done, total int, doing string) {
	pause := linePause
	if b.status.Live {
		b.last = fmt.Sprintf("%s %*d/%d %s", b.name, len(fmt.Sprint(total)), done, total, DrawBar(done, total, 30))
		pause = drawPause
	}
	if total == 0 || time.Since(b.shown) < pause {
		return
	}
	if b.status.Live {
		b.shown = time.Now()
		_ = b.status.Show(nil, b.last+" "+doing)
	} else if tenth := done * 10 / total; tenth > b.tenth {
		b.tenth, b.shown = tenth, time.Now()
		_ = b.status.Show([]string{fmt.Sprintf("nightdesk: %s: %d of %d", b.name, done, total)}, "")
	}
}

// End leaves the final state of the bar on the screen.
func (b *Bar) End() {
	if b.last != "" {
		_ = b.status.Show([]string{b.last}, "")
		b.last = ""
	}
}
