package view

import (
	"context"
	"fmt"
	"io"
	"time"

	"nightdesk/topicqueue"
)

// RunScreen shows the progress of a run, with live lines on a terminal and as plain lines elsewhere.
type RunScreen struct {
	out    io.Writer
	Screen *Screen // nil: no terminal
	stamp  bool    // lines begin with the time of day rather than the program's name
	view   *runView
	run    topicqueue.Run
}

// NewRunScreen returns a screen for one run. For detail, see runView.
func NewRunScreen(out io.Writer, run topicqueue.Run, detail bool) *RunScreen {
	return &RunScreen{out: out, Screen: NewScreen(out), stamp: detail, view: newRunView(run.Options, detail), run: run}
}

func (s *RunScreen) Show(_ context.Context, run topicqueue.Run, events []topicqueue.Event) error {
	s.run = run
	var lines []string
	for _, e := range events {
		told, err := s.view.take(e)
		if err != nil {
			return err
		}
		for _, line := range told {
			lines = append(lines, s.begin(e.Time)+line)
		}
	}
	return s.print(lines)
}

// Along reports whether the screen also shows model output while it is being written, which needs live lines.
func (s *RunScreen) Along() bool { return s.Screen != nil }

func (s *RunScreen) begin(at time.Time) string {
	if s.stamp {
		return at.Local().Format("15:04:05  ")
	}
	return "nightdesk: "
}

func (s *RunScreen) Note(format string, args ...any) {
	_ = s.print([]string{s.begin(time.Now()) + fmt.Sprintf(format, args...)})
}

// print prints lines, and on a terminal redraws the live lines below them.
func (s *RunScreen) print(lines []string) error {
	if s.Screen != nil {
		columns, rows := s.Screen.Room()
		s.Screen.Draw(lines, s.view.live(s.run, time.Now(), columns, rows))
		return nil
	}
	return PrintLines(s.out, lines)
}

// End removes the live lines.
func (s *RunScreen) End() {
	if s.Screen != nil {
		s.Screen.Draw(nil, nil)
	}
}

// PrintLines prints lines of untrusted text to a writer that may be a terminal.
func PrintLines(out io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, Clip(line, 1<<20)); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	return nil
}
