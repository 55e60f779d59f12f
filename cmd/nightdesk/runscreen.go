package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"nightdesk/topicqueue"
)

// runScreen shows a run as it goes: on a terminal with live lines, elsewhere as plain lines.
type runScreen struct {
	out    io.Writer
	screen *screen // nil: no terminal
	stamp  bool    // lines begin with the time of day, else with the program's name
	view   *runView
	run    topicqueue.Run
}

// newRunScreen returns a screen for one run. detail: see runView.
func newRunScreen(out io.Writer, run topicqueue.Run, detail bool) *runScreen {
	return &runScreen{out: out, screen: newScreen(out), stamp: detail, view: newRunView(run.Options, detail), run: run}
}

func (s *runScreen) show(_ context.Context, run topicqueue.Run, events []topicqueue.Event) error {
	s.run = run
	var lines []string
	for _, e := range events {
		told, err := s.view.take(e)
		if err != nil {
			return err
		}
		for _, line := range told {
			text := s.begin(e.Time) + line.text
			if line.detail && s.screen != nil {
				columns, _ := s.screen.size()
				text = clipColumns(text, columns)
			}
			lines = append(lines, text)
		}
	}
	return s.print(lines)
}

func (s *runScreen) begin(at time.Time) string {
	if s.stamp {
		return at.Local().Format("15:04:05  ")
	}
	return "nightdesk: "
}

func (s *runScreen) note(format string, args ...any) {
	_ = s.print([]string{s.begin(time.Now()) + fmt.Sprintf(format, args...)})
}

// print prints lines and shows where the run stands below them.
func (s *runScreen) print(lines []string) error {
	if s.screen != nil {
		columns, rows := s.screen.room()
		s.screen.draw(lines, s.view.live(s.run, time.Now(), columns, rows))
		return nil
	}
	return printPlain(s.out, lines)
}

// end takes the live lines away.
func (s *runScreen) end() {
	if s.screen != nil {
		s.screen.draw(nil, nil)
	}
}

// printPlain prints lines of foreign text to what may be a terminal after all.
func printPlain(out io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(out, clipColumns(line, 1<<20)); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	return nil
}
