package intake

import (
	"fmt"
	"time"

	"nightdesk/cmd/nightdesk/view"
)

// DeadlineAt parses the time when a report is due: a time of day, which means its next occurrence in local time, a date
// and time in local time, or RFC 3339. It returns the zero time for "".
func DeadlineAt(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return checkDeadline(text, at, now)
	}
	if at, err := time.ParseInLocation("2006-01-02 15:04", text, now.Location()); err == nil {
		return checkDeadline(text, at, now)
	}
	at, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{},
			view.Usage(fmt.Errorf("deadline %q: give a time of day (07:00), a date and time (2026-03-01 07:00) or RFC 3339 "+
				"(2026-03-01T07:00:00Z)", text))
	}
	due := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, now.Location())
	if !due.After(now) {
		due = time.Date(now.Year(), now.Month(), now.Day()+1, at.Hour(), at.Minute(), 0, 0, now.Location())
	}
	return due, nil
}

func checkDeadline(text string, at, now time.Time) (time.Time, error) {
	if !at.After(now) {
		return time.Time{}, view.Usage(fmt.Errorf("deadline %q is over already", text))
	}
	return at, nil
}
