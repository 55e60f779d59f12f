package view

import (
	"strings"

	"nightdesk/topicqueue"
)

// Told is an event with the lines that describe it.
type Told struct {
	topicqueue.Event
	Lines []string
}

// Tell describes the events of a run in full detail. Events without meaning for a person have no lines.
func Tell(options topicqueue.Options, events []topicqueue.Event) ([]Told, error) {
	v := newRunView(options, true)
	out := make([]Told, 0, len(events))
	for _, e := range events {
		said, err := v.take(e)
		if err != nil {
			return nil, err
		}
		told := Told{Event: e}
		for _, line := range said {
			told.Lines = append(told.Lines, strings.TrimSpace(line))
		}
		out = append(out, told)
	}
	return out, nil
}
