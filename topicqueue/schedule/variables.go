package schedule

import (
	"fmt"
	"time"
)

// variables are the variables of a topic for its due time, in the order of the documentation.
var variables = []struct {
	name string
	of   func(due time.Time) string
}{
	{"date", func(t time.Time) string { return t.Format(time.DateOnly) }},
	{"yesterday", func(t time.Time) string { return t.AddDate(0, 0, -1).Format(time.DateOnly) }},
	{"tomorrow", func(t time.Time) string { return t.AddDate(0, 0, 1).Format(time.DateOnly) }},
	{"weekday", func(t time.Time) string { return t.Weekday().String() }},
	{"week", func(t time.Time) string { year, week := t.ISOWeek(); return fmt.Sprintf("%d-W%02d", year, week) }},
	{"month", func(t time.Time) string { return t.Format("2006-01") }},
	{"quarter", func(t time.Time) string { return fmt.Sprintf("%d-Q%d", t.Year(), (t.Month()+2)/3) }},
	{"year", func(t time.Time) string { return t.Format("2006") }},
	{"time", func(t time.Time) string { return t.Format("15:04") }},
}

// Variables returns the names of the topic variables, each in braces.
func Variables() []string {
	var names []string
	for _, v := range variables {
		names = append(names, "{"+v.name+"}")
	}
	return names
}

// Values returns the values of the variables at a due time, by name: "date" is the day, 2026-03-29. due is in the
// schedule's zone.
func Values(due time.Time) map[string]string {
	values := map[string]string{}
	for _, v := range variables {
		values[v.name] = v.of(due)
	}
	return values
}
