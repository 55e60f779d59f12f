package main

import (
	"fmt"
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// bar shows how far a piece of work is: a bar on a terminal, elsewhere a plain line per tenth, if that takes a while.
type bar struct {
	name  string
	out   io.Writer
	mpb   *mpb.Progress
	bar   *mpb.Bar
	doing string
	tenth int
	line  time.Time // of the last plain line, at first the start
}

// linePause is the least time between two plain lines.
const linePause = time.Second

func (a *app) newBar(name string) *bar {
	b := &bar{name: name, out: a.stderr, line: time.Now()}
	if isTerminal(a.stderr) {
		b.mpb = mpb.New(mpb.WithOutput(a.stderr), mpb.WithWidth(30), mpb.WithRefreshRate(100*time.Millisecond))
		b.bar = b.mpb.AddBar(0,
			mpb.PrependDecorators(decor.Name(name, decor.WCSyncSpaceR), decor.CountersNoUnit("%d/%d", decor.WCSyncSpace)),
			mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return clipLine(b.doing, 60) })))
	}
	return b
}

// set says that done of total are done and what is being done now.
func (b *bar) set(done, total int, doing string) {
	if b.bar != nil {
		b.doing = doing
		b.bar.SetTotal(int64(total), false)
		b.bar.SetCurrent(int64(done))
		return
	}
	if total > 0 && done*10/total > b.tenth && time.Since(b.line) >= linePause {
		b.tenth, b.line = done*10/total, time.Now()
		fmt.Fprintf(b.out, "nightdesk: %s: %d of %d\n", b.name, done, total)
	}
}

// end leaves the last state standing.
func (b *bar) end() {
	if b.bar != nil {
		b.doing = ""
		b.bar.SetTotal(-1, true)
		b.mpb.Wait()
	}
}

// clipLine shortens a text to at most n characters on one line.
func clipLine(s string, n int) string {
	r := []rune(s)
	for i, c := range r {
		if c < ' ' {
			r[i] = ' '
		}
	}
	if len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return string(r)
}
