package view

import (
	"context"
	"fmt"
	"io"
	"time"

	"nightdesk/topicqueue"
)

// RunScreen shows the progress of a run as lines, and as a live line on a terminal.
type RunScreen struct {
	*Status
	stamp bool // lines begin with the time of day rather than the program's name
	view  *runView
	run   topicqueue.Run
}

// NewRunScreen returns a screen for one run. For detail, see runView.
func NewRunScreen(out io.Writer, run topicqueue.Run, detail bool) *RunScreen {
	return &RunScreen{Status: NewStatus(out), stamp: detail, view: newRunView(run.Options, detail), run: run}
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
	return s.Status.Show(lines, s.view.live(s.run, time.Now()))
}

// Along reports that the screen shows which step a model is working on.
func (s *RunScreen) Along() bool { return true }

func (s *RunScreen) begin(at time.Time) string {
	if s.stamp {
		return at.Local().Format("15:04:05  ")
	}
	return "nightdesk: "
}

func (s *RunScreen) Note(format string, args ...any) {
	_ = s.Status.Show([]string{s.begin(time.Now()) + fmt.Sprintf(format, args...)}, s.view.live(s.run, time.Now()))
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
