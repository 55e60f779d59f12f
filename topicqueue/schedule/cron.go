package schedule

import (
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // small images have no time zone data

	"github.com/robfig/cron/v3"
)

// Cron computes the due times of a schedule. The zero value has none.
type Cron struct {
	zone  *time.Location
	spec  *cron.SpecSchedule // in wall clock time, represented as UTC, unless it is hourly
	text  string             // of spec
	every time.Duration      // used instead of spec
}

// leastEvery is the shortest interval of @every.
const leastEvery = time.Minute

// ParseCron parses five fields (minute, hour, day of month, month, day of week; 0 and 7 are Sunday), one of the
// macros @hourly, @daily (or @midnight), @weekly, @monthly, @yearly (or @annually), or @every with a duration of at
// least a minute, counted from one due time to the next. zone is a name of the IANA database, such as Europe/Berlin;
// empty: UTC.
func ParseCron(spec, zone string) (Cron, error) {
	location, err := loadZone(zone)
	if err != nil {
		return Cron{}, err
	}
	c := Cron{zone: location}
	spec = strings.TrimSpace(spec)
	if text, ok := strings.CutPrefix(spec, "@every "); ok {
		c.every, err = time.ParseDuration(strings.TrimSpace(text))
		if err != nil || c.every < leastEvery || c.every%time.Second != 0 {
			return Cron{}, fmt.Errorf("cron expression %q: @every takes a duration of whole seconds, a minute or more, such "+
				"as @every 6h", spec)
		}
		return c, nil
	}
	if strings.Contains(spec, "=") {
		return Cron{}, fmt.Errorf("cron expression %q: set the time zone with the separate setting", spec)
	}
	// The parser's errors repeat text that it does not understand.
	if len(spec) > maxSpec || strings.ContainsFunc(spec, func(r rune) bool {
		return !strings.ContainsRune(cronSigns, r)
	}) {
		return Cron{}, fmt.Errorf("cron expression %q: use letters, digits and * / , - ? @ only",
			spec[:min(len(spec), maxSpec)])
	}
	fields := strings.Fields(spec)
	if len(fields) == 5 {
		fields[4] = sundays(fields[4])
	}
	c.text = strings.Join(fields, " ")
	parsed, err := cron.ParseStandard(c.text)
	if err != nil {
		return Cron{}, fmt.Errorf("cron expression %q: %w; give minute, hour, day of month, month and day of week, such "+
			"as 0 1 * * 1-5", spec, err)
	}
	var ok bool
	if c.spec, ok = parsed.(*cron.SpecSchedule); !ok {
		return Cron{}, fmt.Errorf("cron expression %q is not known", spec)
	}
	if c.spec.Location = time.UTC; c.hourly() {
		c.spec.Location = c.zone
	}
	if c.spec.Next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Cron{}, fmt.Errorf("cron expression %q: it never fires, because there is no such day", spec)
	}
	return c, nil
}

const (
	maxSpec   = 200 // bytes
	cronSigns = " \t*/,-?@0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func loadZone(name string) (*time.Location, error) {
	if name == "" {
		return time.UTC, nil
	}
	location, err := time.LoadLocation(name)
	if err != nil || name == "Local" { // differs on every machine
		return nil, fmt.Errorf("time zone %q is not known: use a name of the IANA database, such as Europe/Berlin or UTC",
			name)
	}
	return location, nil
}

// sundays replaces 7, which the parser does not know, with 0 in a day-of-week field.
func sundays(field string) string {
	parts := strings.Split(field, ",")
	for i, part := range parts {
		if part == "7" {
			parts[i] = "0"
		} else if first, ok := strings.CutSuffix(part, "-7"); ok {
			parts[i] = first + "-6,0"
		}
	}
	return strings.Join(parts, ",")
}

// Zone returns the time zone, never nil.
func (c Cron) Zone() *time.Location {
	if c.zone == nil {
		return time.UTC
	}
	return c.zone
}

// hourly reports whether the schedule names no hours, so that every elapsed hour counts, including a repeated one.
func (c Cron) hourly() bool {
	const allHours = 1<<24 - 1
	return c.spec.Hour&allHours == allHours
}

// Next returns the first due time after a time, in the schedule's zone; the zero time if there is none.
//
// At clock changes, a schedule with hours fires once for each time that it names: at the first of two times called
// 02:30, and if 02:30 does not exist, at the end of the gap. A schedule without hours fires in every elapsed hour.
func (c Cron) Next(after time.Time) time.Time {
	after = after.In(c.Zone())
	switch {
	case c.every > 0:
		return after.Truncate(time.Second).Add(c.every)
	case c.spec == nil:
		return time.Time{}
	case c.hourly():
		return c.spec.Next(after)
	}
	for at := c.spec.Next(wallOf(after)); !at.IsZero(); at = c.spec.Next(at) {
		if due := c.instant(at); due.After(after) {
			return due
		}
	}
	return time.Time{}
}

// wallOf returns the wall clock time at t, represented as UTC.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// instant returns when clocks of the zone first show wall, or the end of the gap that contains it.
func (c Cron) instant(wall time.Time) time.Time {
	near := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, c.zone)
	start, end := near.ZoneBounds()
	switch shown := wallOf(near); {
	case shown.After(wall):
		return start
	case shown.Before(wall):
		return end
	}
	if !start.IsZero() { // the time may be one of two, before and after start
		_, offset := start.Add(-1).Zone()
		first := wall.Add(-time.Duration(offset) * time.Second).In(c.zone)
		if first.Before(near) && wallOf(first).Equal(wall) {
			return first
		}
	}
	return near
}

// PlainCron returns a cron expression with its zone for programs that show schedules and do not know @every. Its first
// due time after the given time is the same, except at clock changes.
func (s Spec) PlainCron(after time.Time) string {
	c, err := ParseCron(s.Cron, s.Zone)
	if err != nil {
		return ""
	}
	zone := "CRON_TZ=" + c.Zone().String() + " "
	if c.every == 0 {
		return zone + c.text
	}
	next := c.Next(after)
	return zone + fmt.Sprintf("%d %d %d %d *", next.Minute(), next.Hour(), next.Day(), int(next.Month()))
}
